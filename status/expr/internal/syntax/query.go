package syntax

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/pollcli/poll/status/expr/internal/rawjson"
)

// A Query is a query of gjson, #(...), without its surprises. It compares loosely, as
// gjson does: in a query 3 is "3".
type Query struct {
	Span
	Lookups  []Lookup       // to the value that is tested; none for the element itself
	Op       CompareOp      // 0 asks for existence
	Want     string         // the operand as text
	Pattern  *regexp.Regexp // for % and !%
	Number   float64
	IsNumber bool // want is a number, perhaps in quotes
	Tilde    bool // the operand is ~true, ~false, ~null or ~*
}

// readQuery reads the (...) of #(...).
func (p *pathLexer) readQuery() *Query {
	open := p.pos
	if p.depth++; p.depth > maxNesting {
		p.fail(open, "", "nested deeper than %d levels", maxNesting)
	}
	q := &Query{}
	p.pos = min(rawjson.SkipSpace(p.src, open+1), len(p.src))
	inner := p.queryPath()
	p.pos = rawjson.SkipSpace(p.src, p.pos)
	p.queryOperator(q)
	p.pos = rawjson.SkipSpace(p.src, p.pos)
	switch {
	case p.pos == len(p.src):
		p.fail(open, "", "#( is not closed")
	case p.at(p.pos) != ')':
		p.fail(p.pos, p.strictHint(open), "%s", wrongInQuery(p.src[p.pos:]))
	case q.Op == 0 && inner == nil:
		p.fail(open, "", "the query is empty")
	case q.Op == 0 && inner.isList():
		p.fail(inner.From, "drop the last #, or end with |# > 0", "%s is always a list, which always exists", inner.Of(p.src))
	default:
		p.pos++
	}
	if inner != nil {
		q.Lookups = inner.Lookups
	}
	p.depth--
	q.Span = Span{open, p.pos}
	return q
}

// queryPath reads the path of a query, nil if it has none.
func (p *pathLexer) queryPath() *Path {
	in := &pathLexer{lexer: p.lexer, path: &Path{bare: true}, query: true}
	if p.at(p.pos) == '.' {
		p.fail(p.pos, "leave the dot out: #(name==\"x\")", "a path in a query begins without a dot")
	}
	if !in.startsStep(p.pos) {
		return nil
	}
	in.path.From = in.pos
	in.first()
	in.finish()
	if s, ok := in.path.Each(); ok {
		p.fail(s.From, "", "[] cannot stand in a query")
	}
	return in.path
}

// queryOps spells the operators, the longest first.
var queryOps = [...]struct {
	text string
	op   CompareOp
}{
	{"==", OpEqual}, {"!=", OpNotEqual}, {"<=", OpLessEqual}, {">=", OpGreaterEqual}, {"!%", OpNotLike},
	{"=", OpEqual}, {"<", OpLess}, {">", OpGreater}, {"%", OpLike},
}

// queryOperator reads the operator and the operand of a query, if it has them.
func (p *pathLexer) queryOperator(q *Query) {
	start, rest := p.pos, p.src[p.pos:]
	if rest == "" || rest[0] == ')' {
		return
	}
	if !p.refuse(start, "", queryHabits, starts(rest)) {
		p.fail(start, hintAnyQuery, "%s", wrongInQuery(rest))
	}
	for _, o := range &queryOps {
		if p.err == nil && strings.HasPrefix(rest, o.text) {
			q.Op = o.op
			p.pos = rawjson.SkipSpace(p.src, p.pos+len(o.text))
			p.queryOperand(q, start)
			return
		}
	}
}

// queryOperand reads the operand of the operator at offset op.
func (p *pathLexer) queryOperand(q *Query, op int) {
	start := p.pos
	switch c := p.at(start); {
	case c == '"':
		q.Want = p.quoted()
	case c == '\'':
		p.fail(start, `write "text" in double quotes`, "single quotes cannot stand in a query")
	case c == '~':
		p.tildeOperand(q)
	case c == '-' || rawjson.IsDigit(c):
		end, f := rawjson.ScanNumber(p.src, start)
		if f != rawjson.NoFlaw || isWordByte(p.at(end)) || p.at(end) == '.' {
			p.fail(start, "", "this is not a number")
			return
		}
		q.Want, p.pos = p.src[start:end], end
	default:
		p.wordOperand(q, op)
	}
	if n, err := strconv.ParseFloat(q.Want, 64); err == nil && !q.Tilde { // also in quotes
		q.Number, q.IsNumber = n, true
	}
	if q.Op == OpLike || q.Op == OpNotLike {
		if p.at(start) != '"' {
			p.fail(start, `such as "done*"`, "%% needs a pattern in double quotes")
		}
		q.Pattern = wildcards(q.Want)
	}
}

// wildcards turns a pattern of gjson into a regular expression: * is any text, ? is one
// character, and \ makes the next character literal. gjson's own matching takes
// exponential time, or gives up.
func wildcards(pattern string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString("(?s)^")
	escaped := false
	for i, r := range pattern {
		switch {
		case r == '\\' && !escaped && i+1 < len(pattern):
			escaped = true
			continue
		case r == '*' && !escaped:
			b.WriteString(".*")
		case r == '?' && !escaped:
			b.WriteByte('.')
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
		escaped = false
	}
	return regexp.MustCompile(b.String() + "$")
}

// wordOperand reads true or false, and refuses any other word.
func (p *pathLexer) wordOperand(q *Query, op int) {
	start, end := p.pos, p.wordEnd(p.pos)
	switch word := p.src[start:end]; word {
	case "true", "false":
		q.Want, p.pos = word, end
	case "null":
		hint := "write ==~null for null or missing"
		if q.Op == OpNotEqual {
			hint = "write !=~null for neither null nor missing"
		}
		p.fail(op, hint, "a comparison with null never matches in a query")
	case "":
		hint := ""
		if p.at(start) == '$' {
			hint = hintAnyQuery
		}
		p.fail(start, hint, "a value is missing in the query")
	default:
		p.fail(start, `write "`+word+`" for text; to compare two fields use any(.items[]; .a == .b)`, "%s is not quoted", word)
	}
}

// tildeOperand reads ~true, ~false, ~null or ~*.
func (p *pathLexer) tildeOperand(q *Query) {
	start := p.pos
	end := p.wordEnd(start + 1)
	if p.at(start+1) == '*' {
		end = start + 2
	}
	q.Want, q.Tilde = p.src[start+1:end], true
	switch q.Want {
	case "true", "false", "null", "*":
		p.pos = end
	default:
		p.fail(start, "~true, ~false, ~null and ~* can follow", "nothing that ~ can test follows")
	}
	if q.Op != OpEqual && q.Op != OpNotEqual {
		p.fail(start, "", "~ goes with == and != only")
	}
}

// strictHint spells the query as any(...), which may hold any condition.
func (p *pathLexer) strictHint(open int) string {
	list := strings.TrimSuffix(p.src[p.path.From:open], "#")
	list = strings.TrimSuffix(strings.TrimSuffix(list, "."), "|")
	if !strings.HasPrefix(list, ".") {
		list = "." + list
	}
	return "for more than one comparison use any(" + list + "[]; ... and ...)"
}
