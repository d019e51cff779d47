package expr_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/pollcli/poll/status/expr"
)

func mustEach(t testing.TB, src string) *expr.Each {
	t.Helper()
	x, err := expr.CompileEach(src)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return x
}

// spell writes elements as name=JSON.
func spell(elements []expr.Element) string {
	words := make([]string, len(elements))
	for i, e := range elements {
		if words[i] = e.Raw; e.Name != "" {
			words[i] = e.Name + "=" + e.Raw
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

func TestKey(t *testing.T) {
	t.Parallel()
	const element = `{"id":9007199254740993,"f":1.0,"name":"a\u0062","empty":"","none":null,"list":[1],"meta":{"uid":"u"},"ok":true}`
	elements, _, _ := mustEach(t, ".").Elements(expr.NewDoc([]byte("[" + element + "]")))
	for src, want := range map[string]string{
		`.id`: "9007199254740993 ", `.f`: "1.0 ", `.name`: "ab ", `.meta.uid`: "u ", `.list[0]`: "1 ", `(.id | tostring)`: "9007199254740993 ",
		`.empty`: " .empty is empty", `.none`: " .none is null", `.key`: " .key is missing", `.list`: " .list is a list",
		`.meta`: " .meta is an object", `.ok`: " .ok is a boolean", `.name.x`: " .name is a string, and has no field x",
	} {
		x, err := expr.CompileValue(src)
		if err != nil {
			t.Fatal(err)
		}
		text, problem := elements[0].Key(t.Context(), x)
		if have := text + " " + problem; have != want {
			t.Errorf("%s: have %q, want %q", src, have, want)
		}
	}
}
