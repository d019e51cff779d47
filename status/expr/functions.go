package expr

import (
	"cmp"
	"strings"
	"unicode/utf8"
)

// Bare functions follow a pipe and take no arguments. Called functions take arguments; of these
// the test functions test ".".
const (
	bareFunctions   = " length type not tostring tonumber ascii_downcase ascii_upcase fromjson any all "
	calledFunctions = testFunctions + "any all count exists "
	testFunctions   = comparingFunctions + "has "

	comparingFunctions = " test startswith endswith contains IN "
)

// isOneOf reports whether a name is one of some functions.
func isOneOf(name, functions string) bool {
	return name != "" && strings.Contains(functions, " "+name+" ")
}

// arguments parses the arguments of a function, up to the closing parenthesis.
func (p *parser) arguments(n *node) {
	start := p.pos
	switch n.name {
	case "any", "all", "count":
		p.quantifier(n)
		return
	case "exists":
		n.kids = []*node{p.operand()}
		x := n.kids[0]
		p.refuseIf(x.op != opPath && x.op != opVariable, "exists", x.text(p.src), start)
		p.refuseIf(x.op == opPath && x.path.isList(), "list", x.text(p.src), start)
		return
	}
	several := isOneOf(n.name, " test IN ")
	for more := true; more; more = several && (p.accept(",") || p.accept(";")) {
		at := p.pos
		p.refuseIf(p.at(at) == ')', "argument", n.name, at)
		x := p.operand()
		v := x.literal
		isText := v.kind == kindString || n.name == "contains" || n.name == "IN" || n.name == "has" && v.kind == kindNumber && !strings.ContainsAny(v.raw, ".eE")
		p.refuseIf(x.op != opLiteral || !isText, "argument", n.name+" "+x.text(p.src), at)
		if v.kind == kindString && v.str == "" && isOneOf(n.name, " startswith endswith contains ") {
			p.refuse("empty", "", at)
		}
		n.kids = append(n.kids, x)
	}
	if n.name == "test" {
		pattern := n.kids[0].literal
		switch flags := n.kids[len(n.kids)-1].literal.str; {
		case len(n.kids) > 1 && flags == "i":
			pattern.str = "(?i)" + pattern.str
		case len(n.kids) > 1 && flags != "":
			p.refuse("flags", "", n.kids[1].from)
		}
		n.pattern = p.compile(pattern, start)
	}
}

// asComparison rewrites a call such as test("x") as the comparison . =~ "x". The parser replaces
// the dot by what is on the left of a pipe.
func (n *node) asComparison() *node {
	dot := &node{op: opPath, from: n.from, to: n.from, path: &path{from: n.from, to: n.from}}
	sign, with := n.name, n.kids[0]
	switch sign {
	case "test":
		sign = "=~"
	case "IN":
		var list []string
		sign, with = "in", &node{op: opLiteral, from: with.from, to: n.kids[len(n.kids)-1].to}
		for _, kid := range n.kids {
			list = append(list, kid.literal.json())
			with.literal.hidden = with.literal.hidden || kid.literal.hidden
		}
		with.literal.kind, with.literal.raw = kindArray, "["+strings.Join(list, ",")+"]"
	}
	return &node{op: opCompare, from: n.from, to: n.to, kids: []*node{dot, with}, sign: sign, pattern: n.pattern, ofDot: true}
}

// quantifier parses "path[]; condition", or the condition alone.
func (p *parser) quantifier(n *node) {
	start := p.pos
	p.note("[]")
	if p.startsPath(start) {
		if path := p.path(); path.eachStep() != nil {
			next := p.space(path.to)
			p.refuseIf(path.bare || p.at(next) != ';', "each", n.name+" "+p.src[start:path.to], next)
			n.kids = append(n.kids, p.pathNode(path))
			p.accept(";")
		}
	}
	p.inner = true
	n.kids = append(n.kids, p.pipe())
	if len(n.kids) == 1 && (p.at(p.pos) == ';' || n.name == "count") {
		p.refuse("no list", n.name+" "+n.kids[0].text(p.src), start)
	}
	p.condition(n.kids[len(n.kids)-1])
}

// apply applies a function to a known value. Unless there is a result, problem says why.
func (e *evaluator) apply(n *node, v value) (result value, problem string) {
	switch n.name {
	case "length":
		switch v.kind {
		case kindString:
			return integer(utf8.RuneCountInString(v.str)), ""
		case kindNumber: // its absolute value
			return number(strings.TrimPrefix(v.raw, "-")), ""
		case kindArray, kindObject:
			return integer(e.count(v)), ""
		}
		return v, "needs text, a number, a list or an object"
	case "type":
		return text(v.kind.String()), ""
	case "not":
		return boolean(v.truth() == False), ""
	case "tostring":
		if v.kind == kindString {
			return v, ""
		} else if len(v.raw) > maxResult {
			return v, "needs a smaller value"
		}
		return text(marshal(v.decoded())), ""
	case "tonumber":
		if v.kind == kindString && isJSON(v.str) {
			v = parseValue(v.str)
		}
		return v, or(v.kind == kindNumber, "", "makes no number of it")
	case "has":
		key := n.kids[0].literal
		isKey := v.kind == kindObject && key.kind == kindString || v.kind == kindArray && key.kind == kindNumber
		if !isKey && !v.isNull() {
			return v, "needs an object for a key, or a list for a number"
		}
		return boolean(isKey && e.member(v, cmp.Or(key.str, key.raw)).kind != kindMissing), ""
	}
	switch raw := v.str; {
	case v.kind != kindString:
		return v, needsText
	case n.name == "ascii_downcase":
		return text(strings.Map(func(r rune) rune { return r + or(r >= 'A' && r <= 'Z', 'a'-'A', 0) }, raw)), ""
	case n.name == "ascii_upcase":
		return text(strings.Map(func(r rune) rune { return r - or(r >= 'a' && r <= 'z', 'a'-'A', 0) }, raw)), ""
	case n.name == "fromjson" && isJSON(raw):
		return parseValue(raw), ""
	}
	return v, "makes no JSON of it"
}
