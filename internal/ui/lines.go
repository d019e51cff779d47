package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// A logFace is the face for a log, and for the lines above what is drawn. It reports what is
// new of a single wait and of a list (see isNews), of few targets every end, of many the first
// failures, and the state of all at every heartbeat. With the face None it reports only what
// went wrong.
type logFace struct {
	r            *Reporter
	heartbeat    time.Duration // the longest silence now, 0 for no limit
	maxHeartbeat time.Duration // the limit of its growth
	spoke        time.Time     // when it last wrote
	opened       bool
	failures     int
	places       []string // that were reported
	hinted       []string // the reasons that were reported for their hints
	reasons      string   // why elements were not done, by the last report
	changes      int      // of that
}

// A logged is the last report of a row.
type logged struct {
	verdict string // the status and the rule
	text    string // the reason, and the step of the progress
	changes int    // of the text alone
	attempt int    // the last one reported, 0 for none
	next    string // the URL of the attempts since one was redirected
}

// event reports an event. The row is its target, nil for none, and found is the progress that its
// answer shows.
func (l *logFace) event(row *Row, ev poll.Event, found reading) {
	silent, single, isEnd := l.r.cfg.Face == None, l.r.board.single(), l.r.isEnd(ev)
	if ev.Elapsed = l.r.board.at(ev.At); !l.opened {
		l.opened = true
		if !silent && !isEnd {
			l.say(ownLines(l.r.opening(ev)))
		}
		l.r.say(l.r.notes...)
	}
	switch {
	case isEnd && silent && l.r.succeeded(ev):
	case isEnd:
		l.say(ownLines(l.r.closing(ev)))
	case ev.Kind == poll.EventEnd:
		l.end(row, ev)
	case silent:
	case ev.Kind == poll.EventPlace && !single: // a single wait says so itself
		l.place(ev)
	case ev.Kind == poll.EventWait && single:
		l.wait(row, ev)
	case ev.Kind == poll.EventWait && row.n == 0:
		l.elements(ev)
	case ev.Kind == poll.EventAttempt, ev.Kind == poll.EventMessage:
		l.attempt(row, ev, found)
	}
}

// elements reports why elements of a list are not done, if the reasons are others than before.
func (l *logFace) elements(ev poll.Event) {
	texts, kinds := []string{l.r.board.counts()}, []string{}
	for _, most := range l.r.board.commonest(2) {
		texts = append(texts, fmt.Sprintf("%d of them: %s", len(most), most.reason()))
		kinds = append(kinds, most[0].kind)
	}
	slices.Sort(kinds)
	reasons := clauses(kinds...)
	if l.r.cfg.Face == Lines && reasons != "" && reasons != l.reasons && l.changes < mostTold {
		l.reasons = reasons
		l.changes++
		l.row(ev, string(status.NotReady), clauses(texts...))
	}
}

// attempt reports an attempt if it is news or everything is wanted.
func (l *logFace) attempt(row *Row, ev poll.Event, found reading) {
	isVerbose, ofAll := l.r.cfg.Verbose, row.n == 0
	switch {
	case isVerbose, ofAll && l.isNews(row, ev, found):
		l.verdict(row, ev, found)
	case !ofAll && len(ev.Verdict.Hints) > 0 && isFirst(l.hinted, row.kind): // others likely have the hint for this reason, too
		l.hinted = append(l.hinted, row.kind)
		l.verdict(row, ev, found)
	}
	if o := ev.Observation; ofAll && o != nil && o.Following.Next != "" && o.Following.Next != row.logged.next {
		row.logged.next = o.Following.Next
		l.row(ev, "follow", l.named(row, "now looking at "+oneLine(o.Following.Next)))
	}
	if isVerbose && ev.Kind == poll.EventAttempt {
		l.details(ev)
	}
}

// isNews reports whether an attempt of a single wait or a list is worth a line: its status or rule
// differs from the line before or, at most mostTold times, its text. On a drawn face only the status
// and the rule count. Lists that are drawn, or many, report only trouble.
func (l *logFace) isNews(row *Row, ev poll.Event, found reading) bool {
	b, isDrawn := l.r.board, l.r.cfg.Face == Live
	switch {
	case ev.Observation != nil && ev.Observation.Stopped():
		return false // it decides nothing, which the end says
	case b.single() && ends(ev) && (len(l.r.cfg.Show) == 0 || found.words() == ""):
		return false // nor is what the end says
	case !b.single() && !row.trouble && (isDrawn || len(b.lists) > mostTold):
		return false
	case verdictOf(ev) != row.logged.verdict:
		return true
	}
	return !isDrawn && row.logged.changes < mostTold && textOf(row, found) != row.logged.text
}

// ends reports whether an attempt ends a wait.
func ends(ev poll.Event) bool {
	held := ev.At.Add(-ev.Took).Sub(ev.State.Since) // to the begin of the last look
	return ev.Verdict.Status.Ends() && ev.State.Streak >= ev.Threshold.Times && max(0, held) >= ev.Threshold.For
}

// isFirst reports whether a place or a reason is not among the reported ones, and they are few.
func isFirst(reported []string, one string) bool {
	return len(reported) < mostTold && !slices.Contains(reported, one)
}

// verdictOf returns the status and the rule of an attempt.
func verdictOf(ev poll.Event) string { return string(ev.Verdict.Status) + " " + ev.Verdict.Rule }

// textOf returns the text of an attempt whose change is news, which that of the time is not.
func textOf(row *Row, found reading) string {
	return passing().ReplaceAllString(row.reason, "$1") + found.step()
}

// passing matches what is another at each attempt.
var passing = words.Pattern(`(\$(?:elapsed|unchanged|attempt) is )[\d.a-zµ]+`)

// verdict reports what an attempt saw.
func (l *logFace) verdict(row *Row, ev poll.Event, found reading) {
	logged := &row.logged
	isChange := logged.verdict == verdictOf(ev)
	logged.verdict, logged.text, logged.attempt = verdictOf(ev), textOf(row, found), ev.State.Attempts
	// Hints are said once: they do not make a later reason new.
	text := clauses(append([]string{found.words(), row.reason}, hints(ev.Verdict)...)...)
	l.row(ev, string(ev.Verdict.Status), l.named(row, text))
	if !isChange || l.r.cfg.Verbose {
		return
	}
	if logged.changes++; logged.changes == mostTold {
		l.row(ev, "note", l.named(row, "the reason changes often: from now on it is shown with the heartbeat"))
	}
}

// named puts the name of a target before words, unless there is only one.
func (l *logFace) named(row *Row, text string) string {
	if l.r.board.single() {
		return text
	}
	return oneLine(row.name) + ": " + text
}

// end reports how one of several targets ended. It leaves lists to the closing lines, and targets
// that ended in an earlier run, or go on in a later one.
func (l *logFace) end(row *Row, ev poll.Event) {
	o, b := ev.Outcome, l.r.board
	if row.n == 0 || o.Resumed || l.r.cfg.Slice && isOpen(o.Ending) {
		return
	}
	limit := l.r.cfg.Timeout
	withAll := o.Ending == poll.TimedOut && limit > 0 && ev.Deadline.Sub(b.began) >= limit // which the closing lines say of many
	failed := row.isMissed() && o.Ending != poll.Interrupted && (b.few() || !withAll)
	if failed {
		l.failures++
	}
	endedAlike := func(list *Row) bool { return list.ending == o.Ending && list.outcome.Reason == o.Reason }
	switch {
	case l.r.inTable(), slices.ContainsFunc(b.failed(), endedAlike): // which is shown, or told at the end
	case l.r.cfg.Verbose && endedByVerdict(o.Ending) && o.Reason == o.Verdict.Reason: // the attempt was reported
	case l.failures <= mostTold && (failed || b.few() && l.r.cfg.Face != None):
		what := string(o.Status)
		if o.Ending == poll.Cancelled || what == "" {
			what = row.state()
		}
		l.row(ev, what, l.named(row, oneLine(o.Reason)))
	}
	if failed && l.failures == mostTold && !b.few() {
		l.row(poll.Event{Elapsed: ev.Elapsed}, "note", "further failures are only counted, until the end")
	}
}

// place reports the first time that a place is closed.
func (l *logFace) place(ev poll.Event) {
	p := ev.Place
	if !isFirst(l.places, p.Name) {
		return
	}
	l.places = append(l.places, p.Name)
	text := oneLine(p.Name)
	if left := p.ClosedUntil.Sub(ev.At); left > 0 {
		text += " closed for " + words.Short(left)
	}
	l.row(poll.Event{Elapsed: ev.Elapsed}, "place", strings.TrimSuffix(text+": "+oneLine(p.Reason), ": "))
}

// wait reports how long a wait is and why, except for the schedule's ordinary
// wait after an attempt that was not reported.
func (l *logFace) wait(row *Row, ev poll.Event) {
	if ev.Wait == 0 && hintOf(ev) == nil || ev.HeldBy != "" && !l.r.cfg.Verbose {
		return
	}
	asked := hintOf(ev) != nil || row.status == status.Throttled
	if l.r.cfg.Verbose || asked && row.judged > 0 && row.logged.attempt == row.judged {
		text := row.waitWords(ev.Wait)
		if ev.State.LastLook {
			text += ", for a last look before the deadline"
		}
		l.row(ev, "wait", text)
	}
}

// row writes a line with the columns elapsed, #attempt, what (a status, or another
// word) and words.
func (l *logFace) row(ev poll.Event, what, text string) {
	number := "-"
	if ev.State.Attempts > 0 {
		number = fmt.Sprintf("#%d", ev.State.Attempts)
	}
	padding := pad("", statusWidth-len(what))
	line := fmt.Sprintf("%9s  %-5s %s  %s", clock(ev.Elapsed), number, l.r.cfg.Palette.Paint(term.Tone(what), what)+padding, text)
	if l.r.cfg.Face == Live && l.r.isNarrow() {
		line = clock(ev.Elapsed) + " " + l.r.cfg.Palette.Paint(term.Tone(what), what) + " " + text
	}
	l.say(strings.TrimRight(line, " ") + "\n")
}

func (l *logFace) say(text string) {
	if text == "" || l.r.inBackground() {
		return
	}
	l.spoke = time.Now()
	l.r.con.say(l.r.fit(text))
}

// tick is the heartbeat. It makes the next silence longer.
func (l *logFace) tick(now time.Time) {
	if l.heartbeat < l.maxHeartbeat {
		l.heartbeat = min(2*l.heartbeat, l.maxHeartbeat)
	}
	if l.r.board.single() {
		l.repeat(l.r.board.rows[0], now)
		return
	}
	l.count(now)
}

// repeat repeats the last verdict, and adds what is under way.
func (l *logFace) repeat(row *Row, now time.Time) {
	what, reason := "-", ""
	if row.judged > 0 {
		what, reason = string(row.status), clauses(row.progress.words(), row.reason)
	}
	ev := poll.Event{Elapsed: l.r.board.age(row, now)}
	ev.State.Attempts = row.attempt
	if row.phase == poll.EventWait {
		ev.State.Attempts-- // of which the last was reported
	}
	l.row(ev, what, clauses(reason, l.r.outlookOn(row, now)))
}

// outlookOn says what comes next of a row, and how long that may take by past runs.
func (r *Reporter) outlookOn(row *Row, now time.Time) string {
	return clauses(row.next(now)+row.hint, heldWords(row.held), r.forecast(row.operation(now)))
}

// count reports how many targets are in which state.
func (l *logFace) count(now time.Time) {
	b := l.r.board
	parts := []string{b.counts()}
	for _, list := range b.open() {
		parts = append(parts, fmt.Sprintf("list #%d %s", list.attempt, l.r.outlookOn(list, now)))
	}
	for _, most := range b.commonest(1) {
		parts = append(parts, fmt.Sprintf("%d of them: %s", len(most), most.reason()))
	}
	l.row(poll.Event{Elapsed: b.at(now)}, "-", clauses(parts...))
}
