package expr_test

import (
	"cmp"
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pollcli/poll/status/expr"
)

// TestConditionsPage runs the examples of docs/conditions.md. A block of json is
// the document for the blocks after it; in those each line has an expression, two
// blanks or more, and
//
//	condition: its outcome
//	value:     its value as JSON, or "missing"
//	refused:   the message of the error
//	elements:  the elements that a path leads to, or why there are none
//	each:      the outcomes of a condition for the elements of .jobs
func TestConditionsPage(t *testing.T) {
	t.Parallel()
	for name, atLeast := range map[string]int{"../../docs/conditions.md": 35, "testdata/conditions.md": 44} {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if examples := runExamples(t, string(page)); examples < atLeast {
			t.Errorf("%s has %d examples, want at least %d", name, examples, atLeast)
		}
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

// runExample is the outcome, the value or the message.
func runExample(t *testing.T, kind, src string, env *expr.Env) string {
	t.Helper()
	switch kind {
	case "elements":
		return runElements(src, env)
	case "each":
		elements, _, _ := mustEach(t, ".jobs").Elements(env.Doc)
		var outcomes []string
		for _, e := range elements {
			outcomes = append(outcomes, runExample(t, "condition", src, &expr.Env{Doc: env.Doc, Element: e}))
		}
		return strings.Join(outcomes, " ")
	}
	compile := expr.Compile
	if kind == "value" {
		compile = expr.CompileValue
	}
	environ := map[string]string{"SHA": "4a5f0c1", "BUILD": "42"}
	x, err := compile(src, expr.WithEnviron(func(name string) (string, bool) {
		value, ok := environ[name]
		return value, ok
	}))
	if err != nil {
		if kind == "condition" {
			return "error"
		}
		_, message, _ := strings.Cut(err.Error(), ": ")
		return message
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

// runElements spells the elements, or what is wrong.
func runElements(src string, env *expr.Env) string {
	x, err := expr.CompileEach(src)
	if err != nil {
		_, message, _ := strings.Cut(err.Error(), ": ")
		return message
	}
	elements, _, problem := x.Elements(env.Doc)
	return cmp.Or(problem, spell(elements), "no elements")
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
