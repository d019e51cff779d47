package expr_test

import (
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
func TestConditionsPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/conditions.md")
	if err != nil {
		t.Fatal(err)
	}
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
