package expr

import (
	"encoding/json"
	"regexp"
	"slices"
)

// An op is the operation of a node.
type op uint8

const (
	opLiteral op = iota
	opPath
	opNot
	opAnd
	opOr
	opCompare
	opAlternative // a // b
	opPipe        // the last stage is the right side
	opCall
	opJQ // a program in jq
)

// A node is a part of a parsed expression.
type node struct {
	op       op
	from, to int     // the place in the source, without parentheses around the node
	grouped  bool    // the node stands in parentheses
	kids     []*node // operands; the arguments of a function

	literal value          // opLiteral
	path    *path          // opPath
	name    string         // opCall
	sign    string         // opCompare
	ofDot   bool           // opCompare: the left side is an unwritten dot
	pattern *regexp.Regexp // opCompare
	program *program       // opJQ
}

// dotNode returns an unwritten dot with some steps, at an offset.
func dotNode(at int, steps ...step) *node {
	return &node{op: opPath, from: at, to: at, path: &path{from: at, to: at, steps: steps}}
}

// text returns the source of a node without parentheses around the node.
func (n *node) text(src string) string { return src[n.from:n.to] }

// opposites are the operators that compare, each with its negation.
var opposites = map[string]string{
	"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">", "=~": "!~", "!~": "=~",
	"in": "not in", "contains": "not contains", "startswith": "not startswith", "endswith": "not endswith",
}

// Bare functions follow a pipe and have no arguments. Called functions have arguments. Test functions are called
// functions that test ".". Comparing functions are test functions that compare ".".
const (
	quantifiers        = " any all count "
	comparingFunctions = " test startswith endswith contains IN "
	testFunctions      = comparingFunctions + "has "
	calledFunctions    = testFunctions + "any all count exists "
	bareFunctions      = " length type not tostring tonumber ascii_downcase ascii_upcase fromjson any all "

	// reserved are the words that cannot begin a bare path.
	reserved = bareFunctions + " true false null and or in contains startswith endswith "
)

// isFunction reports whether a node is a function of one value, "." or the value before a pipe.
func (n *node) isFunction() bool {
	return n.op == opCall && n.name != "exists" && !isOneOf(n.name, quantifiers)
}

// requires returns the only texts that the value of a path may be if the node is true. See [Expr.Requires].
func (n *node) requires(path, src string) (texts []string) {
	switch {
	case n.op == opAnd:
		for i := 0; i < len(n.kids) && texts == nil; i++ {
			texts = n.kids[i].requires(path, src)
		}
	case n.op != opCompare || n.kids[0].op != opPath || n.kids[1].op != opLiteral || n.kids[0].text(src) != path:
	case n.sign == "==" && n.kids[1].literal.kind == kindString:
		texts = []string{n.kids[1].literal.str}
	case n.sign == "in":
		err := json.Unmarshal([]byte(n.kids[1].literal.raw), &texts)
		if err != nil || slices.Contains(texts, "") { // the list holds something else, or a null
			texts = nil
		}
	}
	return texts
}
