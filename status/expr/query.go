package expr

import (
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// A query is what stands in #(...): gjson's, with its traps taken out. It
// compares loosely, as gjson does: in a query 3 is "3".
type query struct {
	span
	hops  []hop // to the value that is tested; none for the element itself
	op    queryOp
	want  string // the operand as text
	num   float64
	isNum bool // want is a number, perhaps in quotes
	tilde bool // the operand is ~true, ~false, ~null or ~*
}

// A queryOp is an operator of a query; the zero value asks for existence.
type queryOp uint8

const (
	queryExists queryOp = iota
	queryEqual
	queryNotEqual
	queryLess
	queryLessEqual
	queryGreater
	queryGreaterEqual
	queryLike
	queryNotLike
)

// readQuery reads the (...) of #(...).
func (p *pathLexer) readQuery() *query {
	open := p.pos
	if p.depth++; p.depth > maxNesting {
		p.fail(open, "", "nested deeper than %d levels", maxNesting)
		return nil
	}
	defer func() { p.depth-- }()
	if p.matching(open) < 0 {
		p.fail(open, "", "#( is not closed")
		return nil
	}
	q := &query{}
	q.from = open
	p.pos = skipSpace(p.src, open+1)
	inner := p.queryPath()
	p.pos = skipSpace(p.src, p.pos)
	p.queryOperator(q)
	if p.err != nil {
		return nil
	}
	p.pos = skipSpace(p.src, p.pos)
	if p.at(p.pos) != ')' {
		p.fail(p.pos, p.strictHint(open), "%s", wrongInQuery(p.src[p.pos:]))
		return nil
	}
	p.pos++
	if inner != nil {
		if q.hops = inner.hops; q.op == queryExists && inner.isList() {
			p.fail(inner.from, "drop the last #, or end with |# > 0", "%s is always a list, which always exists", inner.of(p.src))
			return nil
		}
	}
	if inner == nil && q.op == queryExists {
		p.fail(open, "", "the query is empty")
		return nil
	}
	q.to = p.pos
	return q
}

// queryPath reads the path of a query, nil if it has none.
func (p *pathLexer) queryPath() *path {
	c := p.at(p.pos)
	if c == '.' {
		p.fail(p.pos, "leave the dot out: #(name==\"x\")", "a path in a query begins without a dot")
		return nil
	}
	if c != '#' && c != '@' && c != '*' && c != '?' && !isDigit(c) && !p.startsName(p.pos) {
		return nil
	}
	in := &pathLexer{lexer: p.lexer, path: &path{bare: true}, query: true}
	in.path.from = in.pos
	in.first()
	in.finish()
	if s, ok := in.path.each(); ok && p.err == nil {
		p.fail(s.from, "", "[] cannot stand in a query")
	}
	return in.path
}

// queryOps spells the operators, the longest first.
var queryOps = [...]struct {
	text string
	op   queryOp
}{
	{"==", queryEqual}, {"!=", queryNotEqual}, {"<=", queryLessEqual}, {">=", queryGreaterEqual}, {"!%", queryNotLike},
	{"=", queryEqual}, {"<", queryLess}, {">", queryGreater}, {"%", queryLike},
}

// queryOperator reads the operator and the operand of a query, if it has them.
func (p *pathLexer) queryOperator(q *query) {
	start, rest := p.pos, p.src[p.pos:]
	if p.err != nil || strings.HasPrefix(rest, ")") {
		return
	}
	if message, hint := wrongQueryOp(rest); message != "" {
		p.fail(start, hint, "%s", message)
		return
	}
	for _, o := range &queryOps {
		if strings.HasPrefix(rest, o.text) {
			q.op = o.op
			p.pos = skipSpace(p.src, p.pos+len(o.text))
			p.queryOperand(q, start)
			return
		}
	}
}

// queryOperand reads the operand of the operator at offset op.
func (p *pathLexer) queryOperand(q *query, op int) {
	start := p.pos
	switch c := p.at(start); {
	case c == '"':
		q.want = p.quoted()
		q.num, q.isNum = queryNumber(q.want)
	case c == '\'':
		p.fail(start, `write "text" in double quotes`, "single quotes cannot stand in a query")
	case c == '~':
		p.tildeOperand(q)
	case c == '-' || isDigit(c):
		end, f := scanNumber(p.src, start)
		if f != flawNone || isNumeric(p.at(end)) {
			p.fail(start, "", "this is not a number")
			return
		}
		q.want, p.pos = p.src[start:end], end
		q.num, q.isNum = queryNumber(q.want)
	default:
		p.wordOperand(q, op)
	}
	if like := q.op == queryLike || q.op == queryNotLike; like && p.at(start) != '"' {
		p.fail(start, `such as "done*"`, "%% needs a pattern in double quotes")
	}
}

// queryNumber reads an operand as gjson does when it meets a number.
func queryNumber(s string) (float64, bool) {
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil
}

// wordOperand reads true or false, and refuses any other word.
func (p *pathLexer) wordOperand(q *query, op int) {
	start, end := p.pos, p.wordEnd(p.pos)
	switch word := p.src[start:end]; word {
	case "true", "false":
		q.want, p.pos = word, end
	case "null":
		hint := "write ==~null for null or missing"
		if q.op == queryNotEqual {
			hint = "write !=~null for neither null nor missing"
		}
		p.fail(op, hint, "a comparison with null never matches in a query")
	case "":
		p.fail(start, "", "a value is missing in the query")
	default:
		p.fail(start, `write "`+word+`" for text; to compare two fields use any(.items[]; .a == .b)`, "%s is not quoted", word)
	}
}

// tildeOperand reads ~true, ~false, ~null or ~*.
func (p *pathLexer) tildeOperand(q *query) {
	start := p.pos
	end := p.wordEnd(start + 1)
	if p.at(start+1) == '*' {
		end = start + 2
	}
	q.want, q.tilde = p.src[start+1:end], true
	switch q.want {
	case "true", "false", "null", "*":
		p.pos = end
	default:
		p.fail(start, "~true, ~false, ~null and ~* can follow", "nothing that ~ can test follows")
	}
	if q.op != queryEqual && q.op != queryNotEqual {
		p.fail(start, "", "~ goes with == and != only")
	}
}

// strictHint spells the query as any(...), which may hold any condition.
func (p *pathLexer) strictHint(open int) string {
	list := strings.TrimSuffix(p.src[p.path.from:open], "#")
	list = strings.TrimSuffix(strings.TrimSuffix(list, "."), "|")
	if !strings.HasPrefix(list, ".") {
		list = "." + list
	}
	return "for more than one comparison use any(" + list + "[]; ... and ...)"
}

// matches reports whether the query holds for an element.
func (q *query) matches(e *evaluator, src *path, element gjson.Result) bool {
	e.tick(baseSteps)
	v := fromResult(element)
	if len(q.hops) > 0 {
		if element.Type != gjson.JSON {
			return false // also for ~: gjson does not look into scalars
		}
		if v = e.walk(src, v, q.hops); v.kind == KindUnknown {
			v = missing()
		}
	}
	if q.tilde {
		return q.isTilde(v) == (q.op == queryEqual)
	}
	switch v.kind {
	case KindMissing:
		return false
	case KindString:
		return q.op == queryExists || q.compareText(e, v.str)
	case KindNumber:
		return q.op == queryExists || q.compareNumber(v.raw)
	case KindBool:
		return q.op == queryExists || q.compareBool(v.raw)
	}
	return q.op == queryExists
}

// isTilde reports whether the value is what stands behind the tilde.
func (q *query) isTilde(v value) bool {
	switch q.want {
	case "*":
		return v.kind != KindMissing
	case "null":
		return v.isNull()
	}
	truthy, falsy := gjsonTruth(v)
	if q.want == "true" {
		return truthy
	}
	return falsy
}

// gjsonTruth tells what gjson takes for true and for false: numbers by whether
// they are 0, text by what it spells.
func gjsonTruth(v value) (truthy, falsy bool) {
	switch v.kind {
	case KindMissing, KindNull:
		return false, true
	case KindBool:
		return v.raw == "true", v.raw == "false"
	case KindNumber:
		n, _ := strconv.ParseFloat(v.raw, 64)
		return n != 0, n == 0
	case KindString:
		b, err := strconv.ParseBool(strings.ToLower(v.str))
		return err == nil && b, err == nil && !b
	}
	return false, false
}

func (q *query) compareText(e *evaluator, have string) bool {
	switch q.op {
	case queryLike:
		return e.like(have, q.want)
	case queryNotLike:
		return !e.like(have, q.want)
	}
	return q.ordered(strings.Compare(have, q.want))
}

// compareNumber compares with an operand that is a number, in quotes or not. Any
// other text is just unequal: gjson takes it for 0.
func (q *query) compareNumber(raw string) bool {
	if !q.isNum {
		return q.op == queryNotEqual
	}
	have, _ := strconv.ParseFloat(raw, 64)
	switch {
	case have < q.num:
		return q.ordered(-1)
	case have > q.num:
		return q.ordered(1)
	}
	return q.ordered(0)
}

// compareBool compares with true or false, in quotes or not; false is less.
func (q *query) compareBool(raw string) bool {
	if q.want != "true" && q.want != "false" {
		return q.op == queryNotEqual
	}
	return q.ordered(strings.Compare(raw, q.want))
}

// ordered reports whether the operator holds for an order of -1, 0 or 1.
func (q *query) ordered(order int) bool {
	switch q.op {
	case queryEqual:
		return order == 0
	case queryNotEqual:
		return order != 0
	case queryLess:
		return order < 0
	case queryLessEqual:
		return order <= 0
	case queryGreater:
		return order > 0
	case queryGreaterEqual:
		return order >= 0
	}
	return false
}
