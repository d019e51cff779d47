package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// oneLine returns a reason, which may quote an answer, as part of one line.
func oneLine(s string) string {
	const columns, bytes = 300, 8 << 10 // shown; looked at to find them
	return term.Cut(term.Line(s[:min(len(s), bytes)]), columns, "...")
}

// oneLines returns each of the texts as a line with the prefix.
func oneLines(prefix string, texts ...[]string) []string {
	var list []string
	for _, s := range slices.Concat(texts...) {
		list = append(list, prefix+oneLine(s))
	}
	return list
}

// ownLines returns lines as poll says them, blocks of text from outside as they are.
func ownLines(lines []string) (text string) {
	for _, line := range lines {
		if !strings.HasPrefix(line, "| ") {
			line = "poll: " + line
		}
		text += line + "\n"
	}
	return text
}

// fit breaks lines between words where rows are redrawn on a narrow terminal.
func (r *Reporter) fit(text string) string {
	if r.cfg.Face != Live || !r.isNarrow() {
		return text
	}
	var lines []string
	for line := range strings.Lines(text) {
		indent := "  "
		if strings.HasPrefix(line, "| ") {
			indent = "| "
		}
		lines = append(lines, term.Fold(strings.TrimSuffix(line, "\n"), r.width(), indent)...)
	}
	return strings.Join(append(lines, ""), "\n")
}

// clauses joins what there is of some words.
func clauses(all ...string) string { return joined("; ", all...) }

// joined joins what there is of some words by a separator.
func joined(sep string, all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), sep)
}

// opening says what the wait is for and how long it may take, and usually takes.
func (r *Reporter) opening(ev poll.Event) []string {
	what, timeout, attempts := r.cfg.Goal, r.cfg.Timeout, 0
	if r.board.single() {
		what, attempts, timeout = oneLine(ev.Target), ev.MaxAttempts, cmp.Or(timeout, timeoutOf(ev))
	}
	text := "waiting for " + what
	if until := r.cfg.Until; len(until) > 0 {
		text += " until " + term.Cut(term.Line(strings.Join(until, " or ")), 120, "...")
	}
	if timeout > 0 {
		text += ", up to " + words.Short(timeout)
	} else {
		text += ", without a time limit"
	}
	if attempts > 0 {
		text += ", at most " + words.Count(attempts, "attempt")
	}
	lines := []string{text}
	for _, line := range append([]string{r.outlook()}, r.cfg.Opening...) {
		if line != "" {
			lines = append(lines, oneLine(line))
		}
	}
	return lines
}

// timeoutOf returns the time limit of a single wait, 0 for none.
func timeoutOf(ev poll.Event) time.Duration {
	if ev.Deadline.IsZero() {
		return 0
	}
	return ev.Deadline.Sub(ev.At) + ev.Elapsed
}

// verdictWords returns the reason of a verdict and, if there is a threshold, how
// many in a row there were.
func verdictWords(ev poll.Event) string {
	s := oneLine(ev.Verdict.Reason)
	if ev.Threshold.Times > 1 {
		s += fmt.Sprintf(" (%d of %d", ev.State.Streak, ev.Threshold.Times)
		if ev.Observation == nil || !ev.Observation.Message || ev.Observation.Kind != status.KindCommand { // lines are counted
			s += " in a row"
		}
		s += ")"
	}
	if held := ev.At.Sub(ev.State.Since); held < ev.Threshold.For {
		s += fmt.Sprintf(" (for %s of %s)", words.Short(held), words.Duration(ev.Threshold.For))
	}
	return s
}

// hintWords says that the server asked for a wait, and for how long if the wait
// differs from that.
func hintWords(ev poll.Event) string {
	switch h := hintOf(ev); {
	case h == nil:
		return ""
	case words.Short(h.Wait) == words.Short(ev.Wait):
		return ", as " + oneLine(h.Source) + " asks"
	default:
		return fmt.Sprintf(" (%s asks for %s)", oneLine(h.Source), words.Short(h.Wait))
	}
}

// heldWords says what holds back an attempt that is due, "" for nothing.
func heldWords(by poll.HeldBy) string {
	return map[poll.HeldBy]string{
		poll.HeldByGate: "held until its place opens",
		poll.HeldByRate: "held by the shared rate",
	}[by]
}

// waitWords says how long a wait is, and why, as far as that is not the schedule.
func (r *Row) waitWords(wait time.Duration) string {
	if r.held == "" {
		return words.Short(wait) + r.hint
	}
	return words.Short(wait) + ", " + heldWords(r.held)
}

// next describes briefly what is under way, or comes next.
func (r *Row) next(now time.Time) string {
	left, busy := max(0, r.due.Sub(now)), now.Sub(r.since)
	switch {
	case r.phase == poll.EventWait && left < 10*time.Second:
		return fmt.Sprintf("next %.1fs", left.Seconds())
	case r.phase == poll.EventWait:
		return "next " + words.Short(left)
	case r.phase == poll.EventStart && r.messages > 0:
		return words.Count(r.messages, "message") + ", the last " + words.Short(max(0, now.Sub(r.heard)).Truncate(time.Second)) + " ago"
	case busy >= time.Second:
		return "busy " + words.Short(busy.Truncate(time.Second))
	}
	return "busy"
}

// hintOf returns what the server asks for, nil if that is not why an attempt waits.
func hintOf(ev poll.Event) *status.Hint {
	if ev.Kind != poll.EventWait || ev.HeldBy != "" {
		return nil
	}
	return ev.State.Hint
}

// attemptOf returns the number of the attempt that is waited for, begins or has ended.
func attemptOf(ev poll.Event) int {
	if ev.Kind == poll.EventWait {
		return ev.State.Attempts + 1
	}
	return ev.State.Attempts
}
