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

// checkFile compares each line of a file of cases, except comments, with the result of render for the line. With
// -update it writes the results into the file.
func checkFile(t *testing.T, file string, render func(line string) string) {
	t.Helper()
	raw := must(os.ReadFile(file))
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

// environ returns an option with variables whose values are secrets, so that a test can find a leaked value.
func environ() expr.Option {
	variables := map[string]string{"SHA": "s3cret", "PATTERN": "^s3c", "MIN": "42", "OPEN": "s3cret(", "QUESTION": `.s3cret == "s3cret"`, "EMPTY": ""}
	return expr.WithEnviron(func(name string) (string, bool) {
		value, ok := variables[name]
		return value, ok
	})
}

// vectors is a file with a condition in each line, its input and its results. The README of its folder describes
// the members.
const vectors = "testdata/vectors/conditions.jsonl"

// A testCase is a line of vectors.
type testCase struct {
	Condition string   `json:"condition"`
	Verdict   string   `json:"verdict"`
	Document  string   `json:"document,omitempty"`
	Bytes     []byte   `json:"document64,omitempty"` // the document, if it is not valid UTF-8
	Known     testVars `json:"known,omitzero"`
	Text      *string  `json:"text,omitempty"`
	Why       []string `json:"why,omitzero"`
	Note      []string `json:"note,omitzero"`
	Near      []string `json:"near,omitzero"`
	Hint      []string `json:"hint,omitzero"`
}

// testVars are the variables of a condition, next to the document.
type testVars struct {
	Exit    *int              `json:"exit,omitempty"`
	Status  *int              `json:"status,omitempty"`
	Error   string            `json:"error,omitempty"`
	Name    string            `json:"name,omitempty"`
	Attempt int               `json:"attempt,omitempty"`
	Elapsed float64           `json:"elapsed,omitempty"` // in seconds
	Body    *string           `json:"body,omitempty"`
	Stdout  *string           `json:"stdout,omitempty"`
	Stderr  *string           `json:"stderr,omitempty"`
	Output  *string           `json:"output,omitempty"`
	Cut     bool              `json:"cut,omitempty"`  // the response and stderr are truncated
	Open    bool              `json:"open,omitempty"` // the end of stderr is missing
	Gone    bool              `json:"gone,omitempty"` // the element is gone
	Element *string           `json:"element,omitempty"`
	Header  map[string]string `json:"header,omitempty"`
}

// doc returns the document of the response.
func (c *testCase) doc() string {
	if c.Bytes != nil {
		return string(c.Bytes)
	}
	return c.Document
}

func bytesOf(text *string, otherwise []byte) []byte {
	if text == nil {
		return otherwise
	}
	return []byte(*text)
}

func (c *testCase) env() *expr.Env {
	v, body := c.Known, []byte(c.doc())
	env := &expr.Env{
		Doc: expr.NewDoc(body), Body: bytesOf(v.Body, bytesOf(v.Stdout, body)), Stdout: bytesOf(v.Stdout, nil), Stderr: bytesOf(v.Stderr, nil), Output: bytesOf(v.Output, nil), BodyCut: v.Cut, OutputCut: v.Cut, StderrCut: v.Cut, StderrOpen: v.Open,
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
		env.Element = expr.Unreadable("the element is no longer in the response")
	}
	return env
}

// readCase returns the condition of a line of vectors. A member that the README does not have is refused.
func readCase(t testing.TB, line string) *testCase {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(line))
	decoder.DisallowUnknownFields()
	var c testCase
	if err := decoder.Decode(&c); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return &c
}

// String returns the case as a line of vectors.
func (c *testCase) String() string {
	var line strings.Builder
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(c); err != nil {
		return err.Error()
	}
	return strings.TrimSuffix(line.String(), "\n")
}

// TestConditions evaluates the conditions of vectors.
func TestConditions(t *testing.T) {
	checkFile(t, vectors, func(line string) string {
		c := readCase(t, line)
		c.ask(t)
		return c.String()
	})
}

// ask evaluates the condition, and sets the verdict and the other members that the case has to the results.
func (c *testCase) ask(t *testing.T) {
	t.Helper()
	compile := expr.Compile
	if c.Text != nil {
		compile = expr.CompileValue
	}
	x, err := compile(c.Condition, environ())
	if err != nil {
		c.Verdict = "error: " + err.Error()
		return
	}
	r := x.Eval(c.env())
	checkResult(t, r)
	c.Verdict = r.Tri.String()
	if c.Text != nil {
		text := r.Value().Text()
		c.Text = &text
	}
	explained := r.Explain()
	near, others := explained.Hints()
	why, hint := explain(r, 5), append(near, others...)
	if words := fmt.Sprint(why, explained.Notes, hint); strings.Contains(words, "s3c") && x.Reads("ENV", "header") && !strings.Contains(c.Condition, "s3c") {
		t.Errorf("%s: a secret is shown: %s", c.Condition, words)
	}
	note(&c.Why, why)
	note(&c.Note, explained.Notes)
	note(&c.Near, near)
	note(&c.Hint, hint)
}

// note sets a member to the lines said, if the case has the member. Without lines the member is an empty list.
func note(member *[]string, said []string) {
	if *member != nil {
		*member = append([]string{}, said...)
	}
}

// readCases returns the conditions of vectors.
func readCases(t testing.TB) (cases []*testCase) {
	t.Helper()
	raw := must(os.ReadFile(vectors))
	for line := range strings.Lines(string(raw)) {
		cases = append(cases, readCase(t, line))
	}
	return cases
}

// explain returns at most most lines that explain a result.
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
