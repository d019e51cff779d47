package expr_test

import (
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pollcli/poll/status/expr"
)

// TestLanguage holds what the two files of cases do not.
func TestLanguage(t *testing.T) {
	t.Parallel()
	const doc = `{"a":1,"s":"text","z":null,"e":[],"list":[3,1,2],"in":7,"length":8,"not":true,"k8s":{"a.io/ready":"true","x-1":1},
		"items":[{"n":1,"ok":true,"tags":["x"]},{"n":2,"ok":false,"tags":[]},{"n":3,"ok":true}],"m":{"p":{"v":1},"q":{"v":2}},
		"deep":[[1,2],[3]],"json":"{\"ok\":[true]}","big":12345678901234567890,"date":"2026-11-20T09:00:00Z"}`
	for _, test := range []struct{ src, want string }{
		// Paths.
		{`.["k8s"]["a.io/ready"] == "true"`, "true"},
		{`k8s.a\.io\/ready == "true"`, "true"},
		{`k8s["a.io/ready"] == 'true'`, "true"},
		{`.k8s['a.io/ready'] == "true"`, "true"},
		{`k8s.x-1 == 1`, "true"},
		{`.k8s["x-1"] == 1`, "true"},
		{`.items[ 1 ].n == 2`, "true"},
		{`.items[99999999999999999999] == null`, "true"},
		{`.items[-99999999999999999999] == null`, "true"},
		{`.items[-1].tags == null and .items[-2].tags == []`, "true"},
		{`.list[-1] == 2 and .list[-2] == 1 and .list[-3] == 3 and .list[-4] == null`, "true"},
		{`.deep[-1][-1] == 3 and .deep[-2][-1] == 2`, "true"},
		{`.items.1.n == 2 and items.1.n == 2 and items[1].n == 2`, "true"},
		{`.in == 7 and .length == 8 and .not`, "true"},
		{`it*.# == 3 and i?ems.# == 3`, "true"},
		{`* == 1`, "true"},
		{`$json.a == 1 and $json["a"] == 1 and ($json | .a == 1)`, "true"},
		{`any($json.items[]; .n == 3)`, "true"},
		{`.items.#.n == [1,2,3]`, "true"},
		{`.items.#(ok==true)#.n == [1,3]`, "true"},
		{`.items.#(ok==true)#|# == 2`, "true"},
		{`.items.#(ok==true)#[0].n == 1`, "true"},
		{`.items.#(ok==true)#|1.n == 3`, "true"},
		{`(.items.#.n) contains 2`, "true"},
		{`.items.#.tags.# == [1,0]`, "true"},
		{`.items.#(tags.#(=="x")).n == 1`, "true"},
		{`.m.@values.#.v == [1,2] and .m.@keys == ["p","q"]`, "true"},
		{`.json.@fromstr.ok.0`, "true"},
		{`(.json | fromjson | .ok[0])`, "true"},
		{`.a.x`, "unknown"},
		{`a.x`, "unknown"},
		{`.items.n`, "unknown"},
		{`.items.foo.# == 0`, "unknown"},
		{`.z.# == 0`, "false"},
		{`.a?.b? == null`, "unknown"},
		// Operators.
		{`.a == 1 and (.s == "x" or .z == null) and not (.s == "x")`, "true"},
		{`not not .a == 1`, "true"},
		{`!!.a`, "true"},
		{`! (.a == 2)`, "true"},
		{`not(.a == 2) and not(.s == "x")`, "true"},
		{`.a | not(. == 2)`, "true"},
		{`not .a == 2 and .s == "text"`, "true"},
		{`.a==1&&.s=="text"||.z`, "true"},
		{`.s startswith "te" and .s endswith 'xt' and .s contains "ex"`, "true"},
		{`.s startswith .s and .s contains .s and .s endswith .s`, "true"},
		{`.s startswith .a`, "unknown"},
		{`.list contains 1.0 and .list contains .a`, "true"},
		{`.deep contains [3]`, "true"},
		{`.deep contains 3`, "false"},
		{`.m contains "p"`, "unknown"},
		{`.a in .list and .a in[1] and null in [.z] or true`, "error"},
		{`.a in .list and .a in[1]`, "true"},
		{`.z in [null] and .gone in [null]`, "true"},
		{`.a in .gone`, "unknown"},
		{`.a in .m`, "unknown"},
		{`.s !~ "^x" and .s =~ '^t\w+$'`, "true"},
		{`.big == 12345678901234567890 and .big != 12345678901234567891 and .big < 1.2345678901234567891e19`, "true"},
		{`.date < "2026-11-21"`, "true"},
		{`1 < 2 and "a" < "b" and 2 > 1.5`, "true"},
		{`.m == {"q":{"v":2.0},"p":{"v":1}}`, "true"},
		{`.list == [3,1,2] and .list != [1,2,3]`, "true"},
		{`.gone == null and .z == .gone and .e != null`, "true"},
		{`.e == false`, "false"},
		{`(.gone // 5) == 5 and (.z // .gone // 6) == 6 and (.a // 7) == 1`, "true"},
		{`.gone // false`, "false"},
		{`(.a.x // 1) == 1`, "unknown"},
		{`.s | length > 3 and length < 5`, "true"},
		{`.s | (length == 4)`, "true"},
		{`.items | length == 3 and (.[0].n == 1)`, "true"},
		{`.a.x | true`, "unknown"},
		// Functions.
		{`(.s|length) == 4 and (.list|length) == 3 and (.m|length) == 2 and (.z|length) == 0 and (.gone|length) == 0`, "true"},
		{`(.gone|type) == "null" and (.a|type) == "number" and (.m|type) == "object"`, "true"},
		{`(.list|tostring) == "[3,1,2]" and (.z|tostring) == "null" and (.s|tostring) == "text"`, "true"},
		{`(.s|ascii_upcase) == "TEXT" and (.s|ascii_upcase|ascii_downcase) == "text"`, "true"},
		{`.s|test("^T";"i")`, "true"},
		{`.s|test("^T")`, "false"},
		{`.s | test("t") | not`, "false"},
		{`.s|not|not and . == false`, "true"},
		{`has("s") and (.m|has("p")) and (.list|has(2)) and (.list|has(3)|not) and (.list|has(-1)|not)`, "true"},
		{`.list|has("0")`, "unknown"},
		{`.a|IN(1,2) and (.s|IN("text"))`, "unknown"},
		{`(.a|IN(1,2)) and (.s|IN("text"))`, "true"},
		{`.list | contains(3)`, "true"},
		{`exists(.z) and !exists(.gone) and !exists(.s.x) and exists(.items[0].n) and exists(a)`, "true"},
		{`any(.items[]; .n == 2) and all(.items[]; .n) and count(.items[]; .ok) == 2`, "true"},
		{`all(.items[]; exists(.tags))`, "false"},
		{`all(.items[]; has("tags"))`, "false"},
		{`any(.m[]; .v == 2) and count(.m[]; .v > 0) == 2`, "true"},
		{`any(.deep[][]; . == 3) and all(.deep[][]; . > 0) and count(.deep[][]; . > 1) == 2`, "true"},
		{`any(.items[].tags[]; . == "x")`, "true"},
		{`all(.items[].tags[]; . == "x")`, "unknown"},
		{`count(.items[].tags[]; . == "x") == 1`, "unknown"},
		{`any(.gone[]; true)`, "unknown"},
		{`count(.gone[]; true) == 0`, "unknown"},
		{`any(.e[]; true)`, "false"},
		{`all(.e[]; false) and count(.e[]; true) == 0`, "true"},
		{`any(.items[]; .n > $json.a)`, "true"},
		{`any(.items[]; any($json.list[]; . == 3) and .n == 3)`, "true"},
		{`any(.items[]; .tags contains "x")`, "true"},
		{`.items|any(.n > 2)`, "true"},
		{`.list|any`, "true"},
		// Numbers, strings.
		{`5m == 300 and 1.5h == 5400s and 250ms == 0.25`, "true"},
		{`"\u00fc\ud83d\ude00\n\t\"" == 'ü😀` + "\n\t" + `"'`, "true"},
		{`'it\'s \d \\' == "it's \\d \\"`, "true"},
		// Variables that do not apply are missing.
		{`$exit == null and $status == null and $header.X == null and $stdout == null and $body == null`, "true"},
		{`$exit != 0`, "unknown"},
		{`$body =~ "x"`, "unknown"},
		{`$attempt == 0 and $elapsed == 0s and $isjson`, "true"},
	} {
		x, err := expr.Compile(test.src)
		have := "error"
		if err == nil {
			have = x.Eval(&expr.Env{Doc: expr.NewDoc([]byte(doc))}).Tri.String()
		}
		if have != test.want {
			t.Errorf("%s is %s (%v), want %s", test.src, have, err, test.want)
		}
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ src, doc, want string }{
		{`..# == 2 and ..0.a == 1 and ..1.a == 2 and ..2 == null`, "{\"a\":1}\n{\"a\":2}\n", "true"},
		{`..#(a==2).a == 2 and ..#.a == [1,2] and ..#(a>0)#|# == 2 and !..#(a==3)`, "{\"a\":1}\r\n\r\n{\"a\":2}", "true"},
		{`..#(a==2).a == 2`, "{\n \"a\": 1\n}\n{\n \"a\": 2\n}\n", "true"},
		{`..# == 1 and ..0.a == 1`, `{"a":1}`, "true"},
		{`..# == 3 and ..0 == 1 and ..1 == "x" and ..2[0] == true`, "1\n\"x\"\n[true]", "true"},
		{`.a == 1`, "{\"a\":1}\n{\"a\":2}\n", "unknown"},
		{`$isjson`, "{\"a\":1}\n{\"a\":2}\n", "false"},
		{`..#==2`, "{\"a\":1} {\"a\":2}", "unknown"},
		{`..#==2`, "{\"a\":1}\n{\"a\":", "unknown"},
		{`..#==0`, "", "unknown"},
		{`..0.a == 1`, "\ufeff{\"a\":1}\n2", "true"},
	} {
		r := mustCompile(t, test.src).Eval(&expr.Env{Doc: expr.NewDoc([]byte(test.doc))})
		if have := r.Tri.String(); have != test.want {
			t.Errorf("%s on %q is %s, want %s %q", test.src, test.doc, have, test.want, explain(r, 3))
		}
	}
}

func TestVariables(t *testing.T) {
	t.Parallel()
	exit, status := 3, 503
	command := &expr.Env{Exit: &exit, Stdout: []byte("ready\r\n\n"), Stderr: nil, Attempt: 2, Elapsed: 1500 * time.Millisecond}
	web := &expr.Env{Status: &status, Body: []byte("down\n"), Header: http.Header{"Retry-After": {"5", "6"}}, Elapsed: time.Hour + time.Nanosecond, Name: "the job"}
	for _, test := range []struct {
		env       *expr.Env
		src, want string
	}{
		{command, `$exit == 3 and $stdout == "ready" and $body == "ready" and $stderr == ""`, "true"},
		{command, `$attempt == 2 and $elapsed == 1.5 and $elapsed < 2s`, "true"},
		{command, `$status != 200`, "unknown"},
		{command, `.a == 1`, "unknown"},
		{command, `$isjson`, "false"},
		{web, `$status >= 500 and $body == "down" and $header["retry-after"] == "5" and $stdout == null and $stderr == null`, "true"},
		{web, `$elapsed == 3600.000000001`, "true"},
		{&expr.Env{Body: []byte("x\n")}, `$body == "x" and $stdout == "x" and $stderr == null`, "true"},
		{&expr.Env{Exit: &exit}, `$body == "" and $stdout == "" and $stderr == ""`, "true"},
		{&expr.Env{Status: &status}, `$body == "" and $stdout == null`, "true"},
		{web, `$elapsed > 1h`, "true"},
		{web, `$name == "the job"`, "true"},
		{command, `$name == null`, "true"},
		{nil, `$attempt == 0 and $header.X == null`, "true"},
	} {
		r := mustCompile(t, test.src).Eval(test.env)
		if have := r.Tri.String(); have != test.want {
			t.Errorf("%s is %s, want %s: %q", test.src, have, test.want, explain(r, 3))
		}
	}
}

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

func TestZeroResult(t *testing.T) {
	t.Parallel()
	var r expr.Result
	if r.Matched() || explain(r, 5) != nil || r.Explain().Notes != nil || r.Value().Exists() {
		t.Errorf("a zero result says %v, %q, %q, %+v", r.Matched(), explain(r, 5), r.Explain().Notes, r.Value())
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
