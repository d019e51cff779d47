package expr_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/pollcli/poll/status/expr"
)

// A testCase is a line of testdata/*.jsonl.
type testCase struct {
	Expr    string            `json:"expr"`
	JSON    string            `json:"json"`
	Want    any               `json:"want"` // true, false, "unknown" or "error"
	Why     string            `json:"why"`
	Col     int               `json:"col"`
	Vars    *testVars         `json:"vars"`
	Headers map[string]string `json:"headers"`
}

type testVars struct {
	Exit    *int    `json:"exit"`
	Status  *int    `json:"status"`
	Error   string  `json:"error"`
	Attempt int     `json:"attempt"`
	Elapsed float64 `json:"elapsed"`
	Stdout  *string `json:"stdout"`
	Stderr  *string `json:"stderr"`
}

func (c *testCase) env() *expr.Env {
	body := []byte(c.JSON)
	env := &expr.Env{Doc: expr.NewDoc(body), Body: body, Stdout: body, Header: http.Header{}}
	for k, v := range c.Headers {
		env.Header.Set(k, v)
	}
	if v := c.Vars; v != nil {
		env.Exit, env.Status, env.Attempt, env.Error = v.Exit, v.Status, v.Attempt, v.Error
		if env.Error != "" {
			env.Doc, env.Body, env.Stdout, env.Header = expr.Unreadable("there was no answer"), nil, nil, nil
		}
		env.Elapsed = time.Duration(v.Elapsed * float64(time.Second))
		if v.Stdout != nil {
			env.Stdout = []byte(*v.Stdout)
		}
		if v.Stderr != nil {
			env.Stderr = []byte(*v.Stderr)
		}
	}
	return env
}

func (c *testCase) want() string {
	switch want := c.Want.(type) {
	case bool:
		if want {
			return "true"
		}
		return "false"
	case string:
		return want
	}
	return ""
}

// run returns true, false, unknown or error, and the column of an error.
func (c *testCase) run() (string, error) {
	x, err := expr.Compile(c.Expr)
	if err != nil {
		return "error", err
	}
	return x.Eval(c.env()).Tri.String(), nil
}

func TestCases(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"testdata/expr_jq.jsonl", "testdata/expr_own.jsonl"} {
		for _, c := range readCases(t, file) {
			have, err := c.run()
			if have != c.want() {
				t.Errorf("%s of %.80s is %s (%v), want %s: %s", c.Expr, c.JSON, have, err, c.want(), c.Why)
			}
			e, ok := errors.AsType[*expr.Error](err)
			if have == "error" && !ok {
				t.Errorf("%s: the error is no *Error: %v", c.Expr, err)
			}
			if ok && c.Col != 0 && e.Column != c.Col {
				t.Errorf("%s: column %d, want %d (%v)", c.Expr, e.Column, c.Col, err)
			}
		}
	}
}

func readCases(t testing.TB, name string) []testCase {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var cases []testCase
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c testCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		cases = append(cases, c)
	}
	if err := lines.Err(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return cases
}
