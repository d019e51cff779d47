package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/status"
)

// textColumn is where the words of a row begin.
const textColumn = 9 + 2 + 5 + 1 + 9 + 2

// row lays out elapsed, #attempt, what (a status, or a word for what else is
// said) and words.
func row(p term.Palette, elapsed time.Duration, attempt int, what, text string) string {
	number := "-"
	if attempt > 0 {
		number = fmt.Sprintf("#%d", attempt)
	}
	line := fmt.Sprintf("%9s  %-5s %s%s  %s", words.Clock(elapsed), number,
		paint(p, what), strings.Repeat(" ", max(0, 9-len(what))), text)
	return strings.TrimRight(line, " ") + "\n"
}

// paint gives a status its colour.
func paint(p term.Palette, what string) string {
	switch what {
	case status.Success.String():
		return p.Good(what)
	case status.NotReady.String():
		return p.Pending(what)
	case status.Throttled.String():
		return p.Slow(what)
	case status.Error.String():
		return p.Bad(what)
	}
	return p.Faint(what)
}
