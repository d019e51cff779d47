package expr_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/itchyny/gojq"

	"github.com/pollcli/poll/status/expr"
)

// TestInstead holds what is said to be written instead of jq's forms.
func TestInstead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ src, want string }{
		{`[.items[]|select(.x!="done")]|length == 0`, `count(.items[]; .x != "done") == 0`},
		{`([.items[]|select(.x!="done")]|length) >= 2 and .a == 1`, `count(.items[]; .x != "done") >= 2 and .a == 1`},
		{`.a == 1 or ([.items[]|select(.x)]|length) != 1`, `.a == 1 or count(.items[]; .x) != 1`},
		{`[.items[]|select(.x)|.name]|length < 3`, `count(.items[]; .x) < 3`},
		{`[.items[].x]|length == 3`, `count(.items[].x; true) == 3`},
		{`([.items[]|select(.x)]|length) == .total`, `count(.items[]; .x) == .total`},
		{`.items|map(select(.x=="done" or .y))|length > 0`, `count(.items[]; .x == "done" or .y) > 0`},
		{`.items|map(select(.x)|select(.y or .z))|length > 0`, `count(.items[]; .x and (.y or .z)) > 0`},
		{`map(select(.x))|length == 1`, `count(.[]; .x) == 1`},
		{`[.[]|select(.x)]|length==1`, `count(.[]; .x) == 1`},
		{`[.a[][]|select(.x)]|length == 1`, `count(.a[][]; .x) == 1`},
		{`[.items[]|select(.x|startswith("a"))]|length==1`, `count(.items[]; .x | startswith("a")) == 1`},
		{`.items|map(.ok)|all`, `all(.items[]; .ok)`},
		{`[.items[].ok]|any`, `any(.items[]; .ok)`},
		{`.items|map(select(.a))|any(.b == 1)`, `any(.items[]; .a and .b == 1)`},
		{`.items|map(select(.a or .c))|all(.b == 1)`, `all(.items[]; !(.a or .c) or .b == 1)`},
		{`.items|map(select(.a)|.b)|all(. == 1)`, `all(.items[]; !(.a) or (.b | . == 1))`},
		{`.items[].n == 1`, `any(.items[]; .n == 1)`},
		{`.items[]|.n == 1`, `any(.items[]; .n == 1)`},
		{`.items[]|select(.name=="x")|.status == "done"`, `any(.items[]; .name == "x" and .status == "done")`},
		{`.items[]|select(.name=="x").status == "done"`, `any(.items[]; .name == "x" and .status == "done")`},
		{`.items | .[] | select(.x) | .y == 1`, `any(.items[]; .x and .y == 1)`},
		{`.[]|select(.x)|.y`, `any(.[]; .x and .y)`},
		{`.items[]|select(.x)`, ``},
		{`.items[]|.x`, `any(.items[]; .x)`},
		{`[.items[]|.tags[] == "a"]|all`, `all(.items[].tags[]; . == "a")`},
		{`.items|map(.tags|index("a"))|all(. == true)`, ``}, // index gives a number
		{`.tags|index("") != null`, ``},
		{`.items|first|.x == 1`, `.items[0].x == 1`},
		{`.items|first.x == 1`, `.items[0].x == 1`},
		{`first(.items[]).x == 1`, `.items[0].x == 1`},
		{`nth(1; .items[]).n == 5`, ``},
		{`nth(0; .items[] | select(.n > 1)).n == 5`, ``},
		{`([.items[] | select(.ready)] | length) == (.items | length)`, `count(.items[]; .ready) == (.items | length)`},
		{`first(.items[]|select(.name=="x")).status == "done"`, `.items.#(name=="x").status == "done"`},
		{`first(.items[]|select(.name=="x"))|.status == "done"`, `.items.#(name=="x").status == "done"`},
		{`first(.items[]|select(.name=="5")).status == "done"`, ``},
		{`first(.items[]|select(.name=="a")|select(.name=="b")).status == "done"`, ``},
		{`first(.items[]|select(.name!="x")).status == "done"`, ``},
		{`[.items[]|select(.name=="x")][0].s == "a"`, `.items.#(name=="x").s == "a"`},
		{`.items|map(select(.name=="x"))|.[0].s == "a"`, `.items.#(name=="x").s == "a"`},
		{`.items|map(select(.name=="x"))|first|.s == "a"`, `.items.#(name=="x").s == "a"`},
		{`[.items[]|select(.name=="x")|.s]|first == "a"`, `.items.#(name=="x").s == "a"`},
		{`first(.[]|select(.name=="x")).s == "a"`, `.#(name=="x").s == "a"`}, // ..# would be JSON lines
		{`.|map(select(.name=="x"))|first|.s == "a"`, `.#(name=="x").s == "a"`},
		{`first(.[]).s == "a"`, `.[0].s == "a"`},
		{`.|first|.s == "a"`, `.[0].s == "a"`},
		{`select(.a == 1)`, `.a == 1`},
		{`.a|select(. == "x")`, ``},
		{`.a // 1 == 1`, ``},
		{`[.items[]|select(.x)]|length == .total`, ``}, // .total of the list
		{`first(.items[]|select(.name=="inf")).s == 1`, ``},
		{`first(.items[]|select(.name=="true")).s == 1`, ``},
		{`last(.items[]|select(.name=="x")).s == 1`, ``},
		{`[.items[].x]|unique == ["a"]`, ``},
		{`.a + 1 == 2`, ``},
		{`.items[].x`, `any(.items[]; .x)`},
		{`if .a then .b else .c end`, ``},
		{`.items|isempty|not`, ``},
		{`.a, .b`, ``},
	} {
		have := instead(test.src, expr.Compile)
		if have != test.want {
			t.Errorf("instead of %s: %q, want %q", test.src, have, test.want)
		}
		if have != "" {
			compileHint(t, test.src)
		}
	}
}

// compileHint compiles the expression that the hint at an expression shows.
func compileHint(t *testing.T, src string) {
	t.Helper()
	_, err := expr.Compile(src)
	e, _ := errors.AsType[*expr.Error](err)
	shown, _, _ := strings.Cut(strings.TrimPrefix(e.Hint, "write "), " if one of them")
	shown, _, _ = strings.Cut(shown, "; .")
	if strings.HasPrefix(e.Instead, shown) {
		shown = e.Instead
	}
	if _, err := expr.Compile(shown); err != nil {
		t.Errorf("the hint at %s: %s: %v", src, e.Hint, err)
	}
}

// instead is what the error of an expression says to write.
func instead(src string, compile func(string, ...expr.Option) (*expr.Expr, error)) string {
	_, err := compile(src)
	if e, ok := errors.AsType[*expr.Error](err); ok {
		return e.Instead
	}
	return ""
}

// TestInsteadMeansTheSame asks gojq the question as it was written, and poll what
// its error says to write instead: where both decide, they decide alike. jq does
// where it answers once.
func TestInsteadMeansTheSame(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	g := &jqForms{rand.New(rand.NewPCG(seed, 3))}
	programs := jqCorpus(t)
	for range max(*pairs/10, 1) {
		programs = append(programs, g.form())
	}
	translated, compared := 0, 0
	for _, src := range programs {
		x, err := expr.Compile(instead(src, expr.Compile))
		if err != nil {
			continue
		}
		translated++
		code := compileJQ(t, src)
		for range 20 {
			doc := g.document()
			want, decided := onlyAnswer(t, code, doc)
			have := x.Eval(&expr.Env{Doc: expr.NewDoc([]byte(doc))}).Tri
			if !decided || have == expr.Unknown {
				continue
			}
			compared++
			if have != truthOf(want) {
				t.Errorf("seed %d: %s says %v, and instead %s %v, on %s", seed, src, truthOf(want), x, have, doc)
			}
		}
	}
	t.Logf("%d of %d programs translated, %d answers compared", translated, len(programs), compared)
	if translated < len(programs)/4 || compared < 3*translated {
		t.Errorf("of %d programs %d were translated, %d answers compared", len(programs), translated, compared)
	}
}

// TestInsteadHasTheSameValue does so for values.
func TestInsteadHasTheSameValue(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	g := &jqForms{rand.New(rand.NewPCG(seed, 4))}
	compared := 0
	for _, src := range []string{
		`.items | first | .name`, `first(.items[]).n`,
		`[.items[] | select(.ok)] | length`, `.items | map(select(.n == 1)) | length`,
		`.items[] | select(.name == "a") | .n`, `.items[]|select(.name=="a").tags`, `first(.items[]|select(.name=="b")).n`,
		`[.items[]|select(.name=="b")][0].n`, `.items|map(select(.name=="b"))|first`,
	} {
		x, err := expr.CompileValue(instead(src, expr.CompileValue))
		if err != nil {
			t.Errorf("there is nothing instead of %s: %v", src, err)
			continue
		}
		code := compileJQ(t, src)
		for range 200 {
			doc := g.document()
			want, decided := onlyAnswer(t, code, doc)
			v := x.Eval(&expr.Env{Doc: expr.NewDoc([]byte(doc))}).Value()
			if !decided || v.Kind == expr.KindUnknown {
				continue
			}
			compared++
			var have any
			if v.Exists() {
				have = decode(t, v.Raw)
			}
			if !cmp.Equal(have, normal(t, want)) {
				t.Errorf("seed %d: %s is %v, and instead %s %v, on %s", seed, src, want, x, have, doc)
			}
		}
	}
	if compared < 200 {
		t.Errorf("%d values compared", compared)
	}
}

// jqCorpus are the refused expressions of the other tests that jq understands.
func jqCorpus(t *testing.T) []string {
	t.Helper()
	raw, err := os.ReadFile("testdata/errors.txt")
	if err != nil {
		t.Fatal(err)
	}
	var sources []string
	for entry := range strings.SplitSeq(string(raw), "\n\n") {
		src, _, _ := strings.Cut(entry, "\n")
		query, err := gojq.Parse(src)
		if err != nil {
			continue
		}
		if _, err := gojq.Compile(query); err == nil && instead(src, expr.Compile) != "" {
			sources = append(sources, src)
		}
	}
	return sources
}

func compileJQ(t *testing.T, src string) *gojq.Code {
	t.Helper()
	query, err := gojq.Parse(src)
	if err != nil {
		t.Fatalf("%s is not jq: %v", src, err)
	}
	code, err := gojq.Compile(query)
	if err != nil {
		t.Fatalf("%s is not jq: %v", src, err)
	}
	return code
}

// onlyAnswer is what a program answers; ok is false where it stops, is silent or
// answers more than once.
func onlyAnswer(t *testing.T, code *gojq.Code, doc string) (answer any, ok bool) {
	answers := code.Run(decode(t, doc))
	answer, ok = answers.Next()
	if _, stopped := answer.(error); stopped || !ok {
		return nil, false
	}
	_, more := answers.Next()
	return answer, !more
}

// jqForms makes jq programs that poll does not have, and documents for them.
type jqForms struct{ *rand.Rand }

func (g *jqForms) one(of ...string) string { return of[g.IntN(len(of))] }

// form makes a condition.
func (g *jqForms) form() string {
	switch g.IntN(12) {
	case 0, 1:
		return g.list() + g.one("|", " | ") + "length " + g.order() + " " + g.one("0", "1", "2")
	case 2:
		return "(" + g.list() + "|length) " + g.order() + g.one("1", ".total", "(.m|length)", "(.items|length)")
	case 3:
		return g.one("["+g.stream()+"]", g.one(".items", ".m", ".")+" | map("+g.condition()+")") + " | " +
			g.one("any", "all", "any("+g.condition()+")", "all | not", "any | not", "all(. == true)")
	case 4:
		return g.stream() + g.one(" | ", "|") + g.condition()
	case 5:
		return g.one("any", "all") + "(" + g.stream() + "; " + g.condition() + ")"
	case 6:
		return "isempty(" + g.stream() + ")" + g.one("", " | not", " and .ok", " or .total == 1")
	case 7:
		return g.one(".tags", ".name", ".m.tags", ".items") + g.one("|", " | ") + g.one("index", "rindex") + "(" + g.one(`"a"`, `"b"`, `""`) + ")" +
			g.one("", " != null", " == null", "|not")
	case 8:
		return g.one("first", "last") + "(" + g.stream() + ")" + g.one(".name", ".n", " | .name") + " " + g.one("==", "!=") + " " + g.one(`"a"`, `1`, "null")
	case 9:
		return g.one(".items", ".tags", ".") + " | " + g.one("first", "last", "nth(1)", "first", "reverse|first") + g.one("", " | .n", ".n", " | .name") + g.one(" == ", " != ") + g.one(`"a"`, "1", "null")
	case 10:
		return g.one(g.list()+" "+g.one("==", "!=")+" []", g.list()+g.one("[0]", " | .[0]", "|first")+g.one(".n == 1", `.name == "b"`),
			g.one(".items", ".m", ".tags")+"|"+g.one("keys", "to_entries", "sort", "reverse")+"|length "+g.order()+" 2")
	}
	return g.one("select("+g.condition()+")", "select("+g.condition()+")|"+g.condition(), ".m | select("+g.condition()+") | "+g.condition(),
		".total // 1 == 1", ".name // 1 == 1", ".n == 1 // .ok")
}

func (g *jqForms) order() string { return g.one("==", "!=", ">", ">=", "<", "<=") }

// list makes a list of what satisfies a condition.
func (g *jqForms) list() string {
	if g.IntN(2) == 0 {
		return "[" + g.stream() + "]"
	}
	return g.one(".items", ".m", ".", ".m.items") + g.one("|", " | ") + "map(" + g.one("select("+g.condition()+")", "select("+g.condition()+")|.n", ".n", ".") + ")"
}

// stream makes what yields elements.
func (g *jqForms) stream() string {
	return g.one(".items[]", ".items[]", ".m[]", ".[]", ".m.items[]", ".items[].n", ".items | .[]", ".items[].tags[]") +
		g.one("", " | .n", "|select("+g.condition()+")", "|select("+g.condition()+")", " | select("+g.condition()+") | .name",
			"|select("+g.condition()+")|select("+g.condition()+")", "|select("+g.condition()+").n", " | .tags | select("+g.condition()+")")
}

func (g *jqForms) condition() string {
	return g.one(".", ".ok", ".n == 1", ".n != 1", `.name == "a"`, `.name=="b"`, `.name != "a"`, ".ok and .n == 1", ".ok or .name == \"a\"",
		". == 1", ". != null", ". == null", ".ok | not", "length > 1", `.name | startswith("a")`, `.tags | index("a")`, `has("n")`, `type == "object"`,
		".n // 1 == 1", `.name // "a" | . == "a"`, `.tags | any(. == "a")`, "[.tags[] | select(. == \"a\")] | length == 1", ".n == 1 and .ok", `.name == "true"`)
}

// document makes an answer: a list or an object.
func (g *jqForms) document() string {
	doc := any(map[string]any{"items": g.items(), "m": g.object(), "tags": g.tags(), "name": g.scalar(), "total": g.IntN(3), "ok": g.IntN(2) == 0, "n": g.scalar()})
	switch g.IntN(6) {
	case 0:
		doc = g.items()
	case 1:
		doc.(map[string]any)["items"] = map[string]any{"p": g.object(), "q": g.object()}
	case 2:
		doc.(map[string]any)["m"] = map[string]any{"items": g.items(), "tags": g.tags()}
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func (g *jqForms) items() any {
	items := []any{}
	for range g.IntN(4) {
		if g.IntN(8) == 0 {
			items = append(items, g.scalar())
			continue
		}
		items = append(items, g.object())
	}
	return items
}

func (g *jqForms) object() map[string]any {
	object := map[string]any{}
	for key, value := range map[string]any{"n": g.scalar(), "name": g.scalar(), "ok": g.IntN(2) == 0, "tags": g.tags()} {
		if g.IntN(5) > 0 {
			object[key] = value
		}
	}
	return object
}

func (g *jqForms) tags() any {
	tags := []any{}
	for range g.IntN(3) {
		tags = append(tags, g.one("a", "b", "ab"))
	}
	return tags
}

func (g *jqForms) scalar() any {
	return []any{nil, true, false, 0, 1, 2, "a", "b", "ab", "", "true", "1"}[g.IntN(12)]
}
