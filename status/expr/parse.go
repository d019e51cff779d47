package expr

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSource is the longest expression, in bytes. It bounds how deep its parts nest, too.
const maxSource = 16 << 10

// An op is what a node does.
type op uint8

const (
	opLiteral op = iota
	opPath
	opVariable
	opNot
	opAnd
	opOr
	opCompare
	opAlternative // a // b
	opPipe        // the last stage is the right side
	opCall
)

// A node is a part of a parsed expression.
type node struct {
	op       op
	from, to int     // where it stands in the source, without parentheses around it
	grouped  bool    // it stands in parentheses
	kids     []*node // operands; of a function its arguments

	literal value          // opLiteral
	path    *path          // opPath
	name    string         // opVariable, opCall
	field   string         // opVariable: of $header
	sign    string         // opCompare
	ofDot   bool           // opCompare: its left side is an unwritten dot
	pattern *regexp.Regexp // opCompare, opCall
}

// text is the source of a node without parentheses around it.
func (n *node) text(src string) string { return src[n.from:n.to] }

// A parser is a recursive descent over the grammar in the package comment. It ends with a
// panic of the first *Error.
type parser struct {
	src     string
	pos     int // of the next token
	end     int // of the last one
	environ func(name string) (value string, ok bool)

	piped bool     // on the right side of a pipe, where bare functions may stand
	inner bool     // where "." is not the document: there, or in any(...)
	list  bool     // .. alone is the list of the documents
	reads []string // see Expr.Reads
}

// note adds one of the names that Expr.Reads knows. $output is both outputs.
func (p *parser) note(what string) {
	if what == "output" {
		p.note("stdout")
		p.note("stderr")
	}
	if !slices.Contains(p.reads, what) {
		p.reads = append(p.reads, what)
	}
}

// begin checks the length of the source, and goes to the first token.
func (p *parser) begin() {
	if len(p.src) > maxSource {
		p.fail(0, "", "the expression is longer than %d KiB", maxSource>>10)
	}
	if p.skip(); p.pos == len(p.src) {
		p.fail(0, `write one such as .state == "done", or .items for the path of a list`, "the expression is empty")
	}
}

// fail ends the parsing.
func (p *parser) fail(at int, hint, format string, args ...any) {
	at = min(max(at, 0), len(p.src))
	panic(&Error{
		Source: p.src, Offset: at, Column: utf8.RuneCountInString(p.src[:at]) + 1,
		Message: fmt.Sprintf(format, args...), Hint: hint,
	})
}

// at is the byte at offset i, 0 past the end.
func (p *parser) at(i int) byte {
	if i < len(p.src) {
		return p.src[i]
	}
	return 0
}

// take ends a token at an offset, and goes to the next one.
func (p *parser) take(end int) {
	p.pos, p.end = end, end
	p.skip()
}

// skip goes on after white space.
func (p *parser) skip() { p.pos = p.space(p.pos) }

// space is the offset after white space.
func (p *parser) space(i int) int {
	return len(p.src) - len(strings.TrimLeft(p.src[min(i, len(p.src)):], " \t\r\n"))
}

// word is the run of letters and digits at offset i.
func (p *parser) word(i int) string {
	rest := p.src[min(i, len(p.src)):]
	return rest[:len(rest)-len(strings.TrimLeftFunc(rest, isWord))]
}

// isWord reports whether a character can be part of a word.
func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// operatorAt is the operator at offset i, and its spelling in the source; "" if there is none.
// Words count as operators, as they do behind an operand.
func (p *parser) operatorAt(i int) (sign, source string) {
	switch word := p.word(i); {
	case word == "and":
		return "&&", word
	case word == "or":
		return "||", word
	case isOneOf(word, comparingWords):
		return word, word
	}
	sign = operator().FindString(p.src[i:])
	if next := p.at(i + len(sign)); sign != "" && strings.IndexByte("=<>", next) >= 0 && !strings.Contains("();,", sign) {
		p.refuse("sign", p.src[i:], i)
	}
	return sign, sign
}

// accept skips an operator if it is next.
func (p *parser) accept(operator string) bool {
	sign, source := p.operatorAt(p.pos)
	if sign != operator {
		return false
	}
	p.take(p.pos + len(source))
	return true
}

// node makes a node that ends with the last token.
func (p *parser) node(op op, from int, kids ...*node) *node {
	return &node{op: op, from: from, to: max(from, p.end), kids: kids}
}

func (p *parser) pipe() *node {
	from, piped, inner := p.pos, p.piped, p.inner
	n := p.alternative()
	for p.accept("|") {
		p.piped, p.inner = true, true
		right := p.alternative()
		if right.ofDot {
			right.kids[0], right.from, right.ofDot, n = n, from, false, right
		} else {
			n = p.node(opPipe, from, n, right)
		}
	}
	p.piped, p.inner = piped, inner
	return n
}

func (p *parser) alternative() *node {
	from := p.pos
	left := p.chain(opOr, "||", p.and)
	at := p.pos
	if !p.accept("//") {
		return left
	}
	right := p.alternative()
	for _, n := range []*node{left, right} {
		if !n.grouped && !n.ofDot && slices.Contains([]op{opNot, opAnd, opOr, opCompare}, n.op) {
			p.fail(at, "put the condition, or the //, in parentheses", "// beside a condition needs parentheses")
		}
	}
	return p.node(opAlternative, from, left, right)
}

func (p *parser) and() *node { return p.chain(opAnd, "&&", p.not) }

// chain parses operands that are joined by one operator of logic.
func (p *parser) chain(op op, sign string, operand func() *node) *node {
	from := p.pos
	kids := []*node{operand()}
	for p.accept(sign) {
		kids = append(kids, operand())
	}
	if len(kids) == 1 {
		return kids[0]
	}
	for i, kid := range kids {
		p.condition(kid)
		if i > 0 {
			p.apart(op, kids[i-1], kid)
		}
	}
	return p.node(op, from, kids...)
}

// apart refuses two comparisons of a value with two constants, of which one always holds, or that never both hold.
func (p *parser) apart(op op, a, b *node) {
	sign := map[bool]string{true: "!=", false: "=="}[op == opOr]
	isSame := a.op == opCompare && b.op == opCompare && a.sign == sign && b.sign == sign &&
		a.kids[0].text(p.src) == b.kids[0].text(p.src)
	if !isSame || a.kids[1].op != opLiteral || b.kids[1].op != opLiteral || a.kids[1].literal.json() == b.kids[1].literal.json() {
		return
	}
	value := a.kids[0].text(p.src)
	list := fmt.Sprintf("%s in [%s, %s]", value, a.kids[1].text(p.src), b.kids[1].text(p.src))
	if op == opOr {
		p.fail(a.from, "write not ("+list+")", "this is always true: %s is never both", value)
	}
	p.fail(a.from, "write "+list, "this is never true: %s is never both", value)
}

func (p *parser) not() *node {
	from := p.pos
	isBang := p.at(from) == '!' && p.at(from+1) != '=' && p.at(from+1) != '~'
	isNot := p.word(from) == "not" && p.at(from+3) != '.' && !p.isFunctionNot()
	if !isBang && !isNot {
		return p.comparison()
	}
	operand := p.not
	if isNot {
		p.take(from + len("not"))
	} else if p.take(from + 1); p.at(p.pos) != '!' {
		operand = p.operand
	}
	x := operand()
	if sign, _ := p.operatorAt(p.pos); isBang && opposite(sign) != "" {
		p.fail(from, "write !(... "+sign+" ...), or (!...) "+sign+" ...", "! before a comparison is ambiguous")
	}
	p.condition(x)
	return p.node(opNot, from, x)
}

// isFunctionNot distinguishes the function not, as in ".done | not", from the operator.
func (p *parser) isFunctionNot() bool {
	next := p.space(p.pos + len("not"))
	sign, _ := p.operatorAt(next)
	return p.piped && (next == len(p.src) || sign != "" && sign != "(" && sign != "!")
}

func (p *parser) comparison() *node {
	from := p.pos
	left := p.operand()
	sign, source := p.operatorAt(p.pos)
	if opposite(sign) == "" {
		return left
	}
	p.take(p.pos + len(source))
	start := p.pos
	if p.startsBarePath(start) {
		p.refuse("right", p.src[start:p.path().to], start)
	}
	right := p.operand()
	n := p.node(opCompare, from, left, right)
	n.sign = sign
	isText := right.op == opLiteral && right.literal.kind == kindString
	switch {
	case sign == "=~" || sign == "!~":
		if !isText {
			p.fail(start, `such as =~ "^v2"`, "%s needs a pattern in quotes", sign)
		}
		n.pattern = p.compile(right.literal, start)
	case sign == "in" && right.op == opLiteral && right.literal.kind != kindArray:
		p.fail(start, `write in ["a", "b"], or contains for a part of a text`, "in needs a list")
	case (sign == "contains" || strings.HasSuffix(sign, "with")) && isText && right.literal.str == "":
		p.refuse("empty", "", start)
	}
	if sign, _ := p.operatorAt(p.pos); opposite(sign) != "" {
		p.fail(p.pos, "join two comparisons with and: 1 < .a and .a < 5", "comparisons cannot be chained")
	}
	p.check("comparison", n.text(p.src), from)
	return n
}

// compile compiles a pattern that stands at an offset.
func (p *parser) compile(pattern value, at int) *regexp.Regexp {
	re, err := regexp.Compile(pattern.str)
	switch {
	case err != nil && pattern.hidden: // the error repeats parts of it
		p.fail(at, "", "the pattern is malformed: the value of %s", p.src[at:p.end])
	case err != nil:
		p.check("pattern", pattern.str, at)
		p.fail(at, "", "the pattern is malformed: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	tree, _ := syntax.Parse(pattern.str, syntax.Perl)
	spelled := tree.String()
	p.refuseIf(spelled == "()" || strings.Contains(spelled, "(?:)"), "empty", "branch", at)
	return re
}

// condition checks that n can be false. A list, a count or a constant cannot, and would
// end a wait by accident; but a plain true is deliberate.
func (p *parser) condition(n *node) {
	source := n.text(p.src)
	switch {
	case n.op == opLiteral && n.literal.kind > kindBool:
		if !n.literal.hidden {
			p.check("quoted", n.literal.str, n.from)
		}
		p.refuse("constant", source, n.from)
	case n.op == opPath && n.path.isList():
		p.refuse("list", source, n.from)
	case n.op == opVariable, n.op == opCall && n.name == "count":
		p.check("number", source, n.from)
	case n.op == opPipe:
		p.condition(n.kids[1])
	case n.op == opAlternative:
		p.condition(n.kids[0])
		p.condition(n.kids[1])
	}
}
