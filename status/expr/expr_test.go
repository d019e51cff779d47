package expr_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pollcli/poll/status/expr"
)

func TestValue(t *testing.T) {
	t.Parallel()
	const doc = `{"s":"a\nb","n":1.50,"t":true,"z":null,"l":[1, {"a":2}],"o":{"k":"v"},"x":[{"n":"p"},{"n":"q"}]}`
	for _, test := range []struct {
		src, text string
		want      expr.Value
	}{
		{`.s`, "a\nb", expr.Value{Kind: expr.KindString, Raw: `"a\nb"`}},
		{`.n`, "1.50", expr.Value{Kind: expr.KindNumber, Raw: "1.50"}},
		{`.t`, "true", expr.Value{Kind: expr.KindBool, Raw: "true"}},
		{`.z`, "null", expr.Value{Kind: expr.KindNull, Raw: "null"}},
		{`.l`, `[1, {"a":2}]`, expr.Value{Kind: expr.KindArray, Raw: `[1, {"a":2}]`}},
		{`.o`, `{"k":"v"}`, expr.Value{Kind: expr.KindObject, Raw: `{"k":"v"}`}},
		{`x.#.n`, `["p","q"]`, expr.Value{Kind: expr.KindArray, Raw: `["p","q"]`}},
		{`x.#(n=="q")#.n`, `["q"]`, expr.Value{Kind: expr.KindArray, Raw: `["q"]`}},
		{`.s | ascii_upcase`, "A\nB", expr.Value{Kind: expr.KindString, Raw: `"A\nB"`}},
		{`.n > 1`, "true", expr.Value{Kind: expr.KindBool, Raw: "true"}},
		{`count(.x[]; .n)`, "2", expr.Value{Kind: expr.KindNumber, Raw: "2"}},
		{`$attempt`, "0", expr.Value{Kind: expr.KindNumber, Raw: "0"}},
		{`.gone // "none"`, "none", expr.Value{Kind: expr.KindString, Raw: `"none"`}},
		{`.gone`, "", expr.Value{Kind: expr.KindMissing, Reason: ".gone is missing"}},
		{`.s.x`, "", expr.Value{Reason: ".s is a string, and has no field x"}},
		{`.s < 1`, "", expr.Value{Reason: ".s is a string, and < needs two numbers, or two texts"}},
	} {
		x, err := expr.CompileValue(test.src)
		if err != nil {
			t.Errorf("%s: %v", test.src, err)
			continue
		}
		have := x.Eval(&expr.Env{Doc: expr.NewDoc([]byte(doc))}).Value()
		if diff := cmp.Diff(test.want, have, cmpopts.IgnoreUnexported(expr.Value{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.src, diff)
		}
		if have.Text() != test.text {
			t.Errorf("%s: text %q, want %q", test.src, have.Text(), test.text)
		}
		if have.Exists() != (test.want.Kind > expr.KindMissing) {
			t.Errorf("%s: exists %v", test.src, have.Exists())
		}
	}
}

func TestUses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		src  string
		want expr.Uses
	}{
		{`.a == 1`, expr.UsesJSON},
		{`a == 1`, expr.UsesJSON},
		{`..# == 1`, expr.UsesJSON | expr.UsesWhole},
		{`$json.a == 1`, expr.UsesJSON | expr.UsesWhole},
		{`any(.a[]; .b == $json.c)`, expr.UsesJSON | expr.UsesWhole | expr.UsesEach},
		{`$gone and .a == 1`, expr.UsesJSON | expr.UsesGone},
		{`has("a")`, expr.UsesJSON},
		{`any(.a[]; .b)`, expr.UsesJSON | expr.UsesEach},
		{`any(.b)`, expr.UsesJSON | expr.UsesEach},
		{`exists(.a)`, expr.UsesJSON},
		{`$exit != 0`, expr.UsesExit},
		{`$exit != 0 || .a`, expr.UsesExit | expr.UsesJSON},
		{`$status == 404`, expr.UsesStatus},
		{`$header.X == "1"`, expr.UsesHeader},
		{`$body =~ "x"`, expr.UsesBody},
		{`$stdout | fromjson | .a == 1`, expr.UsesStdout},
		{`$stdout | fromjson | any(.a)`, expr.UsesStdout | expr.UsesEach},
		{`$stdout | fromjson | .a == $json.a`, expr.UsesStdout | expr.UsesJSON | expr.UsesWhole},
		{`$stderr contains "x"`, expr.UsesStderr},
		{`$attempt > 3 and $elapsed > 5m`, expr.UsesAttempt | expr.UsesElapsed},
		{`!$isjson`, expr.UsesIsJSON},
		{`exists($header.X)`, expr.UsesHeader},
		{`true`, 0},
	} {
		have := mustCompile(t, test.src).Uses()
		if diff := cmp.Diff(test.want, have); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.src, diff)
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	nest := func(open, inner, end string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
	}
	for _, test := range []struct {
		src string
		ok  bool
	}{
		{nest("(", ".a", ")", 200), true},
		{nest("(", ".a", ")", 201), false},
		{nest("!", ".a", "", 200), true},
		{nest("!", ".a", "", 201), false},
		{nest("not ", ".a", "", 201), false},
		{nest("any(", ".a", ")", 200), true},
		{nest("any(", ".a", ")", 201), false},
		{".a == " + nest("[", "1", "]", 200), true},
		{".a == " + nest("[", "1", "]", 201), false},
		{nest("a.#(", "b", ")", 200), true},
		{nest("a.#(", "b", ")", 201), false},
		{".a" + nest(" // .a", "", "", 200), true},
		{".a" + nest(" // .a", "", "", 201), false},
		{nest(".a | ", ".a", "", 1000), true},
		{nest(".a && ", ".a", "", 1000), true},
		{".a" + strings.Repeat(" ", 16<<10-2), true},
		{".a" + strings.Repeat(" ", 16<<10-1), false},
		{".@this" + nest("|@this", "", "", 7), true},
		{".@this" + nest("|@this", "", "", 8), false},
	} {
		x, err := expr.Compile(test.src)
		if (err == nil) != test.ok {
			t.Errorf("%.20s... of %d bytes: %v", test.src, len(test.src), err)
		}
		if err == nil {
			x.Eval(&expr.Env{Doc: expr.NewDoc([]byte(`{"a":1}`))}).Explain()
		}
	}
}

// TestBodies evaluates bodies that do harm to others.
func TestBodies(t *testing.T) {
	t.Parallel()
	big := 10 << 20
	for _, test := range []struct{ name, body, src, want string }{
		{"10 MB of [", strings.Repeat("[", big), `.state != "pending"`, "unknown"},
		{"10 MB of {\"a\":", strings.Repeat(`{"a":`, big/5), `.state != "pending"`, "unknown"},
		{"1000 objects", strings.Repeat(`{"a":`, 1000) + "1" + strings.Repeat("}", 1000), `.a.a.a.a and exists(.a.b) == false`, "true"},
		{"1001 objects", strings.Repeat(`{"a":`, 1001) + "1" + strings.Repeat("}", 1001), `.a`, "unknown"},
		{"1000 lists", strings.Repeat("[", 1000) + strings.Repeat("]", 1000), `. == .[0] or .@flatten:{"deep":true} == [] `, "true"},
		{"deep lists compared", strings.Repeat("[", 900) + `"` + strings.Repeat("x", 1<<20) + `"` + strings.Repeat("]", 900), `.[0] == .`, "false"},
		{"1 MB of text", `"` + strings.Repeat("x", big/10) + `"`, `. =~ "^x+$" and (. | length) == 1048576`, "true"},
		{"10 MB of blanks", strings.Repeat(" ", big), `.a`, "unknown"},
		{"1 MB of digits", strings.Repeat("7", big/10), `. > 1e1048575 and . < 1e1048576`, "true"},
		{"512 KB of quotes", `"` + strings.Repeat(`\"`, big/40) + `"`, `.@tostr|@tostr|@tostr|@tostr|@tostr|@tostr|@tostr|@tostr == 1`, "unknown"},
		{"many members", `{"a":1` + strings.Repeat(`,"a":1`, 1<<17) + `}`, `(. | length) == 1`, "true"},
		{"invalid UTF-8", "{\"a\":\"\xff\xfe\",\"\xff\":1}", `.a != "x" and .a != .b and (.a | length) == 2`, "true"},
		{"a lone surrogate", `{"a":"\ud800","b":"\ud800\u0041"}`, `.a == "\ufffd"`, "true"},
		{"NUL", "{\"a\":1}\x00", `.a`, "unknown"},
	} {
		r := mustCompile(t, test.src).Eval(&expr.Env{Doc: expr.NewDoc([]byte(test.body))})
		if have := r.Tri.String(); have != test.want {
			t.Errorf("%s: %s is %s, want %s: %q", test.name, test.src, have, test.want, explain(r, 3))
		}
		for _, line := range explain(r, 5) {
			if len(line) > 500 {
				t.Errorf("%s: a line of %d bytes", test.name, len(line))
			}
		}
	}
}

func TestConcurrent(t *testing.T) {
	t.Parallel()
	rules := []*expr.Expr{
		mustCompile(t, `any(.items[]; .n == 2 and (.s | test("^x")))`),
		mustCompile(t, `items.#(n==2).s =~ "^x" and $body contains "items"`),
	}
	body := []byte(`{"items":[{"n":1},{"n":2,"s":"xy"}]}`)
	env := &expr.Env{Doc: expr.NewDoc(body), Body: body}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 200 {
				for _, x := range rules {
					if r := x.Eval(env); !r.Matched() || len(explain(r, 2)) == 0 {
						t.Errorf("%s is %v", x, r.Tri)
					}
				}
			}
		})
	}
	group.Wait()
}

func TestErrorText(t *testing.T) {
	t.Parallel()
	_, err := expr.Compile(`.état == done`)
	e, ok := errors.AsType[*expr.Error](err)
	if !ok {
		t.Fatalf("%v is no *Error", err)
	}
	want := expr.Error{
		Source: `.état == done`, Offset: 10, Column: 10,
		Message: "done is not quoted", Hint: `write "done" for text, .done for the JSON field; did the shell take the quotes away? put the whole expression in single quotes`,
	}
	if diff := cmp.Diff(want, *e); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if have, want := err.Error(), "column 10: done is not quoted"; have != want {
		t.Errorf("%q, want %q", have, want)
	}
}
