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

const (
	// maxChanges is how many changes of the reason within one status are reported at once.
	maxChanges = 20
	// maxFailures is how many of many targets that failed are reported at once.
	maxFailures = 20
	// maxHinted is how many reasons are reported because of their hints.
	maxHinted = 3
	// maxLists is up to how many lists report what their answers hold.
	maxLists = 20
	// maxPlaces is how many places are reported, each at most once in placePause.
	maxPlaces, placePause = 20, time.Minute
)

// lines is the face for a log, and for the lines above what is drawn. Of a single wait, and of
// a list, it reports a change of the status or of the deciding rule at once, and in a real log
// also the first maxChanges other changes of the reason; of few targets every end, of many the
// first failures; and the state of all at every heartbeat. With the face None it reports only
// what went wrong.
type lines struct {
	r            *Reporter
	heartbeat    time.Duration // the longest silence now, 0 for no limit
	maxHeartbeat time.Duration // the limit of its growth
	spoke        time.Time     // when it last wrote
	opened       bool
	failures     int
	places       map[string]time.Time // when it was told of each
	hinted       []string             // the reasons reported because of their hints
}

// told is what was told of a row.
type told struct {
	verdict string // the status and the rule
	text    string // the reason, and the step of the progress
	changes int    // of the text alone
	attempt int    // the last one reported, 0 for none
	next    string // the URL of the attempts since one was redirected
}

// event reports an event, which is about a row, nil for none, and what it says of the progress.
func (l *lines) event(row *Row, ev poll.Event, found reading) {
	quiet, single, isEnd := l.r.cfg.Face == None, l.r.board.single(), l.r.isEnd(ev)
	if ev.Elapsed = l.r.board.at(ev.At); !l.opened && !quiet && !isEnd {
		l.say(l.r.opening(ev))
	}
	if !l.opened {
		l.opened = true
		l.r.say(l.r.told...)
	}
	switch {
	case isEnd:
		if !quiet || !isSuccess(ev) {
			l.say(l.r.closing(ev))
		}
	case ev.Kind == poll.EventEnd:
		l.end(row, ev, quiet)
	case quiet:
	case ev.Kind == poll.EventPlace && single: // the wait tells of it
	case ev.Kind == poll.EventPlace:
		l.place(ev)
	case ev.Kind == poll.EventWait && single:
		l.wait(row, ev)
	case ev.Kind == poll.EventAttempt:
		l.attempt(row, ev, found)
	}
}

// isSuccess reports whether the end of all is what was waited for.
func isSuccess(ev poll.Event) bool {
	if ev.Summary != nil {
		return ev.Summary.Ending == poll.Succeeded
	}
	return ev.Outcome.Ending == poll.Succeeded
}

// attempt reports an attempt if it is new or everything is wanted.
func (l *lines) attempt(row *Row, ev poll.Event, found reading) {
	isShown, told := row.n == 0, &row.told
	switch {
	case l.r.cfg.Verbose, isShown && l.isNews(row, ev, found):
		l.verdict(row, ev, found)
	case !isShown && len(ev.Verdict.Hints) > 0 && len(l.hinted) < maxHinted && !slices.Contains(l.hinted, row.kind):
		// The hint is likely the same for the other targets with this reason.
		l.hinted = append(l.hinted, row.kind)
		l.verdict(row, ev, found)
	}
	if o := ev.Observation; isShown && o != nil && o.Following.Next != "" && o.Following.Next != told.next {
		told.next = o.Following.Next
		l.row(ev, "follow", l.named(row, "now looking at "+oneLine(told.next)))
	}
	if l.r.cfg.Verbose {
		l.details(ev)
	}
}

// isNews reports whether an attempt is worth a line.
func (l *lines) isNews(row *Row, ev poll.Event, found reading) bool {
	told, isList := &row.told, !l.r.board.single()
	switch {
	case ev.Observation != nil && ev.Observation.Stopped():
		return false // it decides nothing: the end reports it
	case isList && !row.trouble && (l.r.cfg.Face == Live || len(l.r.board.lists) > maxLists):
		return false
	case told.attempt == 0, verdictOf(ev) != told.verdict:
		return true
	case row.text(found) == told.text || told.changes > maxChanges || l.r.cfg.Face == Live && !isList:
		return false
	}
	if told.changes++; told.changes > maxChanges {
		l.row(ev, "note", l.named(row, "the reason changes often: from now on it is shown with the heartbeat"))
		return false
	}
	return true
}

// verdictOf returns the status and the rule of an attempt.
func verdictOf(ev poll.Event) string { return string(ev.Verdict.Status) + " " + ev.Verdict.Rule }

// text returns what is told of an attempt, as far as a change of it is news.
func (r *Row) text(found reading) string { return r.reason + found.step() }

// verdict reports what an attempt saw.
func (l *lines) verdict(row *Row, ev poll.Event, found reading) {
	told := &row.told
	told.verdict, told.text, told.attempt = verdictOf(ev), row.text(found), ev.State.Attempts
	// Hints are said once: they do not make a later reason new.
	text := clauses(append([]string{found.words(), row.reason}, hints(ev.Verdict)...)...)
	l.row(ev, string(ev.Verdict.Status), l.named(row, text))
}

// named puts the name of a target before words, unless there is only one.
func (l *lines) named(row *Row, text string) string {
	if l.r.board.single() {
		return text
	}
	return oneLine(row.name) + ": " + text
}

// end reports how one of several targets ended.
func (l *lines) end(row *Row, ev poll.Event, quiet bool) {
	o := ev.Outcome
	failed := row.isMissed() && o.Ending != poll.Interrupted
	endedAlike := func(list *Row) bool { return list.ending == o.Ending && list.outcome.Reason == o.Reason }
	switch {
	// The end of all tells of a list, and an earlier or a later run of a target.
	case row.n == 0 || o.Resumed || l.r.cfg.Slice && isOpen(o.Ending):
		return
	case failed:
		l.failures++
	}
	few := l.r.board.few()
	switch {
	case l.r.inTable(), slices.ContainsFunc(l.r.board.failed(), endedAlike): // which is shown, or told at the end
	case l.r.cfg.Verbose && endedByVerdict(o.Ending) && o.Reason == o.Verdict.Reason: // the attempt was reported
	case failed && l.failures <= maxFailures, !failed && few && !quiet:
		what := string(o.Status)
		if o.Ending == poll.Cancelled || what == "" {
			what = row.state()
		}
		l.row(ev, what, l.named(row, oneLine(o.Reason)))
	}
	if failed && l.failures == maxFailures && !few {
		l.row(poll.Event{Elapsed: ev.Elapsed}, "note", "further failures are only counted, until the end")
	}
}

// place tells that a place was closed, but not each time.
func (l *lines) place(ev poll.Event) {
	p := ev.Place
	last, isKnown := l.places[p.Name]
	if isKnown && ev.At.Sub(last) < placePause || !isKnown && len(l.places) >= maxPlaces {
		return
	}
	l.places[p.Name] = ev.At
	text := oneLine(p.Name)
	if left := p.ClosedUntil.Sub(ev.At); left > 0 {
		text += " closed for " + words.Short(left)
	}
	l.row(poll.Event{Elapsed: ev.Elapsed}, "place", strings.TrimSuffix(text+": "+oneLine(p.Reason), ": "))
}

// wait reports how long a wait is and why, except for the schedule's ordinary
// wait after an attempt that was not reported.
func (l *lines) wait(row *Row, ev poll.Event) {
	if ev.Wait == 0 && hintOf(ev) == nil || ev.HeldBy != "" && !l.r.cfg.Verbose {
		return
	}
	asked := hintOf(ev) != nil || row.status == status.Throttled
	if l.r.cfg.Verbose || asked && row.judged > 0 && row.told.attempt == row.judged {
		text := row.waitWords(ev.Wait)
		if ev.State.LastLook {
			text += ", for a last look before the deadline"
		}
		l.row(ev, "wait", text)
	}
}

// row writes a line with the columns elapsed, #attempt, what (a status, or another
// word) and words.
func (l *lines) row(ev poll.Event, what, text string) {
	number := "-"
	if ev.State.Attempts > 0 {
		number = fmt.Sprintf("#%d", ev.State.Attempts)
	}
	padding := pad("", statusWidth-len(what))
	line := fmt.Sprintf("%9s  %-5s %s  %s", clock(ev.Elapsed), number, l.r.cfg.Palette.Paint(term.Tone(what), what)+padding, text)
	l.say(strings.TrimRight(line, " ") + "\n")
}

func (l *lines) say(text string) {
	if text == "" || l.r.inBackground() {
		return
	}
	l.spoke = time.Now()
	l.r.con.say(text)
}

// due returns when the silence reaches its limit, zero for never.
func (l *lines) due() time.Time {
	if l.heartbeat <= 0 {
		return time.Time{}
	}
	return l.spoke.Add(l.heartbeat)
}

// tick is the heartbeat. It makes the next silence longer.
func (l *lines) tick(now time.Time) {
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
func (l *lines) repeat(row *Row, now time.Time) {
	what, reason := "-", ""
	if row.judged > 0 {
		row.told.text, row.told.attempt = row.text(row.progress), row.judged
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
func (l *lines) count(now time.Time) {
	b := l.r.board
	parts := []string{b.counts()}
	for _, list := range b.open() {
		parts = append(parts, fmt.Sprintf("list #%d %s", list.attempt, l.r.outlookOn(list, now)))
	}
	for _, most := range b.commonest(1) {
		parts = append(parts, fmt.Sprintf("%d: %s", len(most), most.reason()))
	}
	l.row(poll.Event{Elapsed: b.at(now)}, "-", clauses(parts...))
}
