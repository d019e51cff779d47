package expr_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/status/expr"
)

const explainDoc = `{"state":"pending","progress":"5","n":3,"t":true,"f":false,"z":null,"e":[],"o":{},"s":"","zero":0,
	"error":{"code":7},"a":1,"b":2,"tags":["x","y"],"long":"` + longText + `",
	"items":[{"name":"a","status":{"phase":"Running"},"n":1},{"name":"b","status":{"phase":"Running"},"n":2},{"name":"c","status":{"phase":"Pending"},"n":"3"}],
	"m":{"p":{"ok":true},"q":{"ok":false}}}`

const longText = "0123456789012345678901234567890123456789012345678901234567890123456789"

func TestExplain(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		src  string
		want string // lines joined by ;;
	}{
		// Comparisons.
		{`.state == "done"`, `.state is "pending", want == "done"`},
		{`.state == "pending"`, `.state is "pending"`},
		{`.state != "done"`, `.state is "pending" (!= "done")`},
		{`"done" == .state`, `.state is "pending", want == "done"`},
		{`5 < .n`, `.n is 3, want > 5`},
		{`.n >= 2`, `.n is 3 (>= 2)`},
		{`.a == .b`, `.a is 1, want == .b, which is 2`},
		{`.gone == "x"`, `.gone is missing, want == "x"`},
		{`.state in ["done","failed"]`, `.state is "pending", want in ["done","failed"]`},
		{`.tags contains "z"`, `.tags is ["x","y"], want contains "z"`},
		{`.state =~ "^d"`, `.state is "pending", want =~ "^d"`},
		{`.long == "x"`, `.long is "012345678901234567890123456789012345678901234567890123456789"..., want == "x"`},
		{`(.items | length) == 2`, `.items | length is 3, want == 2`},
		{`count(.items[]; .status.phase == "Running") >= 3`, `count(.items[]; .status.phase == "Running") is 2 (of 3 items), want >= 3`},
		// Negation.
		{`!(.state == "pending")`, `.state is "pending", want != "pending"`},
		{`not .n > 2`, `.n is 3, want <= 2`},
		{`!(.state in ["pending"])`, `.state is "pending", want not in ["pending"]`},
		{`!(.state == "x" || .n == 3)`, `.n is 3, want != 3`},
		{`.t | not`, `.t is true, want false`},
		{`!.error`, `.error is {"code":7}, want null, false or missing`},
		// Logic: only what decided.
		{`.state == "done" && .n == 3`, `.state is "pending", want == "done"`},
		{`.state == "done" && .n == 4`, `.state is "pending", want == "done";;.n is 3, want == 4`},
		{`.state == "done" || .n == 4`, `.state is "pending", want == "done";;.n is 3, want == 4`},
		{`.state == "done" || .n == 3`, `.n is 3`},
		{`.n == 3 && .t`, `.n is 3;;.t is true`},
		{`.progress >= 1 && .n == 3`, `.progress is "5" (a string): cannot be ordered against a number; write (.progress | tonumber) >= 1`},
		{`.n == 4 || .n == 4`, `.n is 3, want == 4`},
		// Conditions that are values.
		{`.f`, `.f is false, want true`},
		{`.gone`, `.gone is missing, want a value`},
		{`.z`, `.z is null, want a value`},
		{`.error`, `.error is {"code":7}`},
		{`items.#(status.phase=="Failed")`, `items.#(status.phase=="Failed"): no element`},
		{`!items.#(status.phase=="Failed")`, `items.#(status.phase=="Failed"): no element`},
		{`exists(.gone)`, `exists(.gone) is false, want true`},
		// Pipes.
		{`.state | test("^d")`, `.state is "pending", want test("^d")`},
		{`.state | length == 4`, `.state | length is 7, want == 4`},
		{`.error | .code == 8`, `.error | .code is 7, want == 8`},
		{`.n | test("x")`, `.n is 3 (a number): test("x") needs text`},
		// Unknown.
		{`.progress >= 100`, `.progress is "5" (a string): cannot be ordered against a number; write (.progress | tonumber) >= 100`},
		{`100 <= .progress`, `.progress is "5" (a string): cannot be ordered against a number; write 100 <= (.progress | tonumber)`},
		{`.progress < .n`, `.progress is "5" (a string): cannot be ordered against a number; write (.progress | tonumber) < .n`},
		{`.state startswith .n`, `.n is 3 (a number): startswith needs text; write .state startswith (.n | tostring)`},
		{`.state in .m`, `.m is {"p":{"ok":true},"q":{"ok":false}} (an object): in needs a list; @values makes one of the values of an object`},
		{`.gone | test("x")`, `.gone is missing: test("x") needs text`},
		{`.gone < 100`, `.gone is missing: cannot be ordered against a number`},
		{`.n =~ "3"`, `.n is 3 (a number): =~ needs text; write (.n | tostring) =~ "3"`},
		{`.n contains 3`, `.n is 3 (a number): contains needs text or a list`},
		{`.n in .state`, `.state is "pending" (a string): in needs a list`},
		{`.state.x == 1`, `.state.x is unknown: .state is a string, which has no field x`},
		{`.error[0] == 1`, `.error[0] is unknown: .error is an object, not a list, for [0]`},
		{`.m.# > 0`, `.m.# is unknown: .m is an object, not a list, for #; put @values before it for the values of the object`},
		{`(.state | tonumber) > 1`, `.state | tonumber is unknown: .state is a string, of which tonumber makes no number`},
		// any, all.
		{`all(.items[]; .status.phase == "Running")`, `all(.items[]; .status.phase == "Running"): false at [2]: .status.phase is "Pending" (3 items, 1 false)`},
		{`any(.items[]; .status.phase == "Failed")`, `any(.items[]; .status.phase == "Failed"): true for none of 3 items, at [0]: .status.phase is "Running"`},
		{`any(.items[]; .name == "b")`, `any(.items[]; .name == "b"): true at [1]: .name is "b"`},
		{`any(.items[]; .name == "b" or .n == 7)`, `any(.items[]; .name == "b" or .n == 7): true at [1]: .name is "b"`},
		{`any(.items[]; .name == $json.s or .n == $json.b)`, `any(.items[]; .name == $json.s or .n == $json.b): true at [1]: .n is 2`},
		{`all(.items[]; .name)`, `all(.items[]; .name): true for all of 3 items`},
		{`all(.items[]; .n > 0)`, `all(.items[]; .n > 0): unknown at [2]: .n is "3" (a string): cannot be ordered against a number; write (.n | tonumber) > 0 (3 items, 1 unknown)`},
		{`all(.m[]; .ok)`, `all(.m[]; .ok): false at ["q"]: .ok is false (2 items, 1 false)`},
		{`any(.gone[]; .x)`, `any(.gone[]; .x) is unknown: .gone is missing, not a list`},
		{`all(.e[]; .x)`, `all(.e[]; .x) is true: .e is empty`},
	} {
		x, err := expr.Compile(test.src)
		if err != nil {
			t.Errorf("%s: %v", test.src, err)
			continue
		}
		r := x.Eval(&expr.Env{Doc: expr.NewDoc([]byte(explainDoc))})
		want := strings.Split(test.want, ";;")
		if diff := cmp.Diff(want, r.Explain(5)); diff != "" {
			t.Errorf("%s is %v (-want +got):\n%s", test.src, r.Tri, diff)
		}
	}
}

func TestExplainUnreadable(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ body, want string }{
		{"", `.state is unknown: the body is empty`},
		{"<html>\n", `.state is unknown: the body is not JSON (line 1, column 1: "<html>")`},
		{"{\n \"é\": x}", `.state is unknown: the body is not JSON (line 2, column 7: "x}")`},
		{`{"state":"done"`, `.state is unknown: the body is not JSON (line 1, column 16: it ends too early)`},
		{"{\x00\"\x00", `.state is unknown: the body is not JSON (line 1, column 2: it is UTF-16 without a byte order mark)`},
		{"\x00{\x00}", `.state is unknown: the body is not JSON (line 1, column 1: it is UTF-16 without a byte order mark)`},
		{"Zo\x89", `.state is unknown: the body is not JSON (line 1, column 1: "Zo\x89")`},
		{"\x84", `.state is unknown: the body is not JSON (line 1, column 1: it is no UTF-8, but another code page)`},
		{`{"a":1}{"a":2}`, `.state is unknown: the body is not JSON (line 1, column 8: "{\"a\":2}")`},
		{"{}\n{}\n{}", `.state is unknown: the body holds 3 JSON documents: use ..0.name for the first, or ..#(name=="x")`},
		{strings.Repeat("[", 2000), `.state is unknown: the body is nested deeper than 1000 levels`},
	} {
		x := mustCompile(t, `.state == "done"`)
		have := x.Eval(&expr.Env{Doc: expr.NewDoc([]byte(test.body))}).Explain(5)
		if diff := cmp.Diff([]string{test.want}, have); diff != "" {
			t.Errorf("%.40q (-want +got):\n%s", test.body, diff)
		}
	}
	have := mustCompile(t, `.state == "done"`).Eval(&expr.Env{Doc: expr.Unreadable("the body was cut")}).Explain(1)
	if diff := cmp.Diff([]string{".state is unknown: the body was cut"}, have); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestExplainMax(t *testing.T) {
	t.Parallel()
	r := mustCompile(t, `.a == 1 || .b == 1 || .c == 1`).Eval(&expr.Env{Doc: expr.NewDoc([]byte(`{}`))})
	for max, want := range []int{0, 1, 2, 3, 3} {
		if have := len(r.Explain(max)); have != want {
			t.Errorf("Explain(%d) has %d lines, want %d", max, have, want)
		}
	}
}

func TestExplainHidesHeaders(t *testing.T) {
	t.Parallel()
	env := &expr.Env{Doc: expr.NewDoc([]byte(`{}`)), Header: http.Header{"X-Token": {"secret 5"}}}
	for _, src := range []string{
		`$header.X-Token == "x"`, `$header.X-Token != "x"`, `$header.X-Token`, `!$header.X-Token`, `$header.X-Token =~ "^x"`,
		`$header.X-Token > 5`, `"x" == $header.X-Token`, `.a == $header.X-Token`, `($header.X-Token | ascii_upcase) == "x"`,
		`($header.X-Token | tonumber) > 5`, `$header.X-Token | test("x")`, `$header.X-Token | length == 1`,
		`$header.X-Token | . == "x"`, `($header.X-Token // "y") == "x"`, `.a contains $header.X-Token`, `$header.X-Token in ["x"]`,
	} {
		r := mustCompile(t, src).Eval(env)
		words := strings.Join(append(r.Explain(9), r.Notes()...), "\n")
		if lower := strings.ToLower(words); strings.Contains(lower, "secret") || words == "" {
			t.Errorf("%s is explained by %q", src, words)
		}
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ src, want string }{
		{`.e`, `.e is an empty list, which is true`},
		{`.o`, `.o is an empty object, which is true`},
		{`.s`, `.s is an empty text, which is true`},
		{`.zero`, `.zero is 0, and any number is true, also 0: compare it`},
		{`.n`, `.n is 3, and any number is true, also 0: compare it`},
		{`.items.#`, `.items.# is 3, and any number is true, also 0: compare it`},
		{`.items | length`, `.items | length is 3, and any number is true, also 0: compare it`},
		{`.state == "x" or .n`, `.n is 3, and any number is true, also 0: compare it`},
		{`.n == 3 and .state`, ``},
		{`$body`, `$body is text, and any text is true: compare it`},
		{`$stdout | ascii_downcase`, `$stdout | ascii_downcase is text, and any text is true: compare it`},
		{`.state|tostring`, `.state|tostring is text, and any text is true: compare it`},
		{`(.state|type)`, `.state|type is text, and any text is true: compare it`},
		{`$attempt|tostring`, `$attempt|tostring is text, and any text is true: compare it`},
		{`$json | .state`, ``},
		{`.gone // .state`, ``},
		{`.state`, ``},
		{`$header.X`, ``},
		{`.gone != "pending"`, `.gone is missing, which is != "pending"`},
		{`!(.gone == "pending")`, `.gone is missing, which is != "pending"`},
		{`all(.e[]; .x)`, `all(.e[]; .x) is true because .e is empty`},
		{`.state != "done"`, ``},
		{`.state == "done"`, ``},
		{`.items`, ``},
		{`.n == 4 || .state`, ``},
	} {
		r := mustCompile(t, test.src).Eval(&expr.Env{
			Doc: expr.NewDoc([]byte(explainDoc)), Body: []byte("words"), Header: http.Header{"X": {"words"}}, Elapsed: time.Second,
		})
		if have := strings.Join(r.Notes(), ";;"); have != test.want {
			t.Errorf("%s: notes %q, want %q", test.src, have, test.want)
		}
	}
}

func mustCompile(t testing.TB, src string) *expr.Expr {
	t.Helper()
	x, err := expr.Compile(src)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return x
}

// Each level of nesting may cost one more evaluation, not twice as many.
func TestExplainDeep(t *testing.T) {
	t.Parallel()
	const depth = 100
	src := strings.Repeat("any(", depth) + ". == 2" + strings.Repeat(")", depth)
	doc := strings.Repeat("[", depth) + "1" + strings.Repeat("]", depth)
	r := mustCompile(t, src).Eval(&expr.Env{Doc: expr.NewDoc([]byte(doc))})
	if r.Tri != expr.False || len(r.Explain(5)) != 1 {
		t.Errorf("%v: %q", r.Tri, r.Explain(5))
	}
}
