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
		{`.state != "done"`, `.state is "pending"`},
		{`"done" == .state`, `"done" is "done", want == .state, which is "pending"`},
		{`5 < .n`, `5 is 5, want < .n, which is 3`},
		{`.n >= 2`, `.n is 3`},
		{`.a == .b`, `.a is 1, want == .b, which is 2`},
		{`.gone == "x"`, `.gone is missing, want == "x"`},
		{`.state in ["done","failed"]`, `.state is "pending", want in ["done","failed"]`},
		{`.tags contains "z"`, `.tags is ["x","y"], want contains "z"`},
		{`.state =~ "^d"`, `.state is "pending", want =~ "^d"`},
		{`.long == "x"`, `.long is "012345678901234567890123456789012345678901234567890123456789"..., want == "x"`},
		{`(.items | length) == 2`, `.items | length is 3, want == 2`},
		{`count(.items[]; .status.phase == "Running") >= 3`, `count(.items[]; .status.phase == "Running") is 2, want >= 3`},
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
		{`.progress >= 1 && .n == 3`, `.progress is "5" (a string): >= needs two numbers, or two texts`},
		{`.n == 4 || .n == 4`, `.n is 3, want == 4`},
		// Conditions that are values.
		{`.f`, `.f is false, want true`},
		{`.gone`, `.gone is missing, want a value`},
		{`.z`, `.z is null, want a value`},
		{`.error`, `.error is {"code":7}`},
		{`items.#(status.phase=="Failed")`, `items.#(status.phase=="Failed") is missing, want a value`},
		{`!items.#(status.phase=="Failed")`, `items.#(status.phase=="Failed") is missing`},
		{`exists(.gone)`, `exists(.gone) is false, want true`},
		// Pipes.
		{`.state | test("^d")`, `.state is "pending", want =~ "^d"`},
		{`.state | length == 4`, `.state | length is 7, want == 4`},
		{`.error | .code == 8`, `.error | .code is 7, want == 8`},
		{`.n | test("x")`, `.n is 3 (a number): =~ needs text`},
		// Unknown.
		{`.progress >= 100`, `.progress is "5" (a string): >= needs two numbers, or two texts`},
		{`100 <= .progress`, `.progress is "5" (a string): <= needs two numbers, or two texts`},
		{`.progress < .n`, `.progress is "5" (a string): < needs two numbers, or two texts`},
		{`.state startswith .n`, `.n is 3 (a number): startswith needs text`},
		{`.state in .m`, `.m is {"p":{"ok":true},"q":{"ok":false}} (an object): in needs a list`},
		{`.gone | test("x")`, `.gone is missing: =~ needs text`},
		{`.gone < 100`, `.gone is missing: < needs two numbers, or two texts`},
		{`.n =~ "3"`, `.n is 3 (a number): =~ needs text`},
		{`.n contains 3`, `.n is 3 (a number): contains needs text or a list`},
		{`.n in .state`, `.state is "pending" (a string): in needs a list`},
		{`.state.x == 1`, `.state.x is unknown: .state is a string, and has no field x`},
		{`.error[0] == 1`, `.error[0] is unknown: .error is an object, and [0] needs a list`},
		{`.m.# > 0`, `.m.# is unknown: .m is an object, and # needs a list; put @values before it for the values of the object`},
		{`(.state | tonumber) > 1`, `.state | tonumber is unknown: .state is a string, and tonumber makes no number of it`},
		// any, all.
		{`all(.items[]; .status.phase == "Running")`, `all(.items[]; .status.phase == "Running") is false at [2]: .status.phase is "Pending", want == "Running" (1 of 3 items)`},
		{`any(.items[]; .status.phase == "Failed")`, `any(.items[]; .status.phase == "Failed") is false at [0]: .status.phase is "Running", want == "Failed" (3 of 3 items)`},
		{`any(.items[]; .name == "b")`, `any(.items[]; .name == "b") is true at [1]: .name is "b" (1 of 3 items)`},
		{`any(.items[]; .name == "b" or .n == 7)`, `any(.items[]; .name == "b" or .n == 7) is true at [1]: .name is "b" (1 of 3 items)`},
		{`any(.items[]; .name == $json.s or .n == $json.b)`, `any(.items[]; .name == $json.s or .n == $json.b) is true at [1]: .n is 2 (1 of 3 items)`},
		{`all(.items[]; .name)`, `all(.items[]; .name) is true at [0]: .name is "a" (3 of 3 items)`},
		{`all(.items[]; .n > 0)`, `all(.items[]; .n > 0) is unknown: [2]: .n is a string, and > needs two numbers, or two texts`},
		{`all(.m[]; .ok)`, `all(.m[]; .ok) is false at ["q"]: .ok is false, want true (1 of 2 items)`},
		{`any(.gone[]; .x)`, `any(.gone[]; .x) is unknown: .gone is missing, and is no list`},
		{`all(.e[]; .x)`, `all(.e[]; .x) is true: the list is empty`},
	} {
		x, err := expr.Compile(test.src)
		if err != nil {
			t.Errorf("%s: %v", test.src, err)
			continue
		}
		r := x.Eval(&expr.Env{Doc: expr.NewDoc([]byte(explainDoc))})
		want := strings.Split(test.want, ";;")
		if diff := cmp.Diff(want, explain(r, 5)); diff != "" {
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
		{"Zo\x89", `.state is unknown: the body is not JSON (line 1, column 1: "Zo\x89")`},
		{"\x84", `.state is unknown: the body is not JSON (line 1, column 1: it is no UTF-8)`},
		{`{"a":1}{"a":2}`, `.state is unknown: the body is not JSON (line 1, column 8: "{\"a\":2}")`},
		{"{}\n{}\n{}", `.state is unknown: the body holds 3 JSON documents: ..0.name is of the first, and .. is the list of them`},
		{strings.Repeat("[", 2000), `.state is unknown: the body is nested deeper than 1000 levels`},
	} {
		x := mustCompile(t, `.state == "done"`)
		have := explain(x.Eval(&expr.Env{Doc: expr.NewDoc([]byte(test.body))}), 5)
		if diff := cmp.Diff([]string{test.want}, have); diff != "" {
			t.Errorf("%.40q (-want +got):\n%s", test.body, diff)
		}
	}
	have := explain(mustCompile(t, `.state == "done"`).Eval(&expr.Env{Doc: expr.Unreadable("the body was cut")}), 1)
	if diff := cmp.Diff([]string{".state is unknown: the body was cut"}, have); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestExplainMax(t *testing.T) {
	t.Parallel()
	r := mustCompile(t, `.a == 1 || .b == 1 || .c == 1`).Eval(&expr.Env{Doc: expr.NewDoc([]byte(`{}`))})
	for max, want := range []int{0, 1, 2, 3, 3} {
		if have := len(explain(r, max)); have != want {
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
		words := strings.Join(append(explain(r, 9), r.Explain().Notes...), "\n")
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
		{`.n == 3 and .state`, `.state is text, and any text is true: compare it`},
		{`$body`, `$body is text, and any text is true: compare it`},
		{`$stdout | ascii_downcase`, `$stdout | ascii_downcase is text, and any text is true: compare it`},
		{`.state|tostring`, `.state|tostring is text, and any text is true: compare it`},
		{`(.state|type)`, `.state|type is text, and any text is true: compare it`},
		{`$attempt|tostring`, `$attempt|tostring is text, and any text is true: compare it`},
		{`$json | .state`, `$json | .state is text, and any text is true: compare it`},
		{`.gone // .state`, `.gone // .state is text, and any text is true: compare it`},
		{`.state`, `.state is text, and any text is true: compare it`},
		{`$header.X`, ``},
		{`.gone != "pending"`, ``},
		{`.n == 3 and .gone != "pending"`, `.gone is missing, which is != "pending"`},
		{`.n == 3 and !(.gone == "pending")`, `.gone is missing, which is != "pending"`},
		{`all(.e[]; .x)`, `all(.e[]; .x) is true because the list is empty`},
		{`.state != "done"`, ``},
		{`.state == "done"`, ``},
		{`.items`, ``},
		{`.n == 4 || .state`, `.state is text, and any text is true: compare it`},
	} {
		r := mustCompile(t, test.src).Eval(&expr.Env{
			Doc: expr.NewDoc([]byte(explainDoc)), Body: []byte("words"), Header: http.Header{"X": {"words"}}, Elapsed: time.Second,
		})
		if have := strings.Join(r.Explain().Notes, ";;"); have != test.want {
			t.Errorf("%s: notes %q, want %q", test.src, have, test.want)
		}
	}
}

// explain returns the first lines that explain a result.
func explain(r expr.Result, most int) []string {
	lines := r.Explain().Lines
	return lines[:min(most, len(lines))]
}

// hintsOf joins the first two hints on a result.
func hintsOf(r expr.Result, nearOnly bool) string {
	why := r.Explain()
	list := why.Near
	if !nearOnly {
		list = append(list, why.Hints...)
	}
	return strings.Join(list[:min(2, len(list))], ";;")
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
	if r.Tri != expr.False || len(explain(r, 5)) != 1 {
		t.Errorf("%v: %q", r.Tri, explain(r, 5))
	}
}
