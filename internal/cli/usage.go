package cli

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/status/expr"
)

// usageText is how an error is shown to the person at the keyboard. What was
// typed may hold anything.
func usageText(err error) string {
	var b strings.Builder
	fmt.Fprintf(&b, "poll: %s\n", term.Line(err.Error()))
	if e, ok := errors.AsType[*expr.Error](err); ok {
		b.WriteString(caret(e))
	}
	if e, ok := errors.AsType[*argv.UsageError](err); ok {
		for _, hint := range e.Hints {
			fmt.Fprintf(&b, "  hint: %s\n", term.Line(hint))
		}
	}
	return b.String()
}

// badExpression names the flag or variable that an expression came from.
func badExpression(origin string, err error) error {
	e, ok := errors.AsType[*expr.Error](err)
	if !ok {
		return argv.Usagef("%s: %w", origin, err)
	}
	return &argv.UsageError{Err: &expressionError{origin, e}}
}

// compileValue compiles the expression that a flag has.
func compileValue(l *argv.Line, flag string) (*expr.Expr, error) {
	e, err := expr.CompileValue(l.String(flag))
	if err != nil {
		return nil, badExpression(l.Origin(flag), err)
	}
	return e, nil
}

// An expressionError is an expression that does not compile, and where it came from.
type expressionError struct {
	origin string
	err    *expr.Error
}

func (e *expressionError) Error() string {
	return fmt.Sprintf("%s, column %d: %s", e.origin, e.err.Column, e.err.Message)
}

func (e *expressionError) Unwrap() error { return e.err }

// maxSource is how much of an expression is shown around the column of an error.
const maxSource = 72

// caret shows the place of an error in its expression.
func caret(e *expr.Error) string {
	line, column := window(strings.Map(flat, e.Source), e.Column-1)
	text := fmt.Sprintf("  %s\n  %s^\n", line, strings.Repeat(" ", column))
	if e.Hint != "" {
		text += "  hint: " + e.Hint + "\n"
	}
	return text
}

// flat keeps a source on one line and away from what steers a terminal,
// character by character, so that columns stay what they are.
func flat(r rune) rune {
	if r == utf8.RuneError || !unicode.IsPrint(r) {
		return ' '
	}
	return r
}

// window cuts a long source to what stands around the column.
func window(source string, column int) (string, int) {
	runes := []rune(source)
	column = min(max(column, 0), len(runes))
	start := max(0, column-maxSource*2/3)
	if len(runes) <= maxSource {
		start = 0
	}
	end := min(len(runes), start+maxSource)
	return string(runes[start:end]), column - start
}
