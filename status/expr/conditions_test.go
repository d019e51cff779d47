package expr_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/itchyny/gojq"

	"github.com/pollcli/poll/status/expr"
)

// TestConditionsPage runs the examples of docs/conditions.md. A block of json is
// the document for the blocks after it; in those each line has an expression, two
// blanks or more, and
//
//	condition: its outcome
//	value:     its value as JSON, or "missing"
func TestConditionsPage(t *testing.T) {
	page := must(os.ReadFile("../../docs/conditions.md"))
	if examples := runExamples(t, string(page)); examples < 35 {
		t.Errorf("the page has %d examples, want at least 35", examples)
	}
}

// runExamples runs the examples of a page and returns their number.
func runExamples(t *testing.T, page string) int {
	t.Helper()
	blocks := regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$").FindAllStringSubmatch(page, -1)
	var env *expr.Env
	examples := 0
	for _, block := range blocks {
		kind, text := block[1], block[2]
		if kind == "json" {
			env = &expr.Env{Doc: expr.NewDoc([]byte(text)), Body: []byte(text), Elapsed: time.Minute, Attempt: 3}
			continue
		}
		for line := range strings.Lines(text) {
			if kind == "sh" || kind == "console" { // the tests of internal/cli run those
				continue
			}
			examples++
			src, want := splitExample(line)
			if have := runExample(t, kind, src, env); !sameExample(kind, have, want) {
				t.Errorf("%s is %s, the page says %s", src, have, want)
			}
		}
	}
	return examples
}

func splitExample(line string) (src, want string) {
	line = strings.TrimRight(line, "\n")
	cut := regexp.MustCompile(`\s{2,}`).FindAllStringIndex(line, -1)
	if len(cut) == 0 {
		return line, ""
	}
	last := cut[len(cut)-1]
	return line[:last[0]], line[last[1]:]
}

// runExample returns the outcome, the value or the error.
func runExample(t *testing.T, kind, src string, env *expr.Env) string {
	t.Helper()
	compile := expr.Compile
	if kind == "value" {
		compile = expr.CompileValue
	}
	x, err := compile(src)
	if err != nil {
		return err.Error()
	}
	r := x.Eval(env)
	if kind != "value" {
		return r.Tri.String()
	}
	if v := r.Value(); v.Exists() {
		return v.Raw
	}
	return r.Value().Type
}

func sameExample(kind, have, want string) bool {
	if kind != "value" || have == want {
		return have == want
	}
	var a, b any
	if json.Unmarshal([]byte(have), &a) != nil || json.Unmarshal([]byte(want), &b) != nil {
		return false
	}
	return reflect.DeepEqual(a, b)
}

// jqBuiltins returns the names of jq's functions.
func jqBuiltins(t *testing.T) []string {
	t.Helper()
	query := must(gojq.Parse(`[builtins[] | split("/")[0]] | unique | join(" ")`))
	list, ok := query.Run(nil).Next()
	if names, isText := list.(string); ok && isText {
		return strings.Fields(names)
	}
	t.Fatalf("gojq lists %v", list)
	return nil
}

// The name of a jq function is not a field after a |, and poll does not call a function that it does not have.
func TestBuiltinsAreNoFields(t *testing.T) {
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
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	for _, src := range []string{`jq: last(range(1e15)) == 1`, `jq: [repeat(1)] == 1`, `jq: def f: 1 + f; f == 1`} {
		x := must(expr.Compile(src))
		r := x.Eval(&expr.Env{Doc: expr.NewDoc([]byte(`{}`)), Context: ctx})
		if !r.Abandoned() || r.Tri != expr.Unknown || !strings.Contains(strings.Join(explain(r, 1), "")+"$", "the evaluation took longer than the attempt may$") {
			t.Errorf("%s: have %s, %q", src, r.Tri, explain(r, 1))
		}
	}
}

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

// must returns value, and panics if err is not nil: the preparation of a test has failed.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
