package expr_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/pollcli/poll/status/expr"
)

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
