package expr_test

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/pollcli/poll/status/expr"
)

func checkError(t *testing.T, src string, err error) {
	t.Helper()
	e, ok := errors.AsType[*expr.Error](err)
	if !ok {
		t.Fatalf("%v is no *Error", err)
	}
	if e.Source != src || e.Message == "" || e.Offset < 0 || e.Offset > len(src) {
		t.Fatalf("%+v", e)
	}
	if want := utf8.RuneCountInString(src[:e.Offset]) + 1; e.Column != want {
		t.Errorf("column %d at offset %d, want %d", e.Column, e.Offset, want)
	}
}

// checkResult checks the properties of every result.
func checkResult(t *testing.T, r expr.Result) {
	t.Helper()
	lines := explain(r, 5)
	if len(lines) == 0 || len(lines) > 5 {
		t.Errorf("%d lines of explanation for %v", len(lines), r.Tri)
	}
	for _, line := range append(lines, r.Explain().Notes...) {
		if strings.ContainsAny(line, "\x00\x1b\r\n") || strings.Contains(line, "a defect of poll") {
			t.Errorf("explained by %q", line)
		}
	}
	v := r.Value()
	if (v.Type == "unknown") != (r.Tri == expr.Unknown) && v.Type != "string" {
		t.Errorf("the outcome is %v, the value %+v", r.Tri, v)
	}
	types := map[byte]string{'"': "string", '[': "array", '{': "object", 't': "boolean", 'f': "boolean", 'n': "null"}
	if v.Exists() && v.Type != cmp.Or(types[v.Raw[0]], "number") {
		t.Errorf("%s is of type %s", v.Raw, v.Type)
	}
	if v.Exists() == (v.Reason != "") || v.Exists() == (v.Raw == "") {
		t.Errorf("value %+v", v)
	}
}

// FuzzEval checks that any text compiles or fails with an error that points into the text, and that an expression can
// be evaluated for any body, soon.
func FuzzEval(f *testing.F) {
	bodies := []string{
		``, `{}`, `[]`, `null`, `{"a":1,"a":2}`, `<html>`, "{\"a\":1}\n[2]\n", `{"a":"\ud800"}`, "{\"a\":\"\xff\"}", "\ufeff{}",
		`{"a":[{"b":"FAILED","c":[1,2]},{"b":0}],"s":"{\"x\":[1]}"}`, `"text {\"a\":[1]}"`, `-0.0e-0`, strings.Repeat("[", 1001),
	}
	for i, c := range readCases(f) {
		f.Add(c.Condition, c.doc())
		f.Add(c.Condition, bodies[i%len(bodies)])
	}
	status, exit := 503, 1
	f.Fuzz(func(t *testing.T, src, body string) {
		if inJQ(src) {
			t.Skip()
		}
		condition, conditionErr := expr.Compile(src)
		if conditionErr != nil {
			checkError(t, src, conditionErr)
		} else if condition.String() != src {
			t.Errorf("String is %q, want %q", condition.String(), src)
		}
		x, err := expr.CompileValue(src)
		if err != nil {
			if checkError(t, src, err); conditionErr == nil {
				t.Errorf("a condition but not a value: %v", err)
			}
			return
		}
		env := &expr.Env{
			Doc: expr.NewDoc([]byte(body)), Body: []byte(body), Stderr: []byte(body), Exit: &exit, Status: &status,
			Header: http.Header{"X": {body}}, Attempt: 3, Elapsed: time.Minute,
		}
		r := x.Eval(env)
		checkResult(t, r)
		if conditionErr == nil {
			checkResult(t, condition.Eval(env))
		}
		again, err := expr.CompileValue("(" + src + ")")
		if err != nil && !strings.Contains(err.Error(), "deeper") && !strings.Contains(err.Error(), "longer") {
			t.Errorf("in parentheses: %v", err)
		} else if err == nil && again.Eval(env).Tri != r.Tri {
			t.Errorf("%v, in parentheses %v", r.Tri, again.Eval(env).Tri)
		}
	})
}

func inJQ(src string) bool { return strings.HasPrefix(strings.TrimSpace(src), "jq:") }

// FuzzJQ checks that any program in jq compiles or fails with an error that points into
// it, that a run ends with its context, and that a program that does not read the document
// comes out alike for any.
func FuzzJQ(f *testing.F) {
	for _, c := range readCases(f) {
		f.Add(strings.TrimPrefix(c.Condition, "jq:"), c.doc())
	}
	f.Add(`$header["x"] == $ENV.SHA or $status == 503 and ($stderr | test("x"))`, "<html>")
	f.Add(`{$status} | .status as $x | [$x, $__loc__] | any(. == 503)`, "{}")
	f.Add(`try error($ENV.SHA) catch .`, "1")
	f.Add(`($status | tostring) == "503" and ([$attempt] | length) > 0`, "x")
	f.Add(`$body | split("x") | any(.[]; . == "a") or .a`, "")
	status := 503
	f.Fuzz(func(t *testing.T, program, body string) {
		src := "jq:" + program
		x, err := expr.Compile(src, environ())
		if err != nil {
			checkError(t, src, err)
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		env := &expr.Env{
			Doc: expr.NewDoc([]byte(body)), Body: []byte(body), Status: &status, Header: http.Header{"X": {"s3cret"}}, Context: ctx,
		}
		began := time.Now()
		r := x.Eval(env)
		checkResult(t, r)
		if said := strings.Join(explain(r, 5), ""); strings.Contains(said, "s3cret") && !strings.Contains(program+body, "s3cret") {
			t.Errorf("a secret is shown: %s", said)
		}
		if took := time.Since(began); took > time.Minute {
			t.Errorf("it took %v", took)
		}
		other := *env
		other.Doc = expr.NewDoc([]byte(`{"a":[1,"x"],"state":"done"}`))
		if !x.Reads(".", "isjson") && !strings.Contains(program, "now") {
			if again := x.Eval(&other); again.Tri != r.Tri && !r.Abandoned() && !again.Abandoned() {
				t.Errorf("%s is %v for %q, and %v for another document", src, r.Tri, body, again.Tri)
			}
		}
	})
}
