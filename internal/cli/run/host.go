package run

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/ui"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/status/expr"
)

// A Host is the process that runs a command line.
type Host struct {
	read.Env
	Hurry   <-chan struct{} // closed when a second signal to end arrives
	Release func()          // stops catching signals; nil if signals are not caught
	Guard   *Guard          // nil without a guard
	Began   time.Time
}

// Refuse writes a usage error with its hints to stderr, and on CI services an annotation with the title what.
// The caller then attempts nothing.
func (p Host) Refuse(what string, err error) {
	text := usageText(err)
	io.WriteString(p.Streams.Err, text+ui.Annotation(p.Getenv, what, strings.TrimSpace(text)))
}

// usageText formats err for the terminal, with a caret under a wrong condition, and with hints. Control
// characters are replaced, since err may quote any argument.
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

// caret returns source with a caret below the character at index at, followed by the hint, if any.
func caret(source string, at int, hint string) string {
	line, column := window(strings.Map(flat, source), at)
	text := fmt.Sprintf("  %s\n  %s^\n", line, strings.Repeat(" ", column))
	if hint != "" {
		text += "  hint: " + hint + "\n"
	}
	return text
}

// flat replaces r by a blank if r is not printable. Each rune stays one rune, so that columns do not move.
func flat(r rune) rune {
	if r == utf8.RuneError || !unicode.IsPrint(r) {
		return ' '
	}
	return r
}

// window returns the part of a long source around column, and the column in that part.
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
