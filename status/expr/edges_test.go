package expr_test

import (
	"context"
	"strings"
	"testing"

	"github.com/pollcli/poll/status/expr"
)

// Brackets that are closed again, or in a text, do not nest.
func TestBracketsThatDoNotNest(t *testing.T) {
	t.Parallel()
	for _, doc := range []string{
		`{"a":1,"b":[` + strings.Repeat("[],", 1500) + `0]}`,
		`{"a":1,"b":"` + strings.Repeat("[", 1500) + `"}`,
		`{"a":1,"b":"\\\"` + strings.Repeat("[", 1500) + `"}`,
	} {
		if have := mustCompile(t, ".a == 1").Eval(&expr.Env{Doc: expr.NewDoc([]byte(doc))}); have.Tri != expr.True {
			t.Errorf("%.40s is %s: %s", doc, have.Tri, have.Value().Reason)
		}
	}
}

// A long evaluation ends with its context, and a short one does not.
func TestContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	env := &expr.Env{Doc: expr.NewDoc([]byte(`{"a":[` + strings.Repeat("1,", 5000) + `1]}`)), Context: ctx}
	for condition, want := range map[string]bool{"all(.a[]; . == 1)": true, "1 in .a": false, ".a == []": false, "2 in .a": true, ".a.#(>1)": true} {
		have := mustCompile(t, condition).Eval(env)
		if have.Abandoned() != want || want && have.Tri != expr.Unknown {
			t.Errorf("%s: abandoned %t, %s", condition, have.Abandoned(), have.Tri)
		}
	}
}

// Every variable can be named, in both languages, and the hint names it.
func TestEachVariableIsNamed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"exit", "status", "body", "stdout", "stderr", "error", "attempt", "elapsed", "unchanged", "gone", "isjson", "name"} {
		mustCompile(t, "$"+name+" != 7")
		mustCompile(t, "jq: $"+name+" != 7")
		_, err := expr.Compile("$nothing == 1")
		if e, ok := err.(*expr.Error); !ok || !strings.Contains(e.Hint, "$"+name) {
			t.Errorf("%v does not hint at $%s", err, name)
		}
	}
}
