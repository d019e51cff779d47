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

// How much the last words name: reasons, of each so many targets, and lists.
const (
	closingReasons = 5
	closingNames   = 10
	closingAdvice  = 3  // lines for each reason
	closingLists   = 3  // that could not be waited for
	nameWidth      = 60 // columns of a name among others
)

// closing returns the last lines: the last answer or, for several targets, the reasons of those that
// are missing, and at the end the verdict. Between two slices there are no details.
func (r *Reporter) closing(ev poll.Event) (lines []string) {
	switch o := r.ended(ev); {
	case r.cfg.Slice && r.again(o.Ending):
		lines = advice(o)
	case ev.Outcome != nil:
		lines = r.details(o)
	case o.Ending != poll.Succeeded:
		for _, line := range append(r.missing(), r.failedLists()...) {
			if !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	return append(lines, r.verdictLine(ev))
}

// ended returns the result at the last event. The summary of several targets becomes an outcome, too.
func (r *Reporter) ended(ev poll.Event) *poll.Outcome {
	s := ev.Summary
	if s == nil {
		return ev.Outcome
	}
	return &poll.Outcome{Ending: s.Ending, Status: meaningOf(s.Ending).status, Elapsed: s.Elapsed, Reason: r.verdict(s),
		State: poll.State{Attempts: s.Attempts}}
}

// succeeded reports whether the last event says that all is as was waited for.
func (r *Reporter) succeeded(ev poll.Event) bool { return r.ended(ev).Ending == poll.Succeeded }

// verdictLine returns the last line, "STATUS after ...". If another slice follows, it ends with
// ": call again". So a reader knows both even if the exit code is lost.
func (r *Reporter) verdictLine(ev poll.Event) string {
	o := r.ended(ev)
	again := r.cfg.Slice && r.again(o.Ending)
	text := ending(o, r.cfg.Palette, again)
	if again {
		text += ": call again"
		if in := againIn(o, ev.At); in > 0 {
			text += " in " + words.Short(in)
		}
	}
	return text
}

// AfterEnd says a note after the end and repeats the verdict, so that this stays the last line.
func (r *Reporter) AfterEnd(note string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	lines := []string{"note: " + term.Line(note)}
	if r.isEnd(r.newest) && (r.cfg.Face != None || !r.succeeded(r.newest)) { // it may have ended before it began
		lines = append(lines, r.verdictLine(r.newest))
	}
	if r.cfg.Face != JSON {
		r.con.say(r.fit(ownLines(lines)))
	}
}

// again reports whether the same command makes sense once more after such an end.
func (r *Reporter) again(how poll.Ending) bool {
	return isOpen(how) && r.cfg.Again != nil && r.cfg.Again()
}

// againIn returns how much is left of the wait that the server asked for, below 0 if none is.
func againIn(o *poll.Outcome, now time.Time) time.Duration {
	if o.State.Hint == nil {
		return -1
	}
	return o.State.Last.Add(o.State.Hint.Wait).Sub(now)
}

// closingOf returns how a single wait, or a list, ended, and then the details.
func (r *Reporter) closingOf(o *poll.Outcome) []string {
	return append([]string{ending(o, r.cfg.Palette, false)}, r.details(o)...)
}

// details returns the last answer of what has failed, and remarks. Of an answer with objects that are judged
// one by one the reason says enough, and there may be a Secret among them.
func (r *Reporter) details(o *poll.Outcome) (lines []string) {
	if o.Ending != poll.Succeeded && o.Observation != nil && len(o.Verdict.Objects) == 0 {
		lines = lastAnswer(o.Observation, r.child != nil)
	}
	return append(lines, advice(o)...)
}

// verdict says whether the goal was reached and, unless all targets succeeded, how they
// ended.
func (r *Reporter) verdict(s *poll.Summary) string {
	b := r.board
	text, failed := "goal not reached: "+b.goal, b.failed()
	switch {
	case s.Ending == poll.Succeeded:
		text = "goal reached: " + b.goal
	case r.cfg.Slice && isOpen(s.Ending):
		text = b.goal // it may be reached yet
	}
	switch {
	case s.Ending == poll.Interrupted && s.Cause != nil:
		text = s.Cause.Error() + "; " + text
	case s.Ending != poll.Succeeded && len(failed) > 0:
		text = oneLine(failed[0].name) + ": " + oneLine(failed[0].outcome.Reason) + "; " + text
	}
	if b.endings()[poll.Succeeded] == b.size {
		return text
	}
	return text + " (" + b.counts() + ")"
}

// ending says how a run ended: the status, the attempts, the time and the reason. With
// --success-threshold 3, a single SUCCESS at the end does not count. Between slices the limit is not
// named.
func ending(o *poll.Outcome, p term.Palette, isSlice bool) string {
	verdict, limited, reason := string(meaningOf(o.Ending).status), "", o.Reason
	if !endedByVerdict(o.Ending) && !isSlice {
		limited = ": " + p.Paint(term.Bad, string(o.Ending))
	}
	if limited != "" && o.Status == status.None {
		limited += " before the first answer"
	}
	// The run's own reason would repeat the limit.
	limit := o.Ending == poll.TimedOut || o.Ending == poll.AttemptsExhausted
	if limit && o.Verdict.Reason != "" {
		reason = o.Verdict.Reason
	}
	if reason = oneLine(reason); reason != "" {
		reason = ": " + reason
	}
	how := p.Paint(term.Tone(verdict), verdict) + " after " + words.Count(o.State.Attempts, "attempt")
	if n := o.State.Messages; n > 0 {
		how += " with " + words.Count(n, "message")
	}
	return how + " in " + clock(o.Elapsed) + limited + reason
}

// missing says which targets are not done, grouped by how they ended and why, first those that have failed.
func (r *Reporter) missing() (lines []string) {
	b := r.board
	left := b.size - b.endings()[poll.Succeeded]
	if left == 0 {
		return nil
	}
	thing := "target"
	if len(b.lists) > 0 {
		thing = "element"
	}
	lines, rest := []string{fmt.Sprintf("%d of %s did not succeed:", left, words.Count(b.size, thing))}, 0
	others := func(r *Row) bool { return r.isLacking() && !r.hasFailed() }
	for i, lack := range append(b.groups((*Row).hasFailed), b.groups(others)...) {
		if i >= closingReasons {
			rest += len(lack)
			continue
		}
		advice := b.advice[lack[0].key()]
		lines = append(append(lines, r.lackWords(lack)), advice[:min(len(advice), closingAdvice)]...)
	}
	if unknown := b.size - len(b.rows); unknown > 0 {
		lines = append(lines, fmt.Sprintf("%d %s", unknown, neverSeen))
	}
	if rest > 0 {
		lines = append(lines, fmt.Sprintf("%d for other reasons", rest))
	}
	return lines
}

// lackWords says how targets ended, why, and the first of their names.
func (r *Reporter) lackWords(lack group) string {
	text := fmt.Sprintf("%d %s", len(lack), r.cfg.Palette.Paint(lack[0].tone(), lack[0].state()))
	if lack[0].ending == poll.Cancelled {
		return text
	}
	var names []string
	for _, row := range lack[:min(len(lack), closingNames)] {
		names = append(names, term.CutFront(oneLine(row.name), nameWidth, r.glyphs.ellipsis))
	}
	text += ", " + cmp.Or(lack.reason(), "no answer yet") + ": " + strings.Join(names, ", ")
	if more := len(lack) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// failed returns the lists that could not be waited for.
func (b *Board) failed() []*Row {
	return slices.DeleteFunc(slices.Clone(b.lists), func(list *Row) bool { return !list.over() })
}

// failedLists says how the first of those ended.
func (r *Reporter) failedLists() (lines []string) {
	failed := r.board.failed()
	for _, list := range failed[:min(len(failed), closingLists)] {
		ended := r.closingOf(list.outcome)
		ended[0] = oneLine(list.name) + ": " + ended[0]
		lines = append(lines, ended...)
	}
	if more := len(failed) - closingLists; more > 0 {
		lines = append(lines, "and "+words.Count(more, "further list"))
	}
	return lines
}
