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

// A Host is the process that a command line runs in.
type Host struct {
	read.Env
	Hurry   <-chan struct{} // closed when the user has asked to end a second time
	Release func()          // stops catching signals; nil if none are caught
	Guard   *Guard          // nil for none
	Began   time.Time
}

// Refuse writes the error because of which nothing is attempted.
func (p Host) Refuse(what string, err error) {
	text := usageText(err)
	io.WriteString(p.Streams.Err, text+ui.Annotation(p.Getenv, what, strings.TrimSpace(text)))
}

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
