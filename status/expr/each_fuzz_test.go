package expr_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pollcli/poll/status/expr"
)

// FuzzEach checks that any expression for elements compiles or fails with an error that points
// into it, and that elements are parts of the answer in their order.
func FuzzEach(f *testing.F) {
	docs := []string{
		`{"a":[{"b":[1,null,"x"]},{"b":[]}],"items":[{"id":1},{"id":"2"}]}`, `[[1],[2,[3]]]`, `{"a":{"b":{"id":1},"c":null}}`, `null`, `"x"`, ``,
		"{\"id\":1}\n{\"id\":2}\n", `{"a":[1,2}`, "\ufeff[1]", `{"items":null}`, `{"a":"\ud800","b":[{"c":1e400}]}`,
	}
	for i, src := range []string{
		`.`, `.[]`, `.a`, `.a[].b`, `.a[].b[]`, `.items[]`, `..`, `..[]`, `..[].id`, `.a[0].b`, `.a[-1]["b"][]`, `.a.b.c`, `."a"[]`,
		`.items.#(id==1)#`, `.items.#.id`, `.a.#.b[]`, `.a.@values`, `$json.a`, `..#(id>1)#`, `items`, `.items.#`, `.a | .b`, `jq: .a`, ` `,
	} {
		f.Add(src, docs[i%len(docs)])
		f.Add(src, docs[0])
	}
	f.Fuzz(func(t *testing.T, src, body string) {
		x, err := expr.CompileEach(src)
		if err != nil {
			checkError(t, src, err)
			return
		}
		elements, _, problem := x.Elements(expr.NewDoc([]byte(body)))
		if problem != "" && elements != nil || strings.ContainsAny(problem, "\x00\x1b\r\n") || strings.Contains(problem, "a defect of poll") {
			t.Errorf("%d elements, and %q", len(elements), problem)
		}
		rest := body
		for _, e := range elements {
			if !json.Valid(e.Bytes()) {
				t.Errorf("%q of %q is not JSON", e.Bytes(), body)
			}
			if strings.ContainsAny(src, "#@") {
				continue // they can make new lists
			}
			_, after, found := strings.Cut(rest, string(e.Bytes()))
			if !found {
				t.Fatalf("%q is not in %q", e.Bytes(), rest)
			}
			rest = after
		}
	})
}
