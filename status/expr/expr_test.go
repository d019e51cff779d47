package expr_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/pollcli/poll/status/expr"
)

func TestLimits(t *testing.T) {
	nest := func(open, inner, end string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
	}
	for _, test := range []struct {
		src string
		ok  bool
	}{
		{nest("(", ".a", ")", 8000), true},
		{nest("(", ".a", "", 16000), false},
		{nest("!", ".a", "", 16000), true},
		{nest("not ", ".a", "", 4000), true},
		{nest("any(", ".a", ")", 3000), true},
		{".a == " + nest("[", "1", "]", 1000), true},
		{".a == " + nest("[", "1", "]", 1001), false},
		{nest("a.#(", "b", ")", 3000), true},
		{".a" + nest(" // .a", "", "", 2000), true},
		{nest(".a | ", ".a", "", 1000), true},
		{nest(".a && ", ".a", "", 1000), true},
		{".a" + strings.Repeat(" ", 16<<10-2), true},
		{".a" + strings.Repeat(" ", 16<<10-1), false},
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

// TestBodies evaluates bodies that other programs may not survive.
func TestBodies(t *testing.T) {
	big := 10 << 20
	for _, test := range []struct{ name, body, src, want string }{
		{"10 MB of [", strings.Repeat("[", big), `.state != "pending"`, "unknown"},
		{"10 MB of {\"a\":", strings.Repeat(`{"a":`, big/5), `.state != "pending"`, "unknown"},
		{"1000 objects", strings.Repeat(`{"a":`, 1000) + "1" + strings.Repeat("}", 1000), `.a.a.a.a and exists(.a.b) == false`, "true"},
		{"1001 objects", strings.Repeat(`{"a":`, 1001) + "1" + strings.Repeat("}", 1001), `.a`, "unknown"},
		{"1000 lists", strings.Repeat("[", 1000) + strings.Repeat("]", 1000), `. == .[0] or .@flatten.#.# == [1]`, "true"},
		{"1500 lists that are closed", `{"a":1,"b":[` + strings.Repeat("[],", 1500) + `0]}`, `.a == 1`, "true"},
		{"1500 brackets in a text", `{"a":1,"b":"\\\"` + strings.Repeat("[", 1500) + `"}`, `.a == 1`, "true"},
		{"deep lists compared", strings.Repeat("[", 900) + `"` + strings.Repeat("x", 1<<20) + `"` + strings.Repeat("]", 900), `.[0] == .`, "false"},
		{"1 MB of text", `"` + strings.Repeat("x", big/10) + `"`, `. =~ "^x+$" and (. | length) == 1048576`, "true"},
		{"10 MB of blanks", strings.Repeat(" ", big), `.a`, "unknown"},
		{"10 MB of digits", strings.Repeat("7", big), `. > 1e300`, "true"},
		{"10 MB of digits after the point", "0." + strings.Repeat("7", big), `. > 0.7777777777777777777 and . < 0.777777777777777778`, "true"},
		{"512 KB of quotes", `"` + strings.Repeat(`\"`, big/40) + `"`, `.@tostr|@tostr|@tostr|@tostr|@tostr|@tostr|@tostr|@tostr == 1`, "unknown"},
		{"many members", `{"a":1` + strings.Repeat(`,"a":1`, 1<<17) + `}`, `(. | length) == 1`, "true"},
		{"invalid UTF-8", "{\"a\":\"\xff\xfe\",\"\xff\":1}", `.a != "x" and (.a | length) == 2`, "true"},
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

// A long evaluation ends with its context. A short evaluation ignores the context.
func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var members strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&members, `"%d":1,`, i)
	}
	doc := `{"a":[` + strings.Repeat("1,", 5000) + `1],"o":{` + members.String() + `"x":1},"few":[1,2,3],"text":"` + strings.Repeat("x", 1<<19) + `"}`
	env := &expr.Env{Doc: expr.NewDoc([]byte(doc)), Context: ctx}
	env.Body = []byte(strings.Repeat("a", 1<<20))
	for condition, want := range map[string]bool{"all(.a[]; . == 1)": true, ".a[-1] == 1": true, ".a[4000] == 1": false, ".a | length == 5001": true, `$body =~ "(a*)*b$"`: true, "1 in .a": false, ".a == []": false, "2 in .a": true, ".a.#(>1)": true,
		`.o == {"x":2}`: true, "any(.few[]; $json.few == 4)": true, "any(.few[]; . == 4)": false,
	} {
		have := mustCompile(t, condition).Eval(env)
		if have.Abandoned() != want || want && have.Tri != expr.Unknown {
			t.Errorf("%s: abandoned %t, %s", condition, have.Abandoned(), have.Tri)
		}
	}
}

// Every variable can be named, in both languages, and the hint names it.
func TestEachVariableIsNamed(t *testing.T) {
	for _, name := range []string{"exit", "status", "body", "stdout", "stderr", "error", "attempt", "elapsed", "unchanged", "gone", "isjson", "event", "name"} {
		mustCompile(t, "$"+name+" != 7")
		mustCompile(t, "jq: $"+name+" != 7")
		_, err := expr.Compile("$nothing == 1")
		if e, ok := err.(*expr.Error); !ok || !strings.Contains(e.Hint, "$"+name) {
			t.Errorf("%v does not hint at $%s", err, name)
		}
	}
}

// Names are untrusted text: they are made harmless, cut, and not compared without
// bound; values are never shown.
func TestHintsHostile(t *testing.T) {
	var many strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&many, `,"%s%d":1`, strings.Repeat("n", 50), i)
	}
	long := strings.Repeat("l", 41)
	for _, test := range []struct{ src, doc, want string }{
		{`.x == 1`, `{"` + long + `":"secret"}`, "the document has: " + long[:40] + "..."},
		{`.` + long[:39] + `m == 1`, `{"` + long + `":1,"` + long[:40] + `":"secret"}`, "did you mean ." + long[:40] + "?"},
		{`.state == 1`, `{"a":1` + many.String() + `,"state2":1}`, "the document has: a, " + strings.Repeat("n", 40) + "..., " + strings.Repeat("n", 40) + "..., " + strings.Repeat("n", 40) + "..., " + strings.Repeat("n", 40) + "..., ..."},
		{`.` + strings.ToUpper(long) + ` == 1`, `{"` + long + `":"secret"}`, "the document has: " + long[:40] + "..."},
	} {
		have := hintsOf(mustCompile(t, test.src).Eval(&expr.Env{Doc: expr.NewDoc([]byte(test.doc))}))
		if have != test.want {
			t.Errorf("%s: hints %q, want %q", test.src, have, test.want)
		}
	}
	env := &expr.Env{Doc: expr.NewDoc([]byte(`{}`)), Header: http.Header{"X": {`{"token":1}`}}}
	if have := hintsOf(mustCompile(t, `$header.X | fromjson | .Token == 2`).Eval(env)); have != "" {
		t.Errorf("a header is shown: %q", have)
	}
}

// Several fields of one name have one value; a value that is repeated counts once.
func TestSeveralFields(t *testing.T) {
	env := &expr.Env{Doc: expr.NewDoc([]byte(`{}`)), Header: http.Header{"X-A": {"done", "running"}, "X-B": {"done", "done"}}}
	for _, condition := range []string{`$header.X-A == "done, running" and $header.X-B == "done"`, `jq: $header["x-a"] == "done, running" and $header["X-B"] == "done"`} {
		if r := mustCompile(t, condition).Eval(env); !r.Matched() {
			t.Errorf("%s is %v: %v", condition, r.Tri, r.Explain().Lines)
		}
	}
}

// Reads reports the variables that an expression reads.
func TestReads(t *testing.T) {
	const all = ". object json [] exit status header body stdout stderr error attempt elapsed unchanged gone isjson event name ENV"
	for src, want := range map[string]string{
		`.a == 1`:                       ". object",
		`a == 1`:                        ". object",
		`$exit != 0 || has("a")`:        ". object exit",
		`exists($header.X)`:             "header",
		`$stdout | fromjson | any(.a)`:  "[] stdout",
		`!$isjson`:                      "isjson",
		`all(.a[]; $json.b == .c)`:      ". object json []",
		`any($json.a[]; exists(.b))`:    ". json []",
		`exists($json.a)`:               ". json",
		`any($json.a[]; any(.b[]; .c))`: ". json []",
		`.a | any`:                      ". object []",
		`..0.a == .b`:                   ". object json",
		`"a" == $ENV.SHA`:               "ENV",
		`true`:                          "",

		`jq: $json.a == 1`:                         ". json",
		`jq: $gone or .until < now`:                ". object gone",
		`jq: $status == 200`:                       "status",
		`jq: $stderr | test("x") and true`:         "stderr",
		`jq: [$exit, {$attempt}, "\($body)"] == 1`: ". object exit body attempt",
		`jq: $body[.a:] == "x"`:                    ". object body",
		`jq: $isjson | not`:                        "isjson",
		`jq: -$attempt < -$elapsed`:                "attempt elapsed",
		`jq: .a == $ENV.SHA`:                       ". object ENV",
		`jq: 1 == (2 | length)`:                    "",
	} {
		x, err := expr.Compile(src, environ())
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		var have []string
		for _, name := range strings.Fields(all) {
			if x.Reads(name) {
				have = append(have, name)
			}
		}
		if strings.Join(have, " ") != want || x.Reads() != (strings.Trim(want, "ENV") != "") || x.Reads(strings.Fields(all)...) != (want != "") {
			t.Errorf("%s: have %q, want %q", src, have, want)
		}
	}
}

// A variable that does not apply is null. After a response, an output that was not captured is an empty string.
func TestWithoutVariables(t *testing.T) {
	for src, env := range map[string]*expr.Env{
		`$exit == null and $status == null and $header.X == null and $stdout == null and $body == null`: {Doc: expr.NewDoc([]byte("{}"))},
		`$attempt == 0 and $header.X == null`:                 nil,
		`$body == "x" and $stdout == "x" and $stderr == null`: {Body: []byte("x\n")},
		`$body == "" and $stdout == "" and $stderr == ""`:     {Exit: new(3)},
		`$body == "" and $stdout == null and $name == null`:   {Status: new(503)},
	} {
		if r := mustCompile(t, src).Eval(env); r.Tri != expr.True {
			t.Errorf("%s is %s: %q", src, r.Tri, explain(r, 3))
		}
	}
	var zero expr.Result
	if zero.Matched() || explain(zero, 5) != nil || hintsOf(zero) != "" || zero.Value().Exists() {
		t.Errorf("a zero result says %v, %+v, %+v", zero.Matched(), zero.Explain(), zero.Value())
	}
}

func hintsOf(r expr.Result) string {
	near, others := r.Explain().Hints()
	return strings.Join(append(near, others...), ";;")
}

// Requires returns the values that .kind can have if the condition is true; no values if .kind is not
// restricted.
func TestRequires(t *testing.T) {
	for source, want := range map[string]string{
		`.kind == "Pod"`: "Pod",
		`.a == 1 and (.kind in ["Pod", "Job"] and .b)`:             "Pod Job",
		`.kind == "Pod" or .a == 1`:                                "",
		`not .kind == "Pod"`:                                       "",
		`.kind != "Pod"`:                                           "",
		`.kind == 1`:                                               "",
		`.kind in ["Pod", 1]`:                                      "",
		`.kind in ["Pod", null]`:                                   "",
		`.kind == .a`:                                              "",
		`.spec.kind == "Pod"`:                                      "",
		`(.spec | .kind == "Pod") and .a`:                          "",
		`any(.items[]; .kind == "Pod")`:                            "",
		`jq: .kind == "Pod"`:                                       "",
		`(.kind == "Pod" or .a) and .kind in ["Job"] and .b`:       "Job",
		`(.kind // "Pod") == "Pod" and .apiVersion == "v1"`:        "",
		`.apiVersion startswith "apps/" and .kind == "ReplicaSet"`: "ReplicaSet",
	} {
		if have := strings.Join(mustCompile(t, source).Requires(".kind"), " "); have != want {
			t.Errorf("%s: have %q, want %q", source, have, want)
		}
	}
}
