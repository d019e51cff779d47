package expr_test

import (
	"strings"
	"testing"

	"github.com/pollcli/poll/status/expr"
)

func TestWithoutAnAnswerItsVariablesAreUnknown(t *testing.T) {
	t.Parallel()
	env := &expr.Env{Error: "refused", Doc: expr.Unreadable("there was no answer (connection refused)")}
	for _, src := range []string{
		`$status != 503`, `$exit != 0`, `$header.X == null`, `$body != "x"`, `$stdout != "x"`, `$stderr == null`, `.state != "done"`,
	} {
		e, err := expr.Compile(src)
		if err != nil {
			t.Fatal(err)
		}
		r := e.Eval(env)
		if r.Tri != expr.Unknown || !strings.Contains(strings.Join(explain(r, 1), ""), "connection refused") {
			t.Errorf("%s: have %v, %q; want it unknown, with the reason", src, r.Tri, explain(r, 1))
		}
	}
}
