package expr_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/status/expr"
)

const explainDoc = `{"state":"pending","progress":"5","n":3,"t":true,"f":false,"z":null,"e":[],"o":{},"s":"","zero":0,
	"error":{"code":7},"a":1,"b":2,"tags":["x","y"],"long":"` + longText + `",
	"items":[{"name":"a","status":{"phase":"Running"},"n":1},{"name":"b","status":{"phase":"Running"},"n":2},{"name":"c","status":{"phase":"Pending"},"n":"3"}],
	"m":{"p":{"ok":true},"q":{"ok":false}}}`

const longText = "0123456789012345678901234567890123456789012345678901234567890123456789"

func TestExplainUnreadable(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ body, want string }{
		{"", `.state is unknown: the body is empty`},
		{"<html>\n", `.state is unknown: the body is not JSON (line 1, column 1: "<html>")`},
		{"{\n \"é\": x}", `.state is unknown: the body is not JSON (line 2, column 7: "x}")`},
		{`{"state":"done"`, `.state is unknown: the body is not JSON (line 1, column 16: it ends too early)`},
		{"Zo\x89", `.state is unknown: the body is not JSON (line 1, column 1: "Zo\x89")`},
		{"\x84", `.state is unknown: the body is not JSON (line 1, column 1: it is no UTF-8)`},
		{`{"a":1}{"a":2}`, `.state is unknown: the body is not JSON (line 1, column 8: "{\"a\":2}")`},
		{"{}\n{}\n{}", `.state is unknown: the body holds 3 JSON documents: ..0.name is of the first, and .. is the list of them`},
		{strings.Repeat("[", 2000), `.state is unknown: the body is nested deeper than 1000 levels`},
	} {
		x := mustCompile(t, `.state == "done"`)
		have := explain(x.Eval(&expr.Env{Doc: expr.NewDoc([]byte(test.body))}), 5)
		if diff := cmp.Diff([]string{test.want}, have); diff != "" {
			t.Errorf("%.40q (-want +got):\n%s", test.body, diff)
		}
	}
	have := explain(mustCompile(t, `.state == "done"`).Eval(&expr.Env{Doc: expr.Unreadable("the body was cut")}), 1)
	if diff := cmp.Diff([]string{".state is unknown: the body was cut"}, have); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestExplainMax(t *testing.T) {
	t.Parallel()
	r := mustCompile(t, `.a == 1 || .b == 1 || .c == 1`).Eval(&expr.Env{Doc: expr.NewDoc([]byte(`{}`))})
	for max, want := range []int{0, 1, 2, 3, 3} {
		if have := len(explain(r, max)); have != want {
			t.Errorf("Explain(%d) has %d lines, want %d", max, have, want)
		}
	}
}

// explain returns the first lines that explain a result.
func explain(r expr.Result, most int) []string {
	lines := r.Explain().Lines
	return lines[:min(most, len(lines))]
}

// hintsOf joins the first two hints on a result.
func hintsOf(r expr.Result, nearOnly bool) string {
	why := r.Explain()
	list := why.Near
	if !nearOnly {
		list = append(list, why.Hints...)
	}
	return strings.Join(list[:min(2, len(list))], ";;")
}

func mustCompile(t testing.TB, src string) *expr.Expr {
	t.Helper()
	x, err := expr.Compile(src)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return x
}

// Each level of nesting may cost one more evaluation, not twice as many.
func TestExplainDeep(t *testing.T) {
	t.Parallel()
	const depth = 100
	src := strings.Repeat("any(", depth) + ". == 2" + strings.Repeat(")", depth)
	doc := strings.Repeat("[", depth) + "1" + strings.Repeat("]", depth)
	r := mustCompile(t, src).Eval(&expr.Env{Doc: expr.NewDoc([]byte(doc))})
	if r.Tri != expr.False || len(explain(r, 5)) != 1 {
		t.Errorf("%v: %q", r.Tri, explain(r, 5))
	}
}
