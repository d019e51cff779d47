package expr_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/status/expr"
)

var update = flag.Bool("update", false, "write testdata/errors.txt anew")

// TestErrors compares the errors for the expressions in testdata/errors.txt with
// what stands there: the expression, a caret and the message, the hint.
func TestErrors(t *testing.T) {
	t.Parallel()
	const file = "testdata/errors.txt"
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := string(raw)
	var have strings.Builder
	for entry := range strings.SplitSeq(want, "\n\n") {
		src, _, _ := strings.Cut(entry, "\n")
		if src = strings.TrimSuffix(src, "$"); src != "" {
			have.WriteString(renderError(t, src))
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(have.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, have.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// renderError shows an error as the file has it; a dollar sign marks the end of an
// expression that ends with a blank.
func renderError(t *testing.T, src string) string {
	_, err := expr.Compile(src)
	e, ok := errors.AsType[*expr.Error](err)
	if !ok {
		t.Errorf("%s: %v is no *Error", src, err)
		return ""
	}
	if strings.HasSuffix(src, " ") {
		src += "$"
	}
	text := fmt.Sprintf("%s\n%s^ %s\n", src, strings.Repeat(" ", e.Column-1), e.Message)
	if e.Hint != "" {
		text += "hint: " + e.Hint + "\n"
	}
	if e.JQ != "" {
		text += "or let jq decide: " + e.JQ + "\n"
	}
	return text + "\n"
}
