package expr_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/status/expr"
)

var update = flag.Bool("update", false, "write the files of cases anew")

// checkFile compares a file of cases, without its comments, with what becomes of each line.
func checkFile(t *testing.T, file string, render func(line string) string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var have strings.Builder
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && !strings.HasPrefix(line, "#") {
			line = render(line)
		}
		have.WriteString(line + "\n")
	}
	if *update {
		if err := os.WriteFile(file, []byte(have.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(raw), have.String()); diff != "" {
		t.Errorf("%s (-want +have):\n%s", file, diff)
	}
}

// unquoted returns the text of a cell, which may be quoted as in Go.
func unquoted(cell string) string {
	if text, err := strconv.Unquote(cell); err == nil && cell[0] == '"' {
		return text
	}
	return cell
}

// TestErrors compiles the expressions in testdata/errors.txt.
func TestErrors(t *testing.T) {
	t.Parallel()
	checkFile(t, "testdata/errors.txt", func(line string) string {
		cell, _, _ := strings.Cut(line, " :: ")
		_, err := expr.Compile(unquoted(cell), environ())
		e, ok := errors.AsType[*expr.Error](err)
		if !ok {
			return cell + " compiles"
		}
		checkError(t, unquoted(cell), err)
		line = fmt.Sprintf("%s :: %d :: %s :: %s", cell, e.Column, e.Message, e.Hint)
		if strings.Contains(line, "s3cret") && !strings.Contains(cell, "s3cret") {
			t.Errorf("a variable of the environment is shown: %s", line)
		}
		return strings.TrimRight(line, ": ")
	})
}

// environ has a secret in each variable.
func environ() expr.Option {
	variables := map[string]string{"SHA": "s3cret", "PATTERN": "^s3c", "MIN": "42", "OPEN": "s3cret(", "QUESTION": `.s3cret == "s3cret"`, "EMPTY": ""}
	return expr.WithEnviron(func(name string) (string, bool) {
		value, ok := variables[name]
		return value, ok
	})
}

// A testCase is a line of testdata/conditions.txt that has a condition.
type testCase struct {
	src, doc string
	with     testVars
	cells    []string
}

// testVars are what else is known where a condition is asked. The document is that of the answer.
type testVars struct {
	Exit, Status         *int
	Error, Name          string
	Attempt              int
	Elapsed              float64 // in seconds
	Body, Stdout, Stderr *string
	Cut, Gone            bool // the answer and stderr, the element
	Element              *string
	Header               map[string]string
}

func bytesOf(text *string, otherwise []byte) []byte {
	if text == nil {
		return otherwise
	}
	return []byte(*text)
}

func (c *testCase) env() *expr.Env {
	v, body := c.with, []byte(c.doc)
	env := &expr.Env{
		Doc: expr.NewDoc(body), Body: bytesOf(v.Body, bytesOf(v.Stdout, body)), Stdout: bytesOf(v.Stdout, nil), Stderr: bytesOf(v.Stderr, nil), BodyCut: v.Cut, StderrCut: v.Cut,
		Header: http.Header{}, Exit: v.Exit, Status: v.Status, Attempt: v.Attempt, Error: v.Error, Name: v.Name, Gone: v.Gone,
		Elapsed: time.Duration(v.Elapsed * float64(time.Second)),
	}
	for name, value := range v.Header {
		env.Header.Set(name, value)
	}
	switch {
	case v.Error != "":
		env.Doc, env.Body, env.Header = expr.Unreadable("there was no answer"), nil, nil
	case v.Element != nil:
		env.Element = expr.NewDoc([]byte(*v.Element))
	case v.Gone:
		env.Element = expr.Unreadable("it is no longer in the answer")
	}
	return env
}

// A caseReader reads lines of testdata/conditions.txt.
type caseReader struct{ below testCase }

// read returns the condition of a line, nil if the line is about those below it.
func (r *caseReader) read(t testing.TB, line string) *testCase {
	t.Helper()
	kind, rest, _ := strings.Cut(line, " ")
	switch kind {
	case "with":
		r.below = testCase{}
		if err := json.Unmarshal([]byte(rest), &r.below.with); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		return nil
	case "on":
		r.below.doc = unquoted(rest)
		return nil
	}
	c := r.below
	c.cells = strings.Split(rest, " :: ")
	c.src = unquoted(c.cells[0])
	for _, cell := range c.cells {
		if doc, ok := strings.CutPrefix(cell, "on "); ok {
			c.doc = unquoted(doc)
		}
	}
	return &c
}

// TestConditions asks the conditions in testdata/conditions.txt.
func TestConditions(t *testing.T) {
	t.Parallel()
	var reader caseReader
	checkFile(t, "testdata/conditions.txt", func(line string) string {
		c := reader.read(t, line)
		if c == nil {
			return line
		}
		compile := expr.Compile
		if strings.Contains(line, " :: text") {
			compile = expr.CompileValue
		}
		x, err := compile(c.src, environ())
		if err != nil {
			return fmt.Sprintf("error %s: %v", c.cells[0], err)
		}
		r := x.Eval(c.env())
		why := r.Explain()
		near, others := why.Hints()
		said := map[string][]string{
			"why": explain(r, 5), "note": why.Notes, "near": near, "hint": append(near, others...), "text": {r.Value().Text()},
		}
		if words := fmt.Sprint(said["why"], said["note"], said["hint"]); strings.Contains(words, "s3c") && x.Reads("ENV", "header") && !strings.Contains(c.src, "s3c") {
			t.Errorf("%s: a secret is shown: %s", c.src, words)
		}
		checkResult(t, r)
		for i, cell := range c.cells {
			if kind, _, _ := strings.Cut(cell, " "); i > 0 && kind != "on" {
				c.cells[i] = strings.TrimSpace(kind + " " + strings.Join(said[kind], ";;"))
			}
		}
		return r.Tri.String() + " " + strings.Join(c.cells, " :: ")
	})
}

// readCases returns the conditions in testdata/conditions.txt.
func readCases(t testing.TB) (cases []*testCase) {
	t.Helper()
	raw, err := os.ReadFile("testdata/conditions.txt")
	if err != nil {
		t.Fatal(err)
	}
	var reader caseReader
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSuffix(line, "\n"); line == "" || line[0] == '#' {
			continue
		}
		if c := reader.read(t, line); c != nil {
			cases = append(cases, c)
		}
	}
	return cases
}

// explain returns the first lines that explain a result.
func explain(r expr.Result, most int) []string {
	lines := r.Explain().Lines
	return lines[:min(most, len(lines))]
}

func mustCompile(t testing.TB, src string) *expr.Expr {
	t.Helper()
	x, err := expr.Compile(src)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return x
}
