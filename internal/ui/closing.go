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

// closing returns the last words: what was seen last or, of several targets, what is missing, and
// in the last line the verdict. Between two slices there are no details.
func (r *Reporter) closing(ev poll.Event) (text string) {
	switch o := r.ended(ev); {
	case r.cfg.Slice && r.again(o.Ending):
		text = prefixed("poll: ", advice(o))
	case ev.Outcome != nil:
		text = r.details(o)
	case o.Ending != poll.Succeeded:
		text = once(r.missing() + r.failedLists())
	}
	return text + r.verdictLine(ev)
}

// ended returns the result at the last event. That of several targets is made that of one.
func (r *Reporter) ended(ev poll.Event) *poll.Outcome {
	if ev.Outcome != nil {
		return ev.Outcome
	}
	return new(r.outcome(ev.Summary))
}

// verdictLine returns the last line of stderr, "poll: STATUS after ...". That of a slice which others
// follow ends with ": call again". So both are known where the exit code is lost.
func (r *Reporter) verdictLine(ev poll.Event) string {
	o := r.ended(ev)
	again := r.cfg.Slice && r.again(o.Ending)
	text := "poll: " + ending(o, r.cfg.Palette, again)
	if again {
		text += ": call again"
		if in := againIn(o, ev.At); in > 0 {
			text += " in " + words.Short(in)
		}
	}
	return text + "\n"
}

// Late says a note after the end, and the verdict, if it was said, once more: it stays the last line.
func (r *Reporter) Late(note string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := "poll: note: " + term.Line(note) + "\n"
	if r.isEnd(r.newest) && (r.cfg.Face != None || !isSuccess(r.newest)) { // it may have ended before it began
		text += r.verdictLine(r.newest)
	}
	if r.cfg.Face != JSON {
		r.con.say(text)
	}
}

// again reports whether the same command makes sense once more after such an end.
func (r *Reporter) again(how poll.Ending) bool {
	return isOpen(how) && r.cfg.Again != nil && r.cfg.Again()
}

// isOpen reports whether only the time was too short.
func isOpen(how poll.Ending) bool { return how == poll.TimedOut || how == poll.HintTooLong }

// againIn returns how much is left of the wait that the server asked for, below 0 if none is.
func againIn(o *poll.Outcome, now time.Time) time.Duration {
	if o.State.Hint == nil {
		return -1
	}
	return o.State.Last.Add(o.State.Hint.Wait).Sub(now)
}

// once leaves out lines that were there before.
func once(text string) (unique string) {
	said := map[string]bool{}
	for line := range strings.Lines(text) {
		if !said[line] {
			unique += line
		}
		said[line] = true
	}
	return unique
}

// closingOf returns how a single wait, or a list, ended, and then the details.
func (r *Reporter) closingOf(o *poll.Outcome) string {
	return "poll: " + ending(o, r.cfg.Palette, false) + "\n" + r.details(o)
}

// details returns the last answer of what has failed, and remarks.
func (r *Reporter) details(o *poll.Outcome) (text string) {
	if o.Ending != poll.Succeeded && o.Observation != nil {
		text = lastAnswer(o.Observation, r.child != nil)
	}
	return text + prefixed("poll: ", advice(o))
}

// outcome returns the result of several targets as that of one.
func (r *Reporter) outcome(s *poll.Summary) poll.Outcome {
	return poll.Outcome{Ending: s.Ending, Status: statusOf(s.Ending), Elapsed: s.Elapsed, Reason: r.verdict(s),
		State: poll.State{Attempts: s.Attempts, Taken: s.Taken, Unshared: s.Unshared}}
}

// statusOf returns what an ending says of all that was waited for.
func statusOf(e poll.Ending) status.Status {
	known := map[poll.Ending]status.Status{
		poll.Succeeded: status.Success, poll.Failed: status.Error, poll.CannotRun: status.Error, poll.HintTooLong: status.Throttled,
	}
	return cmp.Or(known[e], status.NotReady)
}

// statusAtEnd returns the status of a run that has ended, which agrees with the exit code; None if
// nothing was observed. That of the last answer may be another.
func statusAtEnd(o *poll.Outcome) status.Status {
	if o.Status == status.None {
		return o.Status
	}
	return statusOf(o.Ending)
}

// verdict says whether the goal was reached and, unless all targets succeeded, how they
// ended.
func (r *Reporter) verdict(s *poll.Summary) string {
	b := r.board
	text := "goal reached: " + b.goal
	if s.Ending != poll.Succeeded {
		text = "goal not reached: " + b.goal
	}
	if r.cfg.Slice && isOpen(s.Ending) {
		text = b.goal // it may be reached yet
	}
	switch failed := b.failed(); {
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

// ending says how a run ended: the status, the attempts, the time and the reason. The status is that
// of the run: a last answer that was a SUCCESS, one of the three that are needed, makes none. Of a slice that others follow it says no limit.
func ending(o *poll.Outcome, p term.Palette, isSlice bool) string {
	verdict, limited, reason := statusOf(o.Ending), "", o.Reason
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
	how := p.Paint(term.Tone(verdict), string(verdict)) + " after " + words.Count(o.State.Attempts, "attempt")
	return how + " in " + clock(o.Elapsed) + limited + reason
}

// endedByVerdict reports whether the status alone explains the ending.
func endedByVerdict(e poll.Ending) bool { return statusOf(e).Ends() }

// isLacking reports whether a target has ended, and not as was waited for.
func (r *Row) isLacking() bool { return r.over() && r.ending != poll.Succeeded }

// missing says which targets are not done, grouped by how they ended and why.
func (r *Reporter) missing() string {
	b := r.board
	left := b.size - b.endings()[poll.Succeeded]
	if left == 0 {
		return ""
	}
	thing := "target"
	if len(b.lists) > 0 {
		thing = "element"
	}
	text, rest := fmt.Sprintf("poll: %d of %s not done:\n", left, words.Count(b.size, thing)), 0
	for i, lack := range b.crowds((*Row).isLacking) {
		if i >= closingReasons {
			rest += len(lack)
			continue
		}
		advice := b.advice[lack[0].key()]
		text += prefixed("poll: ", append([]string{r.lackWords(lack)}, advice[:min(len(advice), closingAdvice)]...))
	}
	if unknown := b.size - len(b.rows); unknown > 0 {
		text += fmt.Sprintf("poll: %d %s\n", unknown, neverSeen)
	}
	if rest > 0 {
		text += fmt.Sprintf("poll: %d for other reasons\n", rest)
	}
	return text
}

// names names the first of some rows.
func (r *Reporter) names(rows []*Row) string {
	var names []string
	for _, row := range rows[:min(len(rows), closingNames)] {
		names = append(names, term.CutFront(oneLine(row.name), nameWidth, r.glyphs.ellipsis))
	}
	text := strings.Join(names, ", ")
	if more := len(rows) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// lackWords says how targets ended, and why.
func (r *Reporter) lackWords(lack crowd) string {
	text := fmt.Sprintf("%d %s", len(lack), r.cfg.Palette.Paint(term.Bad, lack[0].state()))
	if lack[0].ending == poll.Cancelled {
		return text
	}
	return text + ", " + cmp.Or(lack.reason(), "no answer yet") + ": " + r.names(lack)
}

// failed returns the lists that could not be waited for.
func (b *Board) failed() []*Row {
	return slices.DeleteFunc(slices.Clone(b.lists), func(list *Row) bool { return !list.over() })
}

// failedLists says how the first of those ended.
func (r *Reporter) failedLists() (text string) {
	failed := r.board.failed()
	for _, list := range failed[:min(len(failed), closingLists)] {
		text += "poll: " + oneLine(list.name) + ": " + strings.TrimPrefix(r.closingOf(list.outcome), "poll: ")
	}
	if more := len(failed) - closingLists; more > 0 {
		text += fmt.Sprintf("poll: and %s\n", words.Count(more, "further list"))
	}
	return text
}
