package expr_test

import (
	"testing"

	"github.com/pollcli/poll/status/expr"
)

// What a program reads: the document, unless something else is piped into what reads the dot.
func TestWhatAProgramReads(t *testing.T) {
	t.Parallel()
	status := 503
	env := &expr.Env{Doc: expr.NewDoc([]byte("<html>")), Body: []byte("<html>"), Status: &status}
	for src, want := range map[string]expr.Tri{
		`jq: $body | test("h") and test("t")`:                    expr.True,
		`jq: $body | split("\n") | any(test("h"))`:               expr.True,
		`jq: $body | split("\n") | map(select(test("h"))) != []`: expr.True,
		`jq: $elapsed < 1.5`:                                     expr.True,
		`jq: ($status | tostring) == "503"`:                      expr.True,
		`jq: {status: $status}.status == 503`:                    expr.True,
		`jq: {$status} == {status: 503}`:                         expr.True,
		`jq: $status as $s | $s == 503`:                          expr.True,
		`jq: reduce $status as $x (0; . + $x) == 503`:            expr.True,
		`jq: $status as $s | length < $s`:                        expr.Unknown,
		`jq: 1 as $x | not`:                                      expr.Unknown,
		`jq: {status} == {status: null}`:                         expr.Unknown,
		`jq: test("h") or true`:                                  expr.Unknown,
		`jq: "\(.x)" == "null"`:                                  expr.Unknown,
		`jq: $body[0:length] == ""`:                              expr.Unknown,
		`jq: def f: 1; f == 1`:                                   expr.Unknown,
	} {
		x, err := expr.Compile(src)
		if err != nil {
			t.Errorf("%s: %v", src, err)
		} else if have := x.Eval(env); have.Tri != want {
			t.Errorf("%s is %s, want %s: %s", src, have.Tri, want, have.Value().Reason)
		}
	}
	for _, src := range []string{`jq: .env == "prod"`, `jq: {env: 1}.env == .b`, "jq: .a == 1 # $ENV.FOO", `jq: .x.env.FOO == 1`} {
		if x, err := expr.Compile(src); err != nil || x.NamesEnviron() {
			t.Errorf("%s: %v", src, err)
		}
	}
}
