package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
)

// verdictWords returns the reason, and how often it was heard where a
// threshold asks for more than once.
func verdictWords(ev poll.Event) string {
	s := oneLine(ev.Verdict.Reason)
	if ev.Threshold > 1 && ev.Verdict.Status.Ends() {
		s += fmt.Sprintf(" (%d of %d in a row)", ev.Streak, ev.Threshold)
	}
	return s
}

// waitWords says how long a wait is and why.
func waitWords(ev poll.Event) string {
	s := words.Short(ev.Wait) + hintWords(ev)
	if ev.LastLook {
		s += ", for a last look before the deadline"
	}
	return s
}

// hintWords says of a wait that the server asked for it, and for how long if
// that is not what it got.
func hintWords(ev poll.Event) string {
	switch h := ev.Hint; {
	case h == nil:
		return ""
	case words.Short(h.Wait) == words.Short(ev.Wait):
		return ", as " + oneLine(h.Source) + " asks"
	default:
		return fmt.Sprintf(" (%s asks for %s)", oneLine(h.Source), words.Short(h.Wait))
	}
}

// progress says what a run is doing.
func progress(u *run, now time.Time) string {
	switch u.at.Kind {
	case poll.EventWait:
		return "next attempt in " + words.Short(u.at.NextAt.Sub(now)) + hintWords(u.at)
	case poll.EventStart:
		return "attempt running for " + words.Short(now.Sub(u.at.At))
	}
	return "still waiting"
}

// opening says what is waited for and how long, and how long that usually takes.
func (r *Reporter) opening(u *run) string {
	var b strings.Builder
	until := r.cfg.Until
	b.WriteString("poll: waiting for " + oneLine(u.target))
	if len(until) > 0 {
		b.WriteString(" until " + term.Cut(term.Line(strings.Join(until, " or ")), 120, "..."))
	}
	if d := u.timeout(); d > 0 {
		b.WriteString(", up to " + words.Short(d))
	} else {
		b.WriteString(", without a time limit")
	}
	if u.maxAttempts > 0 {
		b.WriteString(", at most " + words.Count(u.maxAttempts, "attempt"))
	}
	b.WriteByte('\n')
	for _, line := range append([]string{r.forecast(0)}, r.cfg.Opening...) {
		if line != "" {
			b.WriteString("poll: " + oneLine(line) + "\n")
		}
	}
	return b.String()
}
