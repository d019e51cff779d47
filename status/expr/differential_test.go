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
	"testing"

	"github.com/itchyny/gojq"

	"github.com/pollcli/poll/status/expr"
)

var pairs = flag.Int("pairs", 5000, "pairs of expression and document for TestDifferential")

// TestDifferential compares random conditions with gojq on random documents.
//
// Where poll means to differ from jq, the generator writes for gojq what poll
// means, by the functions of strictJQ; so everything that is left must be equal,
// but for two things that are counted: what poll refuses to compile because it
// would always be true, and what jq stops at while Kleene's logic decides.
func TestDifferential(t *testing.T) {
	t.Parallel()
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

// differ says how poll and gojq differ; "" if they do not.
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
	t.Parallel()
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

// restsOnAbsence finds functions whose value may rest on what is missing, which jq does not tell.
var restsOnAbsence = regexp.MustCompile(`\b(any|all|count|has|not)\b`)

// undecidedInJQ finds what Kleene's logic may settle where jq stops.
var undecidedInJQ = regexp.MustCompile(`and|or|&&|\|\||any|all|count`)

func truthOf(v any) expr.Tri {
	if v == nil || v == false {
		return expr.False
	}
	return expr.True
}

// runJQ returns the one result of a jq program, and the error that stopped it.
func runJQ(doc, src string) (result any, stopped, err error) {
	query, err := gojq.Parse(src)
	if err != nil {
		return nil, nil, err
	}
	code, err := gojq.Compile(query, strictJQ()...)
	if err != nil {
		return nil, nil, err
	}
	var input any
	if err := json.Unmarshal([]byte(doc), &input); err != nil {
		return nil, nil, err
	}
	result, ok := code.Run(input).Next()
	if !ok {
		return nil, nil, errors.New("no result")
	}
	if stopped, ok := result.(error); ok {
		return nil, stopped, nil
	}
	return result, nil, nil
}

// strictJQ are functions that do in gojq what poll does where it differs from jq.
func strictJQ() []gojq.CompilerOption {
	stop := func(what string) any { return errors.New(what) }
	return []gojq.CompilerOption{
		// An order between different types.
		gojq.WithFunction("_order", 3, 3, func(_ any, args []any) any {
			op, a, b := args[0].(string), args[1], args[2]
			if kindOf(a) != kindOf(b) || kindOf(a) != "number" && kindOf(a) != "string" {
				return stop("order")
			}
			return map[string]bool{
				"<": gojq.Compare(a, b) < 0, "<=": gojq.Compare(a, b) <= 0,
				">": gojq.Compare(a, b) > 0, ">=": gojq.Compare(a, b) >= 0,
			}[op]
		}),
		// The index of a string, which is gojq's own.
		gojq.WithFunction("_index", 1, 1, func(v any, args []any) any {
			list, isList := v.([]any)
			switch n := args[0].(int); {
			case v == nil:
				return nil
			case !isList:
				return stop("index")
			case n < 0 && n+len(list) >= 0:
				return list[n+len(list)]
			case n >= 0 && n < len(list):
				return list[n]
			}
			return nil
		}),
		// Nothing is known of null.
		gojq.WithFunction("_known", 0, 0, func(v any, _ []any) any {
			if v == nil {
				return stop("null")
			}
			return v
		}),
		// A text that says no is neither true nor false.
		gojq.WithFunction("_truth", 0, 0, func(v any, _ []any) any {
			if v == "" || v == "0" || v == "false" {
				return stop("text")
			}
			return v
		}),
		// null has nothing, as in jq 1.6.
		gojq.WithFunction("_has", 1, 1, func(v any, args []any) any {
			switch v := v.(type) {
			case nil:
				return false
			case map[string]any:
				if key, ok := args[0].(string); ok {
					_, ok := v[key]
					return ok
				}
			case []any:
				if n, ok := args[0].(int); ok {
					return 0 <= n && n < len(v)
				}
			}
			return stop("has")
		}),
		// A member of a list.
		gojq.WithFunction("_contains", 1, 1, func(v any, args []any) any {
			switch v := v.(type) {
			case string:
				if s, ok := args[0].(string); ok {
					return strings.Contains(v, s)
				}
			case []any:
				return hasElement(v, args[0])
			}
			return stop("contains")
		}),
		gojq.WithFunction("_affix", 3, 3, func(_ any, args []any) any {
			a, ok := args[1].(string)
			b, also := args[2].(string)
			if !ok || !also {
				return stop("affix")
			}
			if args[0] == "startswith" {
				return strings.HasPrefix(a, b)
			}
			return strings.HasSuffix(a, b)
		}),
		gojq.WithFunction("_in", 2, 2, func(_ any, args []any) any {
			list, ok := args[1].([]any)
			if !ok {
				return stop("in")
			}
			return hasElement(list, args[0])
		}),
		// Equality between different types, of which null is none.
		gojq.WithFunction("_alike", 2, 2, func(_ any, args []any) any {
			if args[0] != nil && args[1] != nil && kindOf(args[0]) != kindOf(args[1]) {
				return stop("equal")
			}
			return gojq.Compare(args[0], args[1]) == 0
		}),
	}
}

// hasElement reports whether a list has an element. It returns an error if the list has values, and all are of
// other types.
func hasElement(list []any, v any) any {
	isOther, isAlike := false, false
	for _, element := range list {
		if gojq.Compare(element, v) == 0 {
			return true
		}
		isSame := kindOf(element) == kindOf(v)
		isAlike = isAlike || isSame
		isOther = isOther || !isSame && element != nil && v != nil
	}
	if isOther && !isAlike {
		return errors.New("types")
	}
	return false
}

func kindOf(v any) string {
	switch v.(type) {
	case string:
		return "string"
	case nil:
		return "null"
	case bool:
		return "boolean"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "number"
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

// condition makes a condition in both spellings.
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

// quantifier makes any, all, or a comparison of count.
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

// leaf makes a comparison, a value, or a function on a value.
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
		if !asksForNull(a) && !strings.Contains(b, "null") {
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

// known returns an operand in jq of which null is unknown, unless it asks for null, or the other one
// is the null that it asks for.
func known(operand, other, jq, otherJQ string) string {
	switch {
	case asksForNull(operand):
		return jq
	case asksForNull(other):
		return fmt.Sprintf("if (%s) == null then (%s) else (%s | _known) end", otherJQ, jq, jq)
	}
	return jq + " | _known"
}

// asksForNull reports whether an operand says that null is asked for, or that it may be missing.
func asksForNull(operand string) bool {
	return operand == "null" || strings.HasSuffix(operand, "// null)")
}

// value makes an operand.
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

// path makes a path of up to three steps.
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
