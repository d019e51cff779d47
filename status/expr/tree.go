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
	opAlternative // a // b, which is b if a is null, false or missing
	opPipe        // a | b, where the last stage of a pipe is b
	opCall
	opJQ // a jq program
)

// A node is a node of the syntax tree of an expression.
type node struct {
	op       op
	from, to int     // offsets in the source, without parentheses around the node
	grouped  bool    // the node is in parentheses
	kids     []*node // the operands, or the arguments of a function

	literal value          // opLiteral: the constant
	path    *path          // opPath: the path
	name    string         // opCall: the name of the function
	sign    string         // opCompare: the operator
	ofDot   bool           // opCompare: the left side is a dot that is not in the source
	pattern *regexp.Regexp // opCompare: the compiled right side of =~ or !~
	program *program       // opJQ: the compiled program
}

// dotNode returns a node for a dot that is not in the source, followed by steps. at is the offset of the node.
func dotNode(at int, steps ...step) *node {
	return &node{op: opPath, from: at, to: at, path: &path{from: at, to: at, steps: steps}}
}

// text returns the source of n, without parentheses around it.
func (n *node) text(src string) string { return src[n.from:n.to] }

// negations maps each comparison operator to its negation.
var negations = map[string]string{
	"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">", "=~": "!~", "!~": "=~",
	"in": "not in", "contains": "not contains", "startswith": "not startswith", "endswith": "not endswith",
}

// The names of functions, each with a space on either side. A bare function follows a pipe and has no arguments. A
// called function has arguments. A test function is a called function that tests ".". A comparing function is a
// test function that compares "." with constants.
const (
	quantifiers        = " any all count "
	comparingFunctions = " test startswith endswith contains IN "
	testFunctions      = comparingFunctions + "has "
	calledFunctions    = testFunctions + "any all count exists "
	bareFunctions      = " length type not tostring tonumber ascii_downcase ascii_upcase fromjson any all "

	// reserved are the words that cannot be the first name in a path without a leading dot.
	reserved = bareFunctions + " true false null and or in contains startswith endswith "
)

// isFunction reports whether n is a function that is applied to ".", such as length.
func (n *node) isFunction() bool {
	return n.op == opCall && n.name != "exists" && !isOneOf(n.name, quantifiers)
}

// requires implements [Expr.Requires] for the condition n.
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
		if err != nil || slices.Contains(texts, "") { // the list contains a null, or a value that is not a string
			texts = nil
		}
	}
	return texts
}

// checkConstants rejects two conditions joined by the operator op if they compare the same value with different
// constants, and therefore always have the same outcome. For example, .x == 1 and .x == 2 is never true, and .x != 1
// or .x != 2 is always true.
func (p *parser) checkConstants(op op, a, b *node) {
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

// checkComparison rejects a comparison whose right side is unsuitable for the operator. at is the offset of the
// right side. If the right side is a pattern, checkComparison compiles it.
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

// compile compiles the regular expression in pattern. at is the offset of pattern in the source. compile rejects a
// malformed expression, and an expression that always matches because it is empty or has an empty branch.
func (p *parser) compile(pattern value, at int) *regexp.Regexp {
	re, err := regexp.Compile(pattern.str)
	switch {
	case err != nil && pattern.hidden: // the error would contain parts of the value
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

// checkCondition rejects a condition that can never be false. A list, a count or a constant would always be true,
// and would end a wait by accident. The constant true is accepted, since nobody writes it by accident.
func (p *parser) checkCondition(n *node) {
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
		p.checkCondition(n.kids[1])
	case n.op == opAlternative:
		p.checkCondition(n.kids[0])
		p.checkCondition(n.kids[1])
	}
}
