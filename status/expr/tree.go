package expr

import (
	"encoding/json"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
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

// apart rejects two comparisons of a value with different constants, if at least one comparison always holds, or if
// both comparisons never hold together.
func (p *parser) apart(op op, a, b *node) {
	sign := "=="
	if op == opOr {
		sign = "!="
	}
	isSame := a.op == opCompare && b.op == opCompare && a.sign == sign && b.sign == sign
	if !isSame || a.kids[0].text(p.src) != b.kids[0].text(p.src) || a.kids[1].op != opLiteral || b.kids[1].op != opLiteral {
		return
	}
	x, y := a.kids[1], b.kids[1]
	text := sign + " " + a.kids[0].text(p.src) + " in [" + x.text(p.src) + ", " + y.text(p.src) + "]"
	p.rejectIf(x.literal.json() != y.literal.json(), "apart", text, a.from)
}

// checkComparison checks a comparison whose right side stands at an offset, and compiles its pattern.
func (p *parser) checkComparison(n *node, at int) {
	right := n.kids[1]
	isText := right.op == opLiteral && right.literal.kind == kindString
	switch n.sign {
	case "=~", "!~":
		p.rejectIf(!isText, "operand", n.sign, at)
		n.pattern = p.compile(right.literal, at)
	case "in":
		p.rejectIf(right.op == opLiteral && right.literal.kind != kindArray, "operand", "in", at)
	case "contains", "startswith", "endswith":
		p.rejectIf(isText && right.literal.str == "", "empty", "", at)
	}
}

// compile compiles a pattern that stands at an offset.
func (p *parser) compile(pattern value, at int) *regexp.Regexp {
	re, err := regexp.Compile(pattern.str)
	switch {
	case err != nil && pattern.hidden: // the error holds parts of the value
		p.reject("malformed", "the value of "+p.src[at:p.end], at)
	case err != nil:
		p.check("pattern", pattern.str, at)
		p.reject("malformed", strings.TrimPrefix(err.Error(), "error parsing regexp: "), at)
	}
	tree, _ := syntax.Parse(pattern.str, syntax.Perl)
	spelled := tree.String()
	p.rejectIf(spelled == "()" || strings.Contains(spelled, "(?:)"), "empty", "branch", at)
	return re
}

// condition checks that a node can be false. A list, a count or a constant is always true, and would end a
// wait by accident. But a plain true is deliberate.
func (p *parser) condition(n *node) {
	source := n.text(p.src)
	switch {
	case n.op == opLiteral && n.literal.kind > kindBool:
		if !n.literal.hidden {
			p.check("quoted", n.literal.str, n.from)
		}
		p.reject("constant", source, n.from)
	case n.op == opPath && n.path.isList():
		p.reject("list", source, n.from)
	case n.op == opPath, n.op == opCall && n.name == "count":
		p.check("number", source, n.from)
	case n.op == opPipe:
		p.condition(n.kids[1])
	case n.op == opAlternative:
		p.condition(n.kids[0])
		p.condition(n.kids[1])
	}
}
