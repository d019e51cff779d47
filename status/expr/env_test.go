package expr

import (
	"strings"
	"testing"
)

func TestWithoutAnAnswerItsVariablesAreUnknown(t *testing.T) {
	t.Parallel()
	env := &Env{Error: "refused", Doc: Unreadable("there was no answer (connection refused)")}
	for _, src := range []string{
		`$status != 503`, `$exit != 0`, `$header.X == null`, `$body != "x"`, `$stdout != "x"`, `$stderr == null`, `.state != "done"`,
	} {
		e, err := Compile(src)
		if err != nil {
			t.Fatal(err)
		}
		r := e.Eval(env)
		if r.Tri != Unknown || !strings.Contains(strings.Join(r.Explain(1), ""), "connection refused") {
			t.Errorf("%s: have %v, %q; want it unknown, with the reason", src, r.Tri, r.Explain(1))
		}
	}
}

func TestCutStderr(t *testing.T) {
	t.Parallel()
	env := &Env{Exit: new(0), Stderr: []byte("...\nwarning: slow\n"), StderrCut: true}
	for src, want := range map[string]Tri{
		`$stderr contains "slow"`:                   True,
		`$stderr contains "ERROR"`:                  Unknown,
		`!($stderr contains "ERROR")`:               Unknown,
		`$stderr !~ "ERROR"`:                        Unknown,
		`$stderr !~ "slow"`:                         False,
		`$stderr =~ "(?m)^warning"`:                 True,
		`$stderr | contains("ERROR") | not`:         Unknown,
		`$stderr | test("slow")`:                    True,
		`$stderr | ascii_downcase | test("error")`:  Unknown,
		`$stderr | ascii_upcase | contains("SLOW")`: True,
		`($stderr | length) < 100`:                  Unknown,
		`$stderr == ""`:                             False,
		`$stderr != ""`:                             True,
		`$exit == 0 or $stderr !~ "ERROR"`:          True,
		`jq: $stderr | contains("x") | not`:         Unknown,
	} {
		e, err := Compile(src)
		if err != nil {
			t.Fatal(err)
		}
		r := e.Eval(env)
		if why := strings.Join(r.Explain(1), ""); r.Tri != want || want == Unknown && !strings.Contains(why, "only the end ") {
			t.Errorf("%s: have %v, %q; want %v", src, r.Tri, why, want)
		}
	}
}
