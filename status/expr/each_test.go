package expr_test

import (
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
		src := unquoted(cells[0])
		x, err := expr.CompileEach(src)
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
