package report

import (
	"math"
	"strconv"
	"time"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/status"
)

// How much of a reason is said, in columns, and looked at for that, in bytes.
const (
	maxWords = 300
	maxBytes = 8 << 10
)

// oneLine returns a reason as part of one line. It may quote an answer.
func oneLine(s string) string {
	return term.Cut(term.Line(s[:min(len(s), maxBytes)]), maxWords, "...")
}

// answer names what an observation was: HTTP 404, exit 3.
func answer(o *status.Observation) string {
	switch {
	case o.Code != nil:
		return "HTTP " + strconv.Itoa(*o.Code)
	case o.Exit != nil:
		return "exit " + strconv.Itoa(*o.Exit)
	}
	return ""
}

// Seconds is a time in JSON: a number of seconds, to the millisecond.
type Seconds float64

func seconds(d time.Duration) Seconds {
	return Seconds(math.Round(d.Seconds()*1000) / 1000)
}
