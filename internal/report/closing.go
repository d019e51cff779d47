package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// How much of a text from outside is shown: lines, and columns of each.
const (
	closingHead = 8
	closingTail = 10
	verboseHead = 5
	blockWidth  = 200
)

// closing returns the last words of a run. summary stands below the first line.
func (r *Reporter) closing(o *poll.Outcome, summary string) string {
	var b strings.Builder
	b.WriteString(headline(o, r.cfg.Palette) + summary)
	if o.Ending != poll.Succeeded && o.Observation != nil {
		b.WriteString(lastAnswer(o.Observation, r.child != nil))
	}
	for _, s := range advice(o) {
		b.WriteString("poll: " + s + "\n")
	}
	return b.String()
}

// advice returns what made the verdict doubtful, what would have decided, and
// what could be written instead.
func advice(o *poll.Outcome) []string {
	var list []string
	for _, n := range notes(o) {
		list = append(list, "note: "+n)
	}
	list = append(list, hints(o.Verdict)...)
	return append(list, offers(o)...)
}

// remarks returns what a program is told besides the reason.
func remarks(o *poll.Outcome) []string {
	list := append(notes(o), hints(o.Verdict)...)
	if a := adviceWords(o.Verdict.Advice); a != "" {
		list = append(list, a)
	}
	return list
}

// hints returns what may have been meant by what an answer does not have.
func hints(v status.Verdict) []string {
	var list []string
	for _, h := range v.Hints {
		list = append(list, "hint: "+oneLine(h))
	}
	return list
}

// notes returns the remarks on how a run ended.
func notes(o *poll.Outcome) []string {
	var list []string
	for _, n := range slices.Concat(o.Verdict.Notes, o.Notes) {
		list = append(list, oneLine(n))
	}
	return list
}

// headline says how the run ended, in one line: the status, the attempts, the
// time and the reason.
func headline(o *poll.Outcome, p term.Palette) string {
	return "poll: " + ending(o, p) + "\n"
}

func ending(o *poll.Outcome, p term.Palette) string {
	var b strings.Builder
	if !endedByVerdict(o.Ending) {
		b.WriteString(p.Bad(o.Ending.String()) + ": ")
	}
	if o.Status == status.None {
		b.WriteString("no answer")
	} else {
		b.WriteString(paint(p, o.Status.String()))
	}
	fmt.Fprintf(&b, " after %s in %s", words.Count(o.Attempts, "attempt"), words.Clock(o.Elapsed))
	if r := lastReason(o); r != "" {
		b.WriteString(": " + oneLine(r))
	}
	return b.String()
}

// lastReason is what a line still has to say that has said the ending, the
// attempts and the time.
func lastReason(o *poll.Outcome) string {
	limit := o.Ending == poll.TimedOut || o.Ending == poll.AttemptsExhausted
	if limit && o.Verdict.Reason != "" {
		return term.Line(o.Verdict.Reason)
	}
	return reason(o)
}

// endedByVerdict reports whether the status alone says how the run ended.
func endedByVerdict(e poll.Ending) bool {
	return e == poll.Succeeded || e == poll.Failed || e == poll.CannotRun
}

// reason says why the run ended.
func reason(o *poll.Outcome) string { return term.Line(o.Reason) }

// lastAnswer shows what the last attempt got.
func lastAnswer(o *status.Observation, stderrShown bool) string {
	var b strings.Builder
	what := "the last answer"
	if a := answer(o); a != "" {
		what += " (" + a + ")"
	}
	switch {
	case len(o.Body) > 0:
		fmt.Fprintf(&b, "poll: %s, %s:\n%s", what, bytesWords(o), head(o.Body, closingHead, blockWidth))
	case answer(o) != "" && len(o.Stderr) == 0:
		fmt.Fprintf(&b, "poll: %s was empty\n", what)
	}
	if len(o.Stderr) > 0 && !stderrShown {
		b.WriteString("poll: the end of its stderr:\n" + tail(o.Stderr, closingTail, blockWidth))
	}
	return b.String()
}

// bytesWords says how long an answer was.
func bytesWords(o *status.Observation) string {
	s := words.Count(int(max(o.Size, int64(len(o.Body)))), "byte")
	if o.Truncated {
		s += fmt.Sprintf(", of which %d were kept", len(o.Body))
	}
	return s
}

// offers returns what the user could write to make such an end a wait, or a
// result. Expressions are quoted for a shell.
func offers(o *poll.Outcome) []string {
	obs := o.Observation
	if o.Ending == poll.Succeeded || obs == nil {
		return nil
	}
	var list []string
	if o.Ending == poll.Failed && o.Verdict.Rule == "" {
		list = append(list, instead(o)...)
	}
	if a := adviceWords(o.Verdict.Advice); a != "" {
		list = append(list, a)
	}
	if obs.Truncated {
		list = append(list, "the answer was longer than what is kept of it: --max-body SIZE keeps more")
	}
	return list
}

// head returns the first lines of a text from outside as a block.
func head(text []byte, lines, columns int) string {
	part := text
	if limit := clipLimit(lines, columns); len(part) > limit {
		for limit > 0 && !utf8.RuneStart(part[limit]) {
			limit--
		}
		part = part[:limit]
	}
	rows := blockRows(part, columns)
	if len(rows) > lines || len(part) < len(text) {
		rows = append(rows[:min(len(rows), lines)], "| ...\n")
	}
	return strings.Join(rows, "")
}

// tail returns the last lines of a text from outside as a block.
func tail(text []byte, lines, columns int) string {
	part := text
	if from := len(part) - clipLimit(lines, columns); from > 0 {
		for from < len(part) && !utf8.RuneStart(part[from]) {
			from++
		}
		part = part[from:]
	}
	rows := blockRows(part, columns)
	if len(rows) > lines || len(part) < len(text) {
		rows = append([]string{"| ...\n"}, rows[max(0, len(rows)-lines):]...)
	}
	return strings.Join(rows, "")
}

// clipLimit is how many bytes so many lines can have at most: a body may be
// large, and what will not be shown need not be made harmless.
func clipLimit(lines, columns int) int { return lines * columns * 4 }

// blockRows returns a text from outside as the lines of a block, cut.
func blockRows(text []byte, columns int) []string {
	var rows []string
	for row := range strings.Lines(term.Block(string(text))) {
		rows = append(rows, term.Cut(strings.TrimSuffix(row, "\n"), columns, "...")+"\n")
	}
	return rows
}
