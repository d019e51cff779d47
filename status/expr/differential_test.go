package expr_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/itchyny/gojq"

	"github.com/pollcli/poll/status/expr"
)

var pairs = flag.Int("pairs", 5000, "pairs of expression and document for TestDifferential")

// TestDifferential compares random conditions with gojq on random documents.
//
// Where poll differs from jq on purpose, the generator uses the functions of strictJQ for gojq. Everything else
// must be equal, except for two cases that are counted: poll does not compile a condition that would always be
// true, and Kleene's logic may decide after an error of jq.
func TestDifferential(t *testing.T) {
	seed := rand.Uint64()
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1))}
	var equal, refused, kleene, other int
	for range *pairs {
		doc, ours, theirs := g.pair()
		switch d := differ(doc, ours, theirs); {
		case d == "":
			equal++
		case d == "refused", strings.Contains(d, "every text"):
			refused++
		case d == "kleene":
			kleene++
		default:
			if other++; other <= 20 {
				t.Errorf("seed %d: %s\n  ours   %s\n  theirs %s\n  on     %s", seed, d, ours, theirs, doc)
			}
		}
	}
	t.Logf("%d pairs: %d equal, %d refused, %d settled by Kleene's logic, %d other", *pairs, equal, refused, kleene, other)
	if equal < *pairs/2 {
		t.Errorf("only %d of %d pairs could be compared", equal, *pairs)
	}
}

// differ returns how the results of poll and gojq differ, "" if they agree.
func differ(doc, ours, theirs string) string {
	want, stopped, err := runJQ(doc, theirs)
	if err != nil {
		return "gojq does not compile it: " + err.Error()
	}
	x, err := expr.Compile(ours)
	if err != nil {
		if strings.HasSuffix(err.Error(), "always true") {
			return "refused"
		}
		return "poll does not compile it: " + err.Error()
	}
	value, err := expr.CompileValue(ours)
	if err != nil {
		return "poll does not compile it for its value: " + err.Error()
	}
	env := &expr.Env{Doc: expr.NewDoc([]byte(doc))}
	have := value.Eval(env).Tri
	condition := x.Eval(env)
	isAbsent := have == expr.True && condition.Missing()
	if condition.Tri != have && !isAbsent {
		return fmt.Sprintf("the condition is %v, its value %v", condition.Tri, have)
	}
	switch {
	case stopped == nil && have == truthOf(want):
		return ""
	case have == expr.Unknown && restsOnAbsence.MatchString(ours):
		return ""
	case stopped == nil:
		return fmt.Sprintf("poll says %v, gojq %v", have, want)
	case have == expr.Unknown:
		return ""
	case undecidedInJQ.MatchString(ours):
		return "kleene"
	}
	return fmt.Sprintf("poll says %v, gojq stops: %v", have, stopped)
}

// Nothing that is true of an empty value is affirmed.
func TestAffirmed(t *testing.T) {
	g, matched := &generator{Rand: rand.New(rand.NewPCG(rand.Uint64(), 1))}, 0
	for range *pairs {
		_, ours, _ := g.pair()
		for _, empty := range []string{"null", "{}", "[]", `""`, "0", "false"} {
			if x, err := expr.Compile(ours); err == nil {
				r := x.Eval(&expr.Env{Doc: expr.NewDoc([]byte(empty))})
				if matched += map[bool]int{true: 1}[r.Matched()]; r.Affirmed() {
					t.Errorf("%s is affirmed by %s", ours, empty)
				}
			}
		}
	}
	if matched < *pairs/10 {
		t.Errorf("only %d of %d conditions are true of an empty value", matched, *pairs)
	}
}

// restsOnAbsence matches functions whose value may depend on missing values, which jq does not distinguish from
// null.
var restsOnAbsence = regexp.MustCompile(`\b(any|all|count|has|not)\b`)

// undecidedInJQ matches operators that Kleene's logic may decide although jq fails on an operand.
var undecidedInJQ = regexp.MustCompile(`and|or|&&|\|\||any|all|count`)

func truthOf(v any) expr.Tri {
	if v == nil || v == false {
		return expr.False
	}
	return expr.True
}

// strictJQ defines in jq the differences of poll: an order between different types, equality of different types, and
// a comparison with null are errors. The strings "", "0" and "false" are errors as conditions. null has no elements, as in jq 1.6.
const strictJQ = `
def _known: if . == null then error("null") else . end;
def _truth: if . == "" or . == "0" or . == "false" then error("text") else . end;
def _index($n): if . == null then null elif type != "array" then error("index") else .[$n] end;
def _has($key): if . == null then false elif [type, ($key | type)] | IN(["object", "string"], ["array", "number"]) then has($key) else error("has") end;
def _alike(a; b): a as $a | b as $b |
	if $a != null and $b != null and ($a | type) != ($b | type) then error("equal") else $a == $b end;
def _order($op; a; b): a as $a | b as $b | ($a | type) as $type |
	if $type != ($b | type) or ($type | IN("number", "string") | not) then error("order")
	elif $op == "<" then $a < $b elif $op == "<=" then $a <= $b elif $op == ">" then $a > $b else $a >= $b end;
def _element(x): x as $x |
	if any(.[]; . == $x) then true
	elif $x != null and any(.[]; . != null) and all(.[]; . == null or type != ($x | type)) then error("types")
	else false end;
def _in(a; list): a as $a | list | if type == "array" then _element($a) else error("in") end;
def _contains(x): x as $x |
	if type == "array" then _element($x) elif type == "string" and ($x | type) == "string" then contains($x) else error("contains") end;
def _affix($name; a; b): a as $a | b as $b |
	if ($a | type) != "string" or ($b | type) != "string" then error("affix")
	elif $name == "startswith" then $a | startswith($b) else $a | endswith($b) end;
`

var strictFunctions = sync.OnceValues(func() (*gojq.Query, error) { return gojq.Parse(strictJQ + ".") })

// runJQ returns the one result of a jq program, and the error that stopped it.
func runJQ(doc, src string) (result any, stopped, err error) {
	strict, err := strictFunctions()
	if err != nil {
		return nil, nil, err
	}
	query, err := gojq.Parse(src)
	if err != nil {
		return nil, nil, err
	}
	query.FuncDefs = strict.FuncDefs
	var input any
	if err := json.Unmarshal([]byte(doc), &input); err != nil {
		return nil, nil, err
	}
	result, ok := query.Run(input).Next()
	if !ok {
		return nil, nil, errors.New("no result")
	}
	stopped, _ = result.(error)
	return result, stopped, nil
}

// A generator makes random documents, and random conditions in poll's and in
// gojq's spelling.
type generator struct{ *rand.Rand }

func (g *generator) pair() (doc, ours, theirs string) {
	raw, err := json.Marshal(g.document(3))
	if err != nil {
		panic(err)
	}
	ours, theirs = g.condition(3)
	return string(raw), ours, theirs
}

func pick[T any](g *generator, of ...T) T { return of[g.IntN(len(of))] }

var keys = []string{"a", "b", "c", "state", "items", "x-y", "k.l", "é"}

func (g *generator) document(depth int) any {
	if depth > 0 && g.IntN(3) > 0 {
		if g.IntN(3) == 0 {
			list := []any{}
			for range g.IntN(4) {
				list = append(list, g.document(depth-1))
			}
			return list
		}
		object := map[string]any{}
		for range g.IntN(6) {
			object[pick(g, keys...)] = g.document(depth - 1)
		}
		return object
	}
	return g.scalar()
}

func (g *generator) scalar() any {
	return pick[any](g, nil, true, false, 0, 1, -1, 2, 3, 1.5, 100, 9007199254740991.0, "", "a", "b", "done", "Done", "3", "1.5", "a b", "é", "ü\n\"", `{"a":1}`, "[1]")
}

// condition returns a random condition in the spellings of poll and of jq.
func (g *generator) condition(depth int) (ours, theirs string) {
	if depth == 0 {
		return g.leaf(1)
	}
	switch g.IntN(11) {
	case 0, 1:
		op, jq := g.logic()
		a, x := g.condition(depth - 1)
		b, y := g.condition(depth - 1)
		return "(" + a + ")" + op + "(" + b + ")", "(" + x + ")" + jq + "(" + y + ")"
	case 2:
		op, jq := g.logic() // by precedence, not by parentheses
		a, x := g.leaf(depth - 1)
		b, y := g.leaf(depth - 1)
		op2, jq2 := g.logic()
		c, z := g.leaf(depth - 1)
		return a + op + b + op2 + c, x + jq + y + jq2 + z
	case 3:
		a, x := g.condition(depth - 1)
		return fmt.Sprintf(pick(g, "!(%s)", "not (%s)", "((%s) | not)"), a), "((" + x + ") | not)"
	case 4, 5:
		return g.quantifier(depth)
	case 6:
		p, q := g.path()
		c, z := g.condition(depth - 1)
		return p + " | " + c, q + " | " + z
	}
	return g.leaf(depth)
}

func (g *generator) logic() (ours, theirs string) {
	if g.IntN(2) == 0 {
		return pick(g, " and ", " && ", "&&"), " and "
	}
	return pick(g, " or ", " || ", "||"), " or "
}

// quantifier returns any, all, or a comparison of count, in both spellings.
func (g *generator) quantifier(depth int) (ours, theirs string) {
	p, q := g.path()
	more := pick(g, "[]", "[]", "[].a", "[][]")
	list, listJQ := p+more, q+more
	c, z := g.condition(depth - 1)
	switch g.IntN(4) {
	case 0:
		fn := pick(g, "any", "all")
		return fmt.Sprintf("%s(%s; %s)", fn, list, c), fmt.Sprintf("%s(%s; %s)", fn, listJQ, z)
	case 1:
		fn := pick(g, "any", "all")
		p, q := g.path()
		return fmt.Sprintf("(%s | %s(%s))", p, fn, c), fmt.Sprintf("(%s | %s(%s))", q, fn, z)
	case 2:
		fn := pick(g, "any", "all")
		p, q := g.path()
		return fmt.Sprintf("(%s|%s)", p, fn), fmt.Sprintf("(%s|%s(.[]; _truth))", q, fn)
	}
	op, n := pick(g, "==", "!=", ">=", "<"), g.IntN(3)
	return fmt.Sprintf("count(%s; %s) %s %d", list, c, op, n), fmt.Sprintf("([%s | select(%s)] | length) %s %d", listJQ, z, op, n)
}

// leaf returns a comparison, a value, or a function of a value, in both spellings.
func (g *generator) leaf(depth int) (ours, theirs string) {
	a, x := g.value(depth)
	switch g.IntN(9) {
	case 0:
		return a, "(" + x + " | _truth)"
	case 1, 2, 3:
		op := pick(g, "==", "!=")
		b, y := g.value(0)
		x, y = known(a, b, x, y), known(b, a, y, x)
		return a + " " + op + " " + b, fmt.Sprintf("(_alike(%s; %s) == %t)", x, y, op == "==")
	case 4:
		op := pick(g, "<", "<=", ">", ">=")
		b, y := g.value(0)
		return a + op + b, fmt.Sprintf("_order(%q; %s; %s)", op, x, y)
	case 5:
		b, y := g.value(0)
		y = known(b, a, y, x)
		return a + " contains " + b, fmt.Sprintf("(. as $d | %s | _contains($d | %s))", x, y)
	case 6:
		b := g.list()
		if !isNullOnPurpose(a) && !strings.Contains(b, "null") {
			x += " | _known"
		}
		return a + " in " + b, fmt.Sprintf("_in(%s; %s)", x, b)
	case 7:
		re := pick(g, "^a", "o", "^[0-9.]+$", "(?i)DONE")
		if g.IntN(2) == 0 {
			return fmt.Sprintf("%s =~ %q", a, re), fmt.Sprintf("(%s | test(%q))", x, re)
		}
		return fmt.Sprintf("%s !~ %q", a, re), fmt.Sprintf("(%s | test(%q) | not)", x, re)
	}
	op, b := pick(g, "startswith", "endswith"), pick(g, `"a"`, `"ne"`, `.a`)
	return a + " " + op + " " + b, fmt.Sprintf("_affix(%q; %s; %s)", op, x, b)
}

// known returns the jq operand that fails on null, as poll's operand is then unknown. It returns jq unchanged if
// operand may be null on purpose. If other is a null on purpose, the operand may be null, too, when other is
// null.
func known(operand, other, jq, otherJQ string) string {
	switch {
	case isNullOnPurpose(operand):
		return jq
	case isNullOnPurpose(other):
		return fmt.Sprintf("if (%s) == null then (%s) else (%s | _known) end", otherJQ, jq, jq)
	}
	return jq + " | _known"
}

// isNullOnPurpose reports whether an operand is null on purpose, or has null as its replacement for a missing value.
func isNullOnPurpose(operand string) bool {
	return operand == "null" || strings.HasSuffix(operand, "// null)")
}

// value returns a random operand in both spellings.
func (g *generator) value(depth int) (ours, theirs string) {
	switch g.IntN(8) {
	case 0:
		s := g.literal()
		return s, s
	case 1:
		if depth > 0 {
			p, q := g.path()
			f, h := g.function()
			return "(" + p + pick(g, "|", " | ") + f + ")", "(" + q + "|" + h + ")"
		}
	case 2:
		if depth > 0 {
			p, q := g.path()
			b, y := g.value(0)
			return "(" + p + " // " + b + ")", fmt.Sprintf("(%s as $l | if $l | not then %s else $l end)", q, y)
		}
	}
	return g.path()
}

func (g *generator) function() (ours, theirs string) {
	key, n := pick(g, keys...), g.IntN(4)-1
	if g.IntN(4) == 0 {
		f := pick(g, "length", "type", "tostring")
		return f, "_known | " + f
	}
	same := pick(g, "_truth | not", "tonumber", "ascii_downcase", "ascii_upcase", "fromjson",
		`startswith("a")`, `endswith("e")`, `test("D";"i")`, `IN("a",1,null)`)
	switch g.IntN(6) {
	case 0:
		return fmt.Sprintf("has(%q)", key), fmt.Sprintf("_has(%q)", key)
	case 1:
		return fmt.Sprintf("has(%d)", n), fmt.Sprintf("_has(%d)", n)
	case 2:
		s := g.literal()
		return "contains(" + s + ")", "_contains(" + s + ")"
	}
	theirs = strings.NewReplacer(`IN("a",1,null)`, `_in(.; ["a",1,null])`).Replace(same)
	return strings.TrimPrefix(same, "_truth | "), theirs
}

func (g *generator) literal() string {
	return pick(g, `null`, `true`, `false`, `0`, `1`, `-1`, `1.5`, `1e2`, `9007199254740991`, `""`, `"a"`, `"done"`, `"3"`, `"\u00e9"`, `[]`, `{}`, `[1]`, `{"a":1}`, `["a","b"]`)
}

func (g *generator) list() string {
	var members []string
	for range g.IntN(4) {
		members = append(members, g.literal())
	}
	return "[" + strings.Join(members, ",") + "]"
}

// path returns a random path of up to three steps, in both spellings.
func (g *generator) path() (ours, theirs string) {
	n := g.IntN(4)
	if n == 0 {
		return ".", "."
	}
	for i := range n {
		switch key := pick(g, keys...); {
		case g.IntN(5) == 0:
			index := pick(g, 0, 1, 2, -1, -2, 7)
			if i == 0 {
				ours, theirs = ".", "."
			}
			ours += "[" + strconv.Itoa(index) + "]"
			theirs += " | _index(" + strconv.Itoa(index) + ")"
		case strings.ContainsAny(key, "-.é") || g.IntN(4) == 0:
			if i == 0 {
				ours, theirs = ".", "."
			}
			if strings.HasSuffix(theirs, ")") {
				theirs += " | ."
			}
			ours += fmt.Sprintf("[%q]", key)
			theirs += fmt.Sprintf("[%q]", key)
		default:
			ours += "." + key
			if strings.HasSuffix(theirs, ")") {
				theirs += " | "
			}
			theirs += "." + key
		}
	}
	return ours, "(" + theirs + ")"
}
