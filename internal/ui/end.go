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

// An end describes how a wait, a target, a list or all targets together ended. It is the source for the closing
// line, which is the last line of the output, for the CI annotation and for the JSON objects.
type end struct {
	*poll.Outcome               // for all targets together, the outcome has no observation
	goal          *goalJSON     // for all targets together; otherwise nil
	limit         string        // the limit that ended the wait; "" if a verdict ended it
	again         bool          // whether the user may run the same command again
	in            time.Duration // how long the server requires the user to wait first
	lasted        time.Duration // for a single target with a threshold, how long the verdict lasted; otherwise 0
	isSlice       bool          // whether the same command then continues the wait (--slice)
}

// endOf returns the end of a wait with the outcome o.
func endOf(o *poll.Outcome) end {
	e := end{Outcome: o}
	if !byVerdict(o.Ending) {
		e.limit = string(o.Ending)
	}
	if e.limit != "" && o.Status == status.None {
		e.limit += " before the first response"
	}
	return e
}

// end returns the end of the run at the time now. Exactly one of o, for a single target, and s, for several
// targets, is not nil.
func (v *view) end(o *poll.Outcome, s *poll.Summary, now time.Time) end {
	var goal *goalJSON
	if s != nil {
		o = &poll.Outcome{Ending: s.Ending, Status: meaningOf(s.Ending).status, Elapsed: s.Elapsed, State: poll.State{Attempts: s.Attempts}, Reason: v.goalReason(s)}
		goal = &goalJSON{v.cfg.Goal, s.Need, map[string]int{}}
		ended := v.board.endings()
		for _, m := range meanings() {
			if m.key != "" {
				goal.Counts[m.key] = ended[m.ending]
			}
		}
	}
	e := endOf(o)
	e.goal = goal
	if s == nil && byVerdict(o.Ending) && len(v.board.rows) > 0 {
		e.lasted = v.board.rows[0].lasted
	}
	if e.again = isOpen(o.Ending) && v.cfg.Again != nil && v.cfg.Again(); !e.again {
		return e
	}
	if asked := o.State.RetryAfter; asked != nil {
		e.in = max(0, o.State.Last.Add(asked.Wait).Sub(now))
	}
	if v.cfg.Slice {
		e.isSlice, e.limit = true, ""
	}
	return e
}

// succeeded reports whether ev, the last event, reports success.
func (v *view) succeeded(ev poll.Event) bool {
	return v.end(ev.Outcome, ev.Summary, ev.At).Ending == poll.Succeeded
}

// goalReason returns why a wait for several targets ended. The reason states whether the goal was reached and,
// unless all targets succeeded, the number of targets in each state.
func (v *view) goalReason(s *poll.Summary) string {
	b, cause, counts := v.board, "", ""
	text := "goal not reached: " + b.goal
	switch {
	case s.Ending == poll.Succeeded:
		text = "goal reached: " + b.goal
	case v.cfg.Slice && isOpen(s.Ending): // a later run may still reach the goal
		text = b.goal
	}
	if failed := b.failed(); s.Ending == poll.Interrupted && s.Cause != nil {
		cause = s.Cause.Error()
	} else if s.Ending != poll.Succeeded && len(failed) > 0 {
		cause = oneLine(failed[0].name) + ": " + failed[0].reason
	}
	if b.endings()[poll.Succeeded] != b.size {
		counts = " (" + b.states() + ")"
	}
	return clauses(cause, text) + counts
}

// at returns the time at which the wait ended. For a resumed wait, that may have been in an earlier run.
func (e end) at() time.Time { return e.State.Start.Add(e.Elapsed) }

// status returns the status that corresponds to the ending, which may differ from the status of the last response.
// It returns None if no response has arrived.
func (e end) status() status.Status {
	if e.Outcome.Status == status.None {
		return status.None
	}
	return meaningOf(e.Ending).status
}

// line returns the closing line, "STATUS after 3 attempts in 4.2s: limit: reason: call again". The line makes sense
// even to a reader who does not see the exit code.
func (e end) line(p term.Palette) string {
	verdict, again := string(meaningOf(e.Ending).status), ""
	text := p.Paint(term.Tone(verdict), verdict) + " after " + words.Count(e.State.Attempts, "attempt")
	if n := e.State.Messages; n > 0 {
		text += " with " + words.Count(n, "message")
	}
	if e.isSlice {
		again = "call again"
		if e.in > 0 {
			again += " in " + words.Short(e.in)
		}
	}
	reason := oneLine(reasonAtEnd(e.Outcome))
	if e.lasted > 0 {
		reason += " (for " + clock(e.lasted) + ")"
	}
	return joined(": ", text+" in "+clock(e.Elapsed), p.Paint(term.Bad, e.limit), reason, again)
}

// Limits for the closing lines. If there are few targets, the closing lines name all of them.
const (
	closingReasons = 5
	closingNames   = 10 // the number of names for each reason
	nameWidth      = 60 // the width of a name in columns
)

// The closingLines are the lines printed at the end of a wait.
type closingLines struct {
	response []string // the start of the last response
	details  []string // notes and hints; for several targets also the targets that did not succeed
	line     string   // the closing line
}

// lines returns all lines as they appear in a log, with the closing line last.
func (w closingLines) lines() []string { return append(slices.Concat(w.response, w.details), w.line) }

// fromLine returns all lines with the closing line first, for programs that display only the first line.
func (w closingLines) fromLine() []string {
	return slices.Concat([]string{w.line}, w.response, w.details)
}

// closing returns the lines to print when ev, the last event, arrives. Which response and which details the lines
// include depends on the kind of wait:
//
//	                        | response               | details
//	one target, or a stream | after a failure        | notes and hints
//	several targets         | none                   | the targets without success, by reason, with hints
//	a list                  | if the list failed     | the elements without success, by reason, with hints
//	the end of a slice      | none                   | for a single target, notes and hints
func (v *view) closing(ev poll.Event) closingLines {
	e := v.end(ev.Outcome, ev.Summary, ev.At)
	w := v.closingOf(e)
	switch failed := v.board.failed(); {
	case e.isSlice:
		w.response = nil
	case ev.Outcome == nil && e.Ending != poll.Succeeded:
		w.details = v.missing()
		if len(failed) > 0 {
			w.response = v.closingOf(endOf(failed[0].outcome)).response
		}
	}
	return w
}

// closingOf returns the lines to print at the end e of a wait. If a preset evaluates each object of the response
// separately, the lines do not include the response: the reason names the objects, and the response may contain a
// Kubernetes Secret.
func (v *view) closingOf(e end) closingLines {
	w := closingLines{details: advice(e.Outcome), line: e.line(v.cfg.Palette)}
	if e.Ending != poll.Succeeded && e.Observation != nil && len(e.Verdict.Objects) == 0 {
		w.response = responseLines(e.Observation, v.child == nil)
	}
	return w
}

// missing returns the lines about targets that did not succeed, grouped by reason, and about lists that could not
// be read. Failed targets come first.
func (v *view) missing() (lines []string) {
	b, rest := v.board, 0
	thing := "target"
	if len(b.lists) > 0 {
		thing = "element"
	}
	if left := b.size - b.endings()[poll.Succeeded]; left > 0 {
		lines = []string{fmt.Sprintf("%d of %s did not succeed:", left, words.Count(b.size, thing))}
	}
	others := func(r *boardRow) bool { return r.isLacking() && !r.hasFailed() }
	for i, lack := range slices.Concat(buckets(b.rows, (*boardRow).hasFailed), buckets(b.rows, others), buckets(b.lists, (*boardRow).isLacking)) {
		if i >= closingReasons && !b.isFew() {
			rest += len(lack)
			continue
		}
		lines = append(lines, v.bucketWords(lack))
		for _, hint := range b.hints[lack[0].key()] {
			if !slices.Contains(lines, hint) {
				lines = append(lines, hint)
			}
		}
	}
	if unknown := b.size - len(b.rows); unknown > 0 {
		lines = append(lines, fmt.Sprintf("%d %s", unknown, neverSeen))
	}
	if rest > 0 {
		lines = append(lines, fmt.Sprintf("%d for other reasons", rest))
	}
	return lines
}

// bucketWords returns a line about the targets in lack: their number, how and why they ended, and the first
// names.
func (v *view) bucketWords(lack bucket) string {
	text := fmt.Sprintf("%d %s", len(lack), v.cfg.Palette.Paint(lack[0].tone(), meaningOf(lack[0].ending).state))
	if lack[0].ending == poll.Cancelled {
		return text
	}
	var names []string
	most := closingNames
	if v.board.isFew() {
		most = mostShown
	}
	for _, row := range lack[:min(len(lack), most)] {
		names = append(names, term.CutFront(oneLine(row.name), nameWidth, v.glyphs.ellipsis))
	}
	text += ", " + cmp.Or(lack.reason(), "no response yet") + ": " + strings.Join(names, ", ")
	if more := len(lack) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Annotation returns a GitHub Actions workflow command that shows a failure as an annotation with the title "poll:
// WHAT", where WHAT is the parameter what. In other environments, Annotation returns "". See
// https://docs.github.com/actions/reference/workflow-commands-for-github-actions.
func Annotation(getenv func(string) string, what, message string) string {
	if getenv("GITHUB_ACTIONS") != "true" {
		return ""
	}
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer(":", "%3A", ",", "%2C")
	return "::error title=" + property.Replace(data.Replace("poll: "+what)) + "::" + data.Replace(message) + "\n"
}

// annotation returns the annotation about a failed run, after its last event. It does not include the last
// response.
func (v *view) annotation(ev poll.Event) string {
	plain := *v
	plain.cfg.Palette = term.Palette{}
	w, what := plain.closing(ev), v.cfg.Goal
	if w.response = nil; ev.Outcome != nil {
		what = oneLine(ev.Outcome.Target)
	}
	return Annotation(v.cfg.Getenv, what, strings.Join(w.fromLine(), "\n"))
}
