package expr_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pollcli/poll/status/expr"
)

func TestJQ(t *testing.T) {
	t.Parallel()
	const doc = `{"state":"done","n":9007199254740993,"a":1,"a":2,"items":[{"s":"x","n":1},{"s":"y","n":2}],"none":null}`
	ok, bad := 200, 503
	answered := &expr.Env{
		Doc: expr.NewDoc([]byte(doc)), Body: []byte(doc), Status: &ok, Attempt: 3, Elapsed: 90 * time.Second,
		Header: http.Header{"Retry-After": {"s3cret", "2"}},
	}
	page := &expr.Env{Doc: expr.NewDoc([]byte("<html>")), Body: []byte("<html>\n"), Status: &bad}
	lines := &expr.Env{Doc: expr.NewDoc([]byte("{\"state\":\"done\"}\n{}\n"))}
	refused := &expr.Env{Doc: expr.Unreadable("there was no answer (connection refused)"), Error: "refused"}
	for _, test := range []struct {
		env  *expr.Env
		src  string
		want expr.Tri
		why  string
	}{
		{answered, `jq: .state == "done"`, expr.True, `jq: .state == "done" is true`},
		{answered, ` jq:[.items[]|select(.s!="x")]|length == 0`, expr.False, `jq:[.items[]|select(.s!="x")]|length == 0 is false`},
		{answered, `jq: .items | map(.n) | add > 2 and $status == 200`, expr.True, `jq: .items | map(.n) | add > 2 and $status == 200 is true`},
		{answered, `jq: any(.items[]; .s == "z")`, expr.False, `jq: any(.items[]; .s == "z") is false`},
		{answered, `jq: .n == 9007199254740993 and .n != 9007199254740992`, expr.True, `jq: .n == 9007199254740993 and .n != 9007199254740992 is true`},
		{answered, `jq: .a == 2`, expr.True, `jq: .a == 2 is true`}, // the last of duplicate keys
		{answered, `jq: $json.state == "done" and ($body | fromjson.state) == "done" and $isjson`, expr.True, ``},
		{answered, `jq: $attempt == 3 and $elapsed == 90 and $error == null and $exit == null and $stderr == null`, expr.True, ``},
		{answered, `jq: $header["retry-after"] == "s3cret" and $header["X"] == null`, expr.True, ``},
		{answered, `jq: $header["Retry-After"] == "1"`, expr.False, `jq: $header["Retry-After"] == "1" is false`},
		{answered, `jq: $header["Retry-After"] | tonumber > 1`, expr.Unknown,
			`jq: $header["Retry-After"] | tonumber > 1 is unknown: it stopped with an error, which is not shown: it may hold a variable of the environment, or a header`},
		// Neither true nor false.
		{answered, `jq: .n + 1`, expr.Unknown, `jq: .n + 1 is unknown: it gives a number, and only true and false decide; compare it, with != null if it is enough that it is there`},
		{answered, `jq: .none`, expr.Unknown, `jq: .none is unknown: it gives null, and only true and false decide; compare it, with != null if it is enough that it is there`},
		{answered, `jq: .state`, expr.Unknown, `jq: .state is unknown: it gives a string, and only true and false decide; compare it, with != null if it is enough that it is there`},
		{answered, `jq: empty`, expr.Unknown, `jq: empty is unknown: it gives no value`},
		{answered, `jq: .items[].s == "x"`, expr.Unknown, `jq: .items[].s == "x" is unknown: it gives several values; any(...), all(...), first(...) or [...] make one of them`},
		{answered, `jq: .state.x == 1`, expr.Unknown, `jq: .state.x == 1 is unknown: it stopped: expected an object but got: string ("done")`},
		{answered, `jq: (true, error("x")) == true`, expr.Unknown, `jq: (true, error("x")) == true is unknown: it stopped: error: x`},
		{answered, `jq: halt`, expr.Unknown, `jq: halt is unknown: it stopped: halt error: null`},
		{answered, `jq: try error("x") catch . == "x"`, expr.True, ``},
		// What there is not.
		{page, `jq: .state != "pending"`, expr.Unknown, `jq: .state != "pending" is unknown: the body is not JSON (line 1, column 1: "<html>")`},
		{page, `jq: (.state // "x") != "pending"`, expr.Unknown, ``},
		{page, `jq: try (.state != "x") catch true`, expr.Unknown, ``},
		{page, `jq: $status == 503 or .state == "done"`, expr.Unknown, `jq: $status == 503 or .state == "done" is unknown: the body is not JSON (line 1, column 1: "<html>")`},
		{page, `jq: $status == 503 and $body == "<html>"`, expr.True, ``},
		{page, `jq: $json == null`, expr.Unknown, ``},
		{page, `jq: $body | test("html") and ($isjson | not)`, expr.True, ``},
		{lines, `jq: .state == "done"`, expr.Unknown, ``},
		{refused, `jq: $error == "refused"`, expr.True, `jq: $error == "refused" is true`},
		{refused, `jq: $status != 503`, expr.Unknown, `jq: $status != 503 is unknown: there was no answer (connection refused)`},
		{refused, `jq: $header["X"] == null`, expr.Unknown, ``},
		{refused, `jq: .gone or $error == "refused"`, expr.Unknown, ``},
	} {
		x, err := expr.Compile(test.src)
		if err != nil {
			t.Errorf("%s: %v", test.src, err)
			continue
		}
		r := x.Eval(test.env)
		why := strings.Join(explain(r, 3), "\n")
		if r.Tri != test.want || test.why != "" && why != test.why {
			t.Errorf("%s: have %s (%s), want %s (%s)", test.src, r.Tri, why, test.want, test.why)
		}
		if strings.Contains(why, "s3cret") && !strings.Contains(test.src, "s3cret") {
			t.Errorf("%s: a header is shown: %s", test.src, why)
		}
		if len(r.Explain().Near) > 0 || len(r.Explain().Notes) > 0 {
			t.Errorf("%s: hints %q, notes %q", test.src, r.Explain(), r.Explain().Notes)
		}
	}
}

func TestJQErrors(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		`jq:`:                      `column 4: jq: the program is empty, or longer than 16 KiB: write one such as .state == "done"`,
		`jq: .a ==`:                `column 10: jq: it ends too early: `,
		`jq: .a == )`:              `column 11: jq: unexpected token ")": `,
		`jq: .a == $foo`:           `column 11: jq: variable not defined: $foo: variables are those of the condition language, such as $status, and your own`,
		`jq: .a == foo(1)`:         `column 11: jq: function not defined: foo/1: `,
		`jq: $header.Retry-After`:  `column 19: jq: function not defined: After/0: a name with a hyphen is written in quotes: $header["Retry-After"], .["a-b"]`,
		`jq: input == 1`:           `column 5: jq: input(s)/0 is not allowed: `,
		`jq: include "a"; .a == 1`: `column 5: jq: cannot load module: "a": `,
		`jq: .a = 1`:               `column 5: jq: this gives what = has changed, and only true and false decide: compare it`,
		`jq: $ENV == {}`:           `column 5: $ENV needs the name of a variable: write $ENV.NAME for a variable of the environment`,
		`jq: $ENV[.a] == 1`:        `column 5: $ENV needs the name of a variable: write $ENV.NAME for a variable of the environment`,
		`jq: env | .SHA == .a`:     `column 5: $ENV needs the name of a variable: write $ENV.NAME for a variable of the environment`,
		`jq: {$ENV} == .a`:         `column 6: $ENV needs the name of a variable: write $ENV.NAME for a variable of the environment`,
		`jq: .a == $ENV.NONE`:      `column 16: $ENV.NONE is not set: a variable of the shell has to be exported: export NONE`,
		`jq: .a == env.EMPTY`:      `column 15: $ENV.EMPTY is empty: set it, or write "" for empty text`,
	} {
		_, err := expr.Compile(src, environ())
		e, ok := errors.AsType[*expr.Error](err)
		if !ok || e.Error()+": "+e.Hint != want {
			t.Errorf("%s: have %v (%v), want %s", src, err, e, want)
		}
		if ok {
			checkError(t, src, err)
		}
	}
}

// Variables of the environment are those that are named, and are not shown.
func TestJQEnviron(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]expr.Tri{
		`jq: .sha == $ENV.SHA`: expr.True, `jq: .sha == env.SHA`: expr.True, `jq: .sha == $ENV["SHA"]`: expr.True,
		`jq: .sha == $ENV."SHA" and true`: expr.True, `jq: .sha | startswith($ENV.SHA) | not`: expr.False,
		`jq: ($ENV.SHA | tonumber) == 1`: expr.Unknown, `jq: $ENV.SHA | error`: expr.Unknown, `jq: .x == $ENV.SHA`: expr.False,
	} {
		x, err := expr.Compile(src, environ())
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		r := x.Eval(&expr.Env{Doc: expr.NewDoc([]byte(`{"sha":"s3cret"}`))})
		why := strings.Join(explain(r, 3), "\n")
		if r.Tri != want || strings.Contains(why, "s3cret") || !x.NamesEnviron() {
			t.Errorf("%s: have %s (%s), want %s", src, r.Tri, why, want)
		}
	}
	x, err := expr.CompileValue(`jq: {sha: $ENV.SHA, n: (env.MIN | tonumber)}`, environ())
	if err != nil {
		t.Fatal(err)
	}
	if have := x.Eval(&expr.Env{Doc: expr.NewDoc([]byte("1"))}).Value().Raw; have != `{"n":42,"sha":"s3cret"}` {
		t.Errorf("have %s", have)
	}
}

func TestJQValues(t *testing.T) {
	t.Parallel()
	const doc = `{"items":[{"id":9007199254740993},{"id":"b"}],"text":"a\u0000b","bad":"\ud800"}`
	for src, want := range map[string]string{
		`jq: .items | map(.id) | map(tostring) | join(",")`: "9007199254740993,b",
		`jq: .items[0].id`:              "9007199254740993",
		`jq: .text`:                     "a\x00b",
		`jq: .none`:                     "null",
		`jq: [.items[].id]`:             `[9007199254740993,"b"]`,
		`jq: "\(.items | length) left"`: "2 left",
		`jq: 1e1000`:                    "1.7976931348623157e+308",
		`jq: .bad`:                      "\ufffd",
	} {
		x, err := expr.CompileValue(src)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		if have := x.Eval(&expr.Env{Doc: expr.NewDoc([]byte(doc))}).Value(); have.Text() != want {
			t.Errorf("%s: have %q (%s), want %q", src, have.Text(), have.Reason, want)
		}
	}
}

// The rule of good answers goes by what a program names.
func TestJQUses(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]expr.Uses{
		`jq: .a == 1`:                             expr.UsesJSON,
		`jq: $json.a == 1`:                        expr.UsesJSON | expr.UsesWhole,
		`jq: $gone or .until < now`:               expr.UsesJSON | expr.UsesGone | expr.UsesClock,
		`jq: $status == 200`:                      expr.UsesStatus,
		`jq: $status == 200 or .a`:                expr.UsesStatus | expr.UsesJSON,
		`jq: $stderr | test("x") and true`:        expr.UsesStderr,
		`jq: [$exit, {$attempt}, "\($body)"]`:     expr.UsesExit | expr.UsesAttempt | expr.UsesBody,
		`jq: if $error == null then 1 else 2 end`: expr.UsesError,
		`jq: ($elapsed > 5) == true`:              expr.UsesElapsed,
		`jq: $header["X"] == "1"`:                 expr.UsesHeader,
		`jq: {(.a): 1} == $stdout`:                expr.UsesJSON | expr.UsesStdout,
		`jq: 1 == 1`:                              0,
		`jq: length == 1`:                         expr.UsesJSON,
		`jq: $isjson | not`:                       expr.UsesIsJSON,
		`jq: $body[.a:] == "x"`:                   expr.UsesJSON | expr.UsesBody,
		`jq: -$attempt < -3`:                      expr.UsesAttempt,
	} {
		x, err := expr.CompileValue(src)
		if err != nil {
			t.Errorf("%s: %v", src, err)
		} else if have := x.Uses(); have != want {
			t.Errorf("%s: have %+v, want %+v", src, have, want)
		}
	}
}

// A run ends with its context.
func TestJQEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	for _, src := range []string{`jq: last(range(1e15)) == 1`, `jq: [repeat(1)] == 1`, `jq: def f: 1 + f; f == 1`} {
		x, err := expr.Compile(src)
		if err != nil {
			t.Fatal(err)
		}
		r := x.Eval(&expr.Env{Doc: expr.NewDoc([]byte(`{}`)), Context: ctx})
		if !r.Abandoned() || r.Tri != expr.Unknown || !strings.Contains(strings.Join(explain(r, 1), ""), "longer than the attempt") {
			t.Errorf("%s: have %s, %q", src, r.Tri, explain(r, 1))
		}
	}
}
