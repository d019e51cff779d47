package expr

import (
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// A query is one of gjson, #(...), without its surprises. It compares loosely, as gjson does:
// in a query 3 is "3".
type query struct {
	path  *path  // to the value that is tested; nil for the element itself
	sign  string // "" asks for existence
	want  string // the operand as text
	test  string // both, as gjson reads them
	tilde bool   // the operand is ~true, ~false, ~null or ~*
}

// queryTest is the operator and the operand of a query. A text stands in double quotes.
var queryTest = lazy(`^(==|!=|<=|>=|!%|=|<|>|%)\s*("(?:[^"\\]|\\.)*"|~true\b|~false\b|~null\b|~\*|true\b|false\b|-?\d[-+.\w]*)?`)

// readQuery reads the (...) of #(...).
func (p *pathParser) readQuery() *query {
	open := p.i
	q := &query{}
	p.i = p.space(open + 1)
	in := &pathParser{parser: p.parser, path: &path{from: p.i, bare: true}, i: p.i}
	if in.startsStep(p.i) {
		in.step()
		q.path = in.finish()
		p.i = p.space(in.i)
	}
	p.check("query operator", p.src[p.i:], p.i)
	if m := queryTest().FindStringSubmatch(p.src[p.i:]); m != nil {
		q.test, q.sign, q.want = m[0], m[1], strings.TrimPrefix(m[2], "~")
		q.tilde = q.want != m[2]
		at := p.i + len(m[0]) - len(m[2])
		if m[2] == "" || m[2][0] != '"' && strings.HasSuffix(q.sign, "%") || q.tilde && strings.ContainsAny(q.sign, "<>") {
			p.refuse("query operand", q.sign+" "+p.src[at:], at)
		} else if m[2][0] == '"' {
			q.want, _ = p.quoted(at)
		}
		p.i = p.space(p.i + len(m[0]))
	}
	switch {
	case p.i == len(p.src):
		p.fail(open, "", "#( is not closed")
	case q.path != nil && (q.path.eachStep() != nil || q.sign == "" && q.path.isList()):
		p.refuse("query", "[]", in.from)
	case p.at(p.i) != ')' || q.sign == "" && q.path == nil:
		p.refuse("query", p.src[p.i:], p.i)
	}
	p.i++
	return q
}

// selects reports whether a query holds for a value that its path leads to, as gjson has it.
// Unlike gjson, it does not compare text with numbers or booleans.
func (q *query) selects(v value) bool {
	_, err := strconv.ParseFloat(q.want, 64)
	isBool := q.want == "true" || q.want == "false"
	switch {
	case q.sign == "":
		return v.kind > kindMissing
	case !q.tilde && (v.kind == kindNumber && err != nil || v.kind == kindBool && !isBool):
		return q.sign == "!="
	}
	element := or(v.kind > kindMissing, `{"a":`+v.json()+"}", "{}")
	return gjson.Get("["+element+"]", "#(a"+q.test+")").Exists()
}
