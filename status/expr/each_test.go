package expr_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/pollcli/poll/status/expr"
)

// spell writes elements as name=JSON.
func spell(elements []*expr.Doc) string {
	words := make([]string, len(elements))
	for i, e := range elements {
		if words[i] = string(e.Bytes()); e.Name() != "" {
			words[i] = e.Name() + "=" + words[i]
		}
	}
	return strings.Join(words, " ")
}

// TestElements finds the elements in testdata/elements.txt.
func TestElements(t *testing.T) {
	t.Parallel()
	checkFile(t, "testdata/elements.txt", func(line string) string {
		cells := strings.Split(line, " :: ")
		src, compile := unquoted(cells[0]), expr.CompileEach
		if objects, isObjects := strings.CutPrefix(src, "objects: "); isObjects {
			src, compile = objects, expr.CompileObjects
		}
		x, err := compile(src)
		if e, ok := errors.AsType[*expr.Error](err); ok {
			checkError(t, src, err)
			return strings.TrimRight(cells[0]+" :: "+e.Error()+"; "+e.Hint, "; ")
		}
		elements, ofObject, problem := x.Elements(expr.NewDoc([]byte(unquoted(cells[1]))))
		of := map[bool]string{true: "members ", false: "elements "}[ofObject]
		return strings.TrimSpace(cells[0] + " :: " + cells[1] + " :: " + of + spell(elements) + problem)
	})
	if _, err := expr.CompileEach(strings.Repeat("a", 1e5)); err == nil || !strings.Contains(err.Error(), "longer than 16 KiB") {
		t.Errorf("100 KB: have %v", err)
	}
}

// FuzzEach checks that any expression for elements compiles or fails with an error that points
// into the expression. The elements are parts of the response in their order.
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
