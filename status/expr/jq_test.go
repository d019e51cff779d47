package expr_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/itchyny/gojq"

	"github.com/pollcli/poll/status/expr"
)

// jqBuiltins returns the names of jq's functions.
func jqBuiltins(t *testing.T) []string {
	t.Helper()
	query, err := gojq.Parse(`[builtins[] | split("/")[0]] | unique | join(" ")`)
	if err != nil {
		t.Fatal(err)
	}
	list, ok := query.Run(nil).Next()
	if names, isText := list.(string); ok && isText {
		return strings.Fields(names)
	}
	t.Fatalf("gojq lists %v", list)
	return nil
}

// The name of a jq function is not a field after a |, and poll does not call a function that it does not have.
func TestBuiltinsAreNoFields(t *testing.T) {
	t.Parallel()
	ours := strings.Fields("length type not tonumber tostring ascii_downcase ascii_upcase fromjson any all")
	called := strings.Fields("test startswith endswith contains has IN any all")
	names := jqBuiltins(t)
	if len(names) < 150 {
		t.Errorf("%d names of functions", len(names))
	}
	for _, name := range names {
		if name == "not" {
			continue // an operator here: not (.x) == 1
		}
		refused(t, name, ".items | %s.state == 1", ".items|%s[0] == 1")
		if !strings.Contains(" "+strings.Join(ours, " ")+" ", " "+name+" ") {
			refused(t, name, ".items | %s", ".items|%s|not", ".items|%s == 1", ".a | (.b and %s)", ".items | %s | not")
		}
		if !strings.Contains(" "+strings.Join(called, " ")+" ", " "+name+" ") {
			refused(t, name, ".items | %s(.x) == 1", "%s(.x) == 1", "%s(1; 2) == 1")
		}
	}
}

// refused checks that an expression with a name in it is, in words that name it.
func refused(t *testing.T, name string, formats ...string) {
	t.Helper()
	for _, format := range formats {
		src := fmt.Sprintf(format, name)
		_, err := expr.Compile(src)
		if err == nil {
			t.Errorf("%s compiles", src)
		} else if !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, which does not name %s", src, err, name)
		}
	}
}

// A field with the name of a jq function is written with a dot. The paths of gjson keep their meaning.
func TestBuiltinsAsFields(t *testing.T) {
	t.Parallel()
	for _, src := range []string{
		".items | .first == 1", ".first|length == 1", "first|length == 1", "first.state == 1", "last.state == 1", "values.first == 1",
		"error == null", "now > 1", "empty", "items.first == 1", "items.#(first==1)",
		"any(.items[]; values)", "error and now",
	} {
		if _, err := expr.Compile(src); err != nil {
			t.Errorf("%s: %v", src, err)
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
		if !r.Abandoned() || r.Tri != expr.Unknown || !strings.Contains(strings.Join(explain(r, 1), "")+"$", "the evaluation took longer than the attempt may$") {
			t.Errorf("%s: have %s, %q", src, r.Tri, explain(r, 1))
		}
	}
}
