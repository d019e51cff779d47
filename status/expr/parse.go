package expr

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/pollcli/poll/internal/words"
)

// node returns a node with the given operation and kids. The node starts at offset from, and ends with the last
// token.
func (p *parser) node(op op, from int, kids ...*node) *node {
	return &node{op: op, from: from, to: max(from, p.end), kids: kids}
}

// pipe parses one or more alternatives that are joined by |.
func (p *parser) pipe() *node {
	from, piped, inner := p.pos, p.piped, p.inner
	n := p.alternative()
	for p.accept("|") {
		p.piped, p.inner = true, true
		right := p.alternative()
		switch {
		case right.ofDot:
			right.kids[0], right.from, right.ofDot, n = n, from, false, right
		case right.op == opCall && right.name == "not":
			n = p.node(opNot, from, n)
		default:
			n = p.node(opPipe, from, n, right)
		}
	}
	p.piped, p.inner = piped, inner
	return n
}

// alternative parses one or more conditions or values that are joined by //.
func (p *parser) alternative() *node {
	from := p.pos
	left := p.chain(opOr, "||", p.and)
	at := p.pos
	if !p.accept("//") {
		return left
	}
	right := p.alternative()
	for _, n := range []*node{left, right} {
		isCondition := n.op == opNot || n.op == opAnd || n.op == opOr || n.op == opCompare && !n.ofDot
		p.rejectIf(isCondition && !n.grouped, "grouping", "//", at)
	}
	return p.node(opAlternative, from, left, right)
}

// and parses one or more operands that are joined by "and" or &&.
func (p *parser) and() *node { return p.chain(opAnd, "&&", p.not) }

// chain parses one or more operands that are joined by a logical operator. The node of the result has the operation
// op. sign is the operator in the form that operatorAt returns. If there is only one operand, chain returns the
// operand itself.
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
		p.checkCondition(kid)
		if i > 0 {
			p.checkConstants(op, kids[i-1], kid)
		}
	}
	return p.node(op, from, kids...)
}

// not parses a negation, or a comparison without a negation.
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
	} else if p.take(from + len("!")); p.at(p.pos) != '!' {
		operand = p.operand
	}
	x := operand()
	sign, _ := p.operatorAt(p.pos)
	p.rejectIf(isBang && negations[sign] != "", "grouping", "! "+sign, from)
	p.checkCondition(x)
	return p.node(opNot, from, x)
}

// isFunctionNot reports whether the word "not" at the current position is a function, as in ".done | not", and not
// an operator, as in "not .done".
func (p *parser) isFunctionNot() bool {
	next := p.space(p.pos + len("not"))
	sign, _ := p.operatorAt(next)
	return p.piped && (next == len(p.src) || sign != "" && sign != "(" && sign != "!")
}

// comparison parses an operand, or two operands with a comparison operator between them.
func (p *parser) comparison() *node {
	from := p.pos
	left := p.operand()
	sign, source := p.operatorAt(p.pos)
	if negations[sign] == "" {
		return left
	}
	p.take(p.pos + len(source))
	start := p.pos
	if p.startsBarePath(start) {
		p.path()
		p.reject("right", p.src[start:p.pos], start)
	}
	n := p.node(opCompare, from, left, p.operand())
	n.sign = sign
	p.checkComparison(n, start)
	next, _ := p.operatorAt(p.pos)
	p.rejectIf(negations[next] != "", "operand", "chain", p.pos)
	p.check("comparison", n.text(p.src), from)
	return n
}

// startsBarePath reports whether a path without a leading dot, as in gjson, starts at offset i.
func (p *parser) startsBarePath(i int) bool {
	c, word := p.at(i), p.word(i)
	next := p.at(i + len(word))
	isPath := next == '.' || next == '[' || next == '#' || next == '*' || next == '\\' // true for a path such as true.x
	isName := p.startsName(i) && next != '(' && (isPath || !isOneOf(word, reserved))
	return isName || c != 0 && strings.IndexByte("#@*?", c) >= 0
}

// startsPath reports whether a path starts at offset i.
func (p *parser) startsPath(i int) bool {
	return p.at(i) == '.' || p.startsBarePath(i) || p.at(i) == '$' && isOneOf(p.word(i+1), documents)
}

// operand parses an operand: a literal, a path, a variable, a function, or an expression in parentheses.
func (p *parser) operand() *node {
	from, c := p.pos, p.at(p.pos)
	switch {
	case c == '(':
		p.take(from + 1)
		n := p.pipe()
		p.close(from)
		n.grouped = true
		return n
	case isQuote(c):
		return p.literal(from, text(p.quoted()))
	case c == '[' || c == '{':
		return p.json()
	case isDigit(c), c == '-' && isDigit(p.at(from+1)):
		return p.number()
	case strings.HasPrefix(p.src[from:], "$ENV") && p.word(from+1) == "ENV":
		p.pos += len("$ENV")
		v := text(p.lookUp(p.member(environName), from))
		v.hidden = true
		return p.literal(from, v)
	case c == '$' || p.startsPath(from):
		path := p.path()
		if i := nextEach(path.steps); i >= 0 {
			p.reject("operand", "[]", path.steps[i].from)
		}
		return p.pathNode(path)
	case p.startsName(from):
		return p.wordNode()
	}
	p.rejectIf(from == len(p.src), "missing", "", from)
	sign, source := p.operatorAt(from)
	p.rejectIf(sign != "", "missing", source, from)
	p.reject("sign", p.src[from:], from)
	return nil
}

// close reads the ")" that matches the "(" at offset open.
func (p *parser) close(open int) {
	if !p.accept(")") {
		p.rejectIf(p.pos == len(p.src), "open", "(", open)
		p.unexpected()
	}
}

// leaf sets the end of n to the current position, skips white space, and returns n.
func (p *parser) leaf(n *node) *node {
	n.to = p.pos
	p.take(p.pos)
	return n
}

// literal returns a node for the constant v. The node starts at offset from, and ends at the current position.
func (p *parser) literal(from int, v value) *node {
	return p.leaf(&node{op: opLiteral, from: from, literal: v})
}

// json parses a list or an object that is written as JSON.
func (p *parser) json() *node {
	from := p.pos
	decoder := json.NewDecoder(strings.NewReader(p.src[from:]))
	var raw json.RawMessage
	err := decoder.Decode(&raw)
	p.rejectIf(err != nil || isTooDeep(string(raw), maxDepth), "json", p.src[from:], from)
	p.pos += int(decoder.InputOffset())
	return p.literal(from, parseValue(string(raw)))
}

// quantity matches a number, including a unit of time that follows it.
var quantity = words.Pattern(`^-?\d(?:[eE][-+]\d|[\w.])*`)

// number parses a number, or a duration such as 5m. The value of a duration is its number of seconds.
func (p *parser) number() *node {
	from := p.pos
	source := p.match(quantity)
	raw := source
	if isOneOf(strings.TrimLeft(raw, "-.0123456789"), " ms s m h ") {
		if d, err := time.ParseDuration(raw); err == nil {
			raw = strconv.FormatFloat(d.Seconds(), 'g', -1, 64)
		}
	}
	p.rejectIf(!gjson.Valid(raw), "digit", source, from)
	return p.literal(from, number(raw))
}

// pathNode returns a node for path, which has just been parsed. It rejects a single name that is probably meant to
// be a function or a field.
func (p *parser) pathNode(path *path) *node {
	if path.bare && path.steps[0].kind == stepField && path.steps[0].pattern == "" && !path.steps[0].indexes {
		word := path.steps[0].key
		p.rejectIf(p.piped, "function", word, path.from)
		if len(path.steps) == 1 {
			p.check("field", word, path.from)
		}
	}
	p.addPathReads(path)
	return p.leaf(&node{op: opPath, from: path.from, path: path})
}

// wordNode parses true, false, null, or a function with or without arguments. A "(" starts arguments only if it
// follows the name without a space.
func (p *parser) wordNode() *node {
	from, word := p.pos, p.word(p.pos)
	p.pos += len(word)
	switch {
	case p.at(p.pos) == '(':
		p.rejectIf(!isOneOf(word, calledFunctions), "call", p.src[from:], from)
		return p.call(from, word)
	case isOneOf(word, " true false null "):
		return p.literal(from, parseValue(word))
	case !isOneOf(word, bareFunctions):
		p.reject("missing", word, from)
	case !p.piped:
		p.reject("bare", word, from)
	}
	n := p.leaf(&node{op: opCall, from: from, name: word})
	if isOneOf(word, quantifiers) {
		p.addReads("[]")
		n.kids = []*node{dotNode(from, step{kind: stepEach, from: from, to: from}), dotNode(from)}
	}
	return n
}

// call parses the arguments of the function called name. The name starts at offset from, and the current position is
// that of the "(".
func (p *parser) call(from int, name string) *node {
	n, piped, open := &node{op: opCall, from: from, name: name}, p.piped, p.pos
	p.take(open + 1)
	start := p.pos
	p.piped = false
	switch {
	case isOneOf(name, quantifiers):
		p.quantifier(n)
	case name == "exists":
		x := p.operand()
		p.rejectIf(x.op != opPath, "exists", x.text(p.src), start)
		p.rejectIf(x.path.isList(), "list", x.text(p.src), start)
		n.kids = []*node{x}
	default:
		p.addPathReads(new(path))
		for more := true; more; more = isOneOf(name, " test IN ") && (p.accept(",") || p.accept(";")) {
			n.kids = append(n.kids, p.argument(name))
		}
		if name != "has" {
			p.asComparison(n, start)
		}
	}
	p.close(open)
	n.to, p.piped = p.end, piped
	return n
}

// argument parses a constant argument of the test function called name.
func (p *parser) argument(name string) *node {
	at := p.pos
	p.rejectIf(p.at(at) == ')', "argument", name, at)
	x := p.operand()
	v := x.literal
	isIndex := v.kind == kindNumber && !strings.ContainsAny(v.raw, ".eE")
	fits := v.kind == kindString || name == "contains" || name == "IN" || name == "has" && isIndex
	p.rejectIf(x.op != opLiteral || !fits, "argument", name+" "+x.text(p.src), at)
	return x
}

// asComparison turns n, the call of a test function, into a comparison with ".": for example, test("x") becomes . =~
// "x". If the call follows a pipe, pipe later replaces the dot by the left side. start is the offset of the
// arguments.
func (p *parser) asComparison(n *node, start int) {
	with, last := *n.kids[0], n.kids[len(n.kids)-1]
	switch n.sign = n.name; n.name {
	case "test":
		n.sign = "=~"
		if flags := last.literal.str; len(n.kids) > 1 && flags == "i" {
			with.literal.str = "(?i)" + with.literal.str
		} else {
			p.rejectIf(len(n.kids) > 1 && flags != "", "flags", "", last.from)
		}
	case "IN":
		var list []string
		for _, kid := range n.kids {
			list = append(list, kid.literal.json())
			with.literal.hidden = with.literal.hidden || kid.literal.hidden
		}
		n.sign, with.to = "in", last.to
		with.literal.kind, with.literal.raw = kindArray, "["+strings.Join(list, ",")+"]"
	}
	n.op, n.kids, n.ofDot = opCompare, []*node{dotNode(n.from), &with}, true
	p.checkComparison(n, start)
}

// quantifier parses the arguments of any, all or count, which are "path[]; condition". For any and all, a
// condition alone is enough.
func (p *parser) quantifier(n *node) {
	start, hasList := p.pos, false
	list := dotNode(start, step{kind: stepEach, from: start, to: start})
	if p.startsPath(start) {
		path := p.path()
		end := p.space(p.pos)
		if hasList = nextEach(path.steps) >= 0; hasList {
			p.rejectIf(path.bare || p.at(end) != ';', "each", n.name+" "+p.src[start:path.to], end)
			list = p.pathNode(path)
			p.accept(";")
		} else {
			p.pos = start
		}
	}
	p.addReads("[]")
	if !hasList {
		p.addPathReads(list.path)
	}
	inner := p.inner
	p.inner = true
	condition := p.pipe()
	p.inner = inner
	isAlone := !hasList && (p.at(p.pos) == ';' || n.name == "count")
	p.rejectIf(isAlone, "no list", n.name+" "+condition.text(p.src), start)
	n.kids = []*node{list, condition}
	p.checkCondition(condition)
}
