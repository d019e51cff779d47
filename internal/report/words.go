package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/status"
)

// How much of a reason is said, in columns, and looked at for that, in bytes.
const (
	maxWords = 300
	maxBytes = 8 << 10
)

// words returns a reason as part of one line. It may quote an answer.
func words(s string) string {
	return term.Cut(term.Line(s[:min(len(s), maxBytes)]), maxWords, "...")
}

// clock writes the age of a run for a column: 4.2s, 2m05s, 1h02m05s.
func clock(d time.Duration) string {
	if d < time.Minute {
		// Cut, not rounded: a clock never shows a time that is yet to come.
		return fmt.Sprintf("%.1fs", d.Truncate(100*time.Millisecond).Seconds())
	}
	d = d.Truncate(time.Second)
	h, m, s := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	if h == 0 {
		return fmt.Sprintf("%dm%02ds", m, s)
	}
	return fmt.Sprintf("%dh%02dm%02ds", h, m, s)
}

// short writes a duration for a sentence, to two or three digits: 85ms, 2.5s,
// 40s, 10m, 1h30m.
func short(d time.Duration) string {
	switch {
	case d < time.Second:
		d = d.Round(time.Millisecond)
	case d < 10*time.Second:
		d = d.Round(100 * time.Millisecond)
	default:
		d = d.Round(time.Second)
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// count writes "1 attempt", "2 attempts".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
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
