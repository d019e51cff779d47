package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/words"
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
	hinted       []string       // the reasons reported because of their hints
	bodies       map[int]string // the heads of the last ones shown, by the numbers of their targets
}

// told is what was told of a row.
type told struct {
	status  status.Status
	rule    string
	reason  string
	step    string // of the progress
	changes int    // of the reason or the progress alone
	attempt int    // the last one reported, 0 for none
	next    string // the URL of the attempts since one was redirected
}

// event reports an event, which is about a row, nil for none, and what it says of the progress.
func (l *lines) event(row *Row, ev poll.Event, found *reading) {
	quiet, single := l.r.cfg.Face == None, l.r.board.single()
	isEnd := single && ev.Kind == poll.EventEnd || ev.Kind == poll.EventGoal
	if ev.Elapsed = l.r.board.at(ev.At); !l.opened && !quiet && !isEnd {
		l.say(l.r.opening(ev))
	}
	l.opened = true
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
func (l *lines) attempt(row *Row, ev poll.Event, found *reading) {
	isShown := row.n == 0
	switch {
	case l.r.cfg.Verbose:
		l.verdict(row, ev, found)
	case isShown && l.isNews(row, ev, found):
		l.verdict(row, ev, found)
		if row.told.changes == maxChanges && l.r.cfg.Face != Live {
			row.told.changes++
			quieter := "the reason changes often: from now on only the status is shown"
			if l.heartbeat > 0 {
				quieter = "the reason changes often: from now on it is shown with the heartbeat"
			}
			l.row(ev, "note", l.named(row, "note", quieter))
		}
	case !isShown && len(ev.Verdict.Hints) > 0:
		l.hint(row, ev, found)
	}
	if o := ev.Observation; isShown && o != nil && o.Following.Next != "" && o.Following.Next != row.told.next {
		row.told.next = o.Following.Next
		l.row(ev, "follow", l.named(row, "follow", "now looking at "+oneLine(o.Following.Next)))
	}
	if l.r.cfg.Verbose {
		l.details(row, ev)
	}
}

// isNews reports whether an attempt is worth a line.
func (l *lines) isNews(row *Row, ev poll.Event, found *reading) bool {
	said, isList := &row.told, !l.r.board.single()
	changed := row.reason != said.reason || found.step() != said.step
	switch {
	case ev.Observation != nil && ev.Observation.Stopped():
		return false // it decides nothing: the end reports it
	case isList && !row.trouble && (l.r.cfg.Face == Live || len(l.r.board.lists) > maxLists):
		return false
	case said.attempt == 0, ev.Verdict.Status != said.status, ev.Verdict.Rule != said.rule:
		return true
	case !changed || said.changes >= maxChanges || l.r.cfg.Face == Live && !isList:
		return false
	}
	said.changes++
	return true
}

// verdict reports what an attempt saw.
func (l *lines) verdict(row *Row, ev poll.Event, found *reading) {
	if row.detail != nil {
		said := &row.told
		said.status, said.rule, said.reason = ev.Verdict.Status, ev.Verdict.Rule, row.reason
		said.attempt, said.step = attemptOf(ev), found.step()
	}
	// Hints are said once: they do not make a later reason new.
	text := strings.Join(append([]string{row.reason}, hints(ev.Verdict)...), "; ")
	what := string(ev.Verdict.Status)
	l.row(ev, what, l.named(row, what, before(found.words(), text)))
}

// named puts the name of a target before words that are to be in a row with what, unless there is
// only one.
func (l *lines) named(row *Row, what, text string) string {
	if l.r.board.single() {
		return text
	}
	name := oneLine(row.name)
	if room := l.room(what); room > 0 {
		name = term.CutMiddle(name, max(20, room/2), l.r.glyphs.ellipsis)
	}
	return name + ": " + text
}

// hint reports an attempt after which it is known what may have been meant. That is
// likely the same for the other targets with this reason.
func (l *lines) hint(row *Row, ev poll.Event, found *reading) {
	if slices.Contains(l.hinted, row.kind) || len(l.hinted) >= maxHinted {
		return
	}
	if l.hinted = append(l.hinted, row.kind); l.width() > 0 { // a row with the verdict has no room for it
		l.row(ev, "note", strings.Join(hints(ev.Verdict), "; "))
		return
	}
	l.verdict(row, ev, found)
}

// end reports how one of several targets ended.
func (l *lines) end(row *Row, ev poll.Event, quiet bool) {
	o := ev.Outcome
	failed := row.isMissed() && o.Ending != poll.Interrupted
	endedAlike := func(list *Row) bool { return list.ending == o.Ending && list.outcome.Reason == o.Reason }
	switch {
	case row.n == 0 || o.Resumed: // the end of all tells of a list, and an earlier run did of a target
		return
	case failed:
		l.failures++
	}
	switch {
	case l.r.inTable(), slices.ContainsFunc(l.r.board.failed(), endedAlike): // which is shown, or told at the end
	case l.r.cfg.Verbose && endedByVerdict(o.Ending) && o.Reason == o.Verdict.Reason: // the attempt was reported
	case failed && l.failures <= maxFailures, !failed && l.r.board.few() && !quiet:
		what := string(o.Status)
		if o.Ending == poll.Cancelled || what == "" {
			what = string(o.Ending)
		}
		l.row(ev, what, l.named(row, what, oneLine(o.Reason)))
		if l.failures == maxFailures && !l.r.board.few() {
			ev.State.Attempts = 0
			l.row(ev, "note", "further failures are only counted, until the end")
		}
	}
}

// place tells that a place was closed, but not each time.
func (l *lines) place(ev poll.Event) {
	p := l.r.board.place(ev)
	if p.told.IsZero() && len(l.r.board.places) > maxPlaces || !p.told.IsZero() && ev.At.Sub(p.told) < placePause {
		return
	}
	p.told, ev.State.Attempts = ev.At, 0
	l.row(ev, "place", p.words(ev.At))
}

// words says what is known of a place.
func (p *place) words(now time.Time) string {
	text := oneLine(p.Name)
	if left := p.ClosedUntil.Sub(now); left > 0 {
		text += " closed for " + words.Short(left)
	}
	if p.Reason != "" {
		text += ": " + p.Reason
	}
	return text
}

// wait reports how long a wait is and why, except for the schedule's ordinary
// wait after an attempt that was not reported.
func (l *lines) wait(row *Row, ev poll.Event) {
	if ev.Wait == 0 && hintOf(ev) == nil || ev.HeldBy != "" && !l.r.cfg.Verbose {
		return
	}
	asked := hintOf(ev) != nil || row.status == status.Throttled
	if l.r.cfg.Verbose || asked && row.judged > 0 && row.told.attempt == row.judged {
		text := waitWords("", ev, ev.Wait)
		if ev.State.LastLook {
			text += ", for a last look before the deadline"
		}
		l.row(ev, "wait", text)
	}
}

// textColumn is where the words of a row begin, after a status.
const (
	statusWidth = len("NOT_READY")
	textColumn  = 9 + 2 + 5 + 1 + statusWidth + 2
)

// row writes a line with the columns elapsed, #attempt, what (a status, or another
// word) and words. On a narrow terminal it has only the last two.
func (l *lines) row(ev poll.Event, what, text string) {
	if room := l.room(what); room > 0 {
		text = term.Cut(text, room, l.r.glyphs.ellipsis)
	}
	if w := l.width(); w > 0 && w < narrow {
		l.say(paint(l.r.cfg.Palette, what, 0) + " " + text + "\n")
		return
	}
	number := "-"
	if ev.State.Attempts > 0 {
		number = fmt.Sprintf("#%d", ev.State.Attempts)
	}
	line := fmt.Sprintf("%9s  %-5s %s  %s", clock(ev.Elapsed), number, paint(l.r.cfg.Palette, what, statusWidth), text)
	l.say(strings.TrimRight(line, " ") + "\n")
}

// width returns the width of the terminal above whose status lines the rows are
// written, 0 for no limit: a log shows everything.
func (l *lines) width() int {
	if l.r.cfg.Face != Live {
		return 0
	}
	return l.r.cfg.Streams.Width()
}

// room returns how many columns the words of a line have, 0 for no limit.
func (l *lines) room(what string) int {
	switch w := l.width(); {
	case w == 0:
		return 0
	case w < narrow:
		return max(1, w-len(what)-1)
	default:
		return w - textColumn
	}
}

func (l *lines) say(text string) {
	if text == "" || l.r.cfg.Face == Live && !l.r.cfg.Streams.Foreground() {
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
	what, text := "-", ""
	if row.judged > 0 {
		row.told.reason, row.told.attempt = row.reason, row.judged
		what, text = string(row.status), before(row.reading.words(), row.reason)+"; "
	}
	ev := row.latest
	ev.Elapsed = l.r.board.age(row, now)
	switch ev.Kind {
	case poll.EventWait:
		text += waitWords("next attempt in ", ev, max(0, ev.State.Due.Sub(now)))
	case poll.EventStart:
		text += "attempt running for " + words.Short(now.Sub(ev.At))
	default:
		text += "still waiting"
	}
	if usual := l.r.forecast(row.operation(now)); usual != "" {
		text += "; " + usual
	}
	l.row(ev, what, text)
}

// count reports how many targets are in which state.
func (l *lines) count(now time.Time) {
	b := l.r.board
	closed := ""
	if places := b.closed(now); len(places) > 0 {
		closed = words.Count(len(places), "place") + " closed"
	}
	text := b.countWords(l.r.cfg.Palette)
	for _, more := range []string{l.r.listWords(now), closed} {
		text = before(text, more)
	}
	for _, most := range b.commonest(1) {
		text = before(text, fmt.Sprintf("%d: %s", len(most.rows), most.reason(l.r.glyphs.ellipsis)))
	}
	l.row(poll.Event{Elapsed: b.at(now)}, "-", text)
}
