package cli

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/status/expr"
)

// usageText formats an error for the terminal. What was typed may contain anything.
func usageText(err error) string {
	var b strings.Builder
	fmt.Fprintf(&b, "poll: %s\n", term.Line(err.Error()))
	if e, ok := errors.AsType[*expr.Error](err); ok {
		b.WriteString(caret(e.Source, e.Column-1, e.Hint))
	}
	if e, ok := errors.AsType[*argv.UsageError](err); ok {
		for _, hint := range e.Hints {
			fmt.Fprintf(&b, "  hint: %s\n", term.Line(hint))
		}
	}
	return b.String()
}

// badExpression returns an error that names the flag of an expression.
func badExpression(origin string, err error) error {
	if e, ok := errors.AsType[*expr.Error](err); ok {
		_, hint := argv.Advice(strings.TrimLeft(origin[strings.LastIndex(origin, " ")+1:], "-") + " " + e.Source)
		e.Hint = cmp.Or(hint, e.Hint)
		return argv.Usagef("%s, %w", origin, e) // which begins with a column
	}
	return argv.Usagef("%s: %w", origin, err)
}

// find matches a pattern, and its groups, against something mistyped. It compiles
// the pattern on demand, since most runs need none.
func find(pattern, text string) []string { return regexp.MustCompile(pattern).FindStringSubmatch(text) }

func compileValue(l *argv.Line, flag, text string) (*expr.Expr, error) {
	e, err := expr.CompileValue(text, expr.WithEnviron(l.LookupEnv))
	if err != nil {
		return nil, badExpression(l.Origin(flag), err)
	}
	return e, nil
}

// caret shows a place in a source, in characters from 0, and a hint below it.
func caret(source string, at int, hint string) string {
	line, column := window(strings.Map(flat, source), at)
	text := fmt.Sprintf("  %s\n  %s^\n", line, strings.Repeat(" ", column))
	if hint != "" {
		text += "  hint: " + hint + "\n"
	}
	return text
}

// flat keeps a source on one line and free of terminal controls, rune by rune, so
// that columns stay what they are.
func flat(r rune) rune {
	if r == utf8.RuneError || !unicode.IsPrint(r) {
		return ' '
	}
	return r
}

// window cuts a long source down to the surroundings of the column.
func window(source string, column int) (string, int) {
	const most = 72
	runes := []rune(source)
	column = min(max(column, 0), len(runes))
	start := 0
	if len(runes) > most {
		start = max(0, column-most*2/3)
	}
	return string(runes[start:min(len(runes), start+most)]), column - start
}
