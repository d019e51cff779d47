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
