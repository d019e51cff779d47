package ui

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// A logFace is the face for a log, and for the lines above the status lines. It reports the news of a
// single wait and of a list (see isNews). It reports every end of few targets, the first failures of many, and at
// every heartbeat the states of all. With the face None it reports only failures.
type logFace struct {
	*view
	con          *console
	heartbeat    time.Duration // the longest silence now, 0 for no limit
	maxHeartbeat time.Duration // the limit of its growth
	spoke        time.Time     // when the log last wrote
	opened       bool
	reported     map[string][]string // by kind, the texts that are reported once
}

// A logged is the last report of a row.
type logged struct {
	verdict string // the status and the rule
	text    string // the reason, and the step of the progress
	changes int    // of the text alone
}

const statusWidth = len("NOT_READY") // columns of a status

// event reports an event. The row is its target, or nil, and found is the progress in its
// response.
func (l *logFace) event(row *Row, ev poll.Event, found shown) {
	silent, single, isEnd := l.cfg.Face == None, l.board.single(), l.board.isEnd(ev)
	if ev.Elapsed = l.board.at(ev.At); !l.opened {
		l.opened = true
		if !silent && !isEnd {
			l.write(ownLines(l.opening(ev)))
		}
		l.note(l.notes...)
	}
	switch {
	case isEnd && silent && l.succeeded(ev):
		if o := ev.Outcome; o != nil && o.Verdict.Advice.Code == status.AdviceDone { // perhaps nothing is done
			l.write(ownLines(oneLines("note: ", o.Verdict.Notes)))
		}
	case isEnd:
		l.write(ownLines(l.lastWords(ev).lines()))
	case ev.Kind == poll.EventEnd:
		l.end(row, ev)
	case silent:
	case ev.Kind == poll.EventOrigin && !single: // the reason of a single wait reports it
		l.origin(ev)
	case ev.Kind == poll.EventWait && single:
		if l.cfg.Verbose && (ev.Wait > 0 || hintOf(ev) != nil) {
			l.wait(ev)
		}
	case ev.Kind == poll.EventWait && row.n == 0:
		l.elements(ev)
	case ev.Kind == poll.EventAttempt, ev.Kind == poll.EventMessage:
		l.attempt(row, ev, found)
	}
}

// opening returns the goal of the wait, how long it may take, and how long it usually takes.
func (l *logFace) opening(ev poll.Event) []string {
	what, timeout, attempts := l.cfg.Goal, l.cfg.Timeout, 0
	if l.board.single() {
		what, attempts, timeout = oneLine(ev.Target), ev.MaxAttempts, cmp.Or(timeout, timeoutOf(ev))
	}
	text := "waiting for " + what
	if until := l.cfg.Until; len(until) > 0 {
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
	for _, line := range append([]string{outlook(l.cfg.Forecast)}, l.cfg.Opening...) {
		if line != "" {
			lines = append(lines, oneLine(line))
		}
	}
	return lines
}

// isFirst reports whether a text of a kind is new, and mostTold is not reached.
func (l *logFace) isFirst(kind, text string) bool {
	before := l.reported[kind]
	if len(before) >= mostTold || slices.Contains(before, text) {
		return false
	}
	l.reported[kind] = append(before, text)
	return true
}

// elements reports why elements of a list are not done, if the reasons are new.
func (l *logFace) elements(ev poll.Event) {
	var patterns []string
	for _, most := range l.board.commonest(2) {
		patterns = append(patterns, most[0].pattern)
	}
	slices.Sort(patterns)
	if l.cfg.Face == Lines && len(patterns) > 0 && l.isFirst("reasons", clauses(patterns...)) {
		l.row(ev, string(status.NotReady), l.states(2))
	}
}

// states returns the numbers of targets by state, and the most common reasons.
func (l *logFace) states(reasons int) string {
	texts := []string{l.board.states()}
	for _, most := range l.board.commonest(reasons) {
		texts = append(texts, fmt.Sprintf("%d of them: %s", len(most), most.reason()))
	}
	return clauses(texts...)
}

// attempt reports an attempt if it is news, or if all attempts are wanted.
func (l *logFace) attempt(row *Row, ev poll.Event, found shown) {
	isVerbose, ofAll := l.cfg.Verbose, row.n == 0
	switch {
	case isVerbose, ofAll && l.isNews(row, ev, found):
		l.verdict(row, ev, found)
	case !ofAll && len(ev.Verdict.Hints) > 0 && l.isFirst("hint", row.pattern): // other targets likely have the hint, too
		l.verdict(row, ev, found)
	}
	if isVerbose && ev.Kind == poll.EventAttempt {
		l.details(ev)
	}
}

// isNews reports whether an attempt of a single wait or a list is worth a line: its status or rule
// differs from those of the line before or, at most mostTold times, its text differs. On a drawn face only the status
// and the rule count. If lists are drawn, or many, only trouble is news.
func (l *logFace) isNews(row *Row, ev poll.Event, found shown) bool {
	b, isDrawn := l.board, l.cfg.Face == Live
	switch {
	case ev.Observation != nil && ev.Observation.Stopped():
		return false // the attempt decides nothing, and the end is reported
	case b.single() && ends(ev) && (len(l.cfg.Show) == 0 || found.words() == ""):
		return false // the closing line has the same reason
	case !b.single() && !row.trouble && (isDrawn || len(b.lists) > mostTold):
		return false
	case verdictOf(ev) != row.logged.verdict:
		return true
	}
	return !isDrawn && row.logged.changes < mostTold && textOf(ev, found) != row.logged.text
}

// verdictOf returns the status and the rule of an attempt.
func verdictOf(ev poll.Event) string { return string(ev.Verdict.Status) + " " + ev.Verdict.Rule }

// textOf returns the text of an attempt whose change is news. Times and counts that change in every attempt
// are left out.
func textOf(ev poll.Event, found shown) string {
	return passing().ReplaceAllString(oneLine(ev.Verdict.Reason), "$1") + found.step()
}

// passing matches values that change in every attempt.
var passing = words.Pattern(`(\$(?:elapsed|unchanged|attempt) is )[\d.a-zµ]+`)

// verdict reports the verdict of an attempt.
func (l *logFace) verdict(row *Row, ev poll.Event, found shown) {
	logged := &row.logged
	isChange := logged.verdict == verdictOf(ev)
	logged.verdict, logged.text = verdictOf(ev), textOf(ev, found)
	// A hint is reported once: it does not make a later reason new.
	text := clauses(append([]string{found.words(), row.reason}, hints(ev.Verdict)...)...)
	l.row(ev, string(row.status), l.named(row, text))
	if !isChange || l.cfg.Verbose {
		return
	}
	if logged.changes++; logged.changes == mostTold {
		l.row(ev, "note", l.named(row, "the reason changes often: from now on it is shown with the heartbeat"))
	}
}

// details reports the rule of a verdict, its notes, and the head of the response.
func (l *logFace) details(ev poll.Event) {
	if ev.Verdict.Rule != "" {
		l.row(ev, "rule", oneLine(ev.Verdict.Rule))
	}
	o := ev.Observation
	if o == nil {
		return
	}
	for _, note := range oneLines("", ev.Verdict.Notes, o.Remarks) {
		l.row(ev, "note", note)
	}
	what := "none"
	if code := codeOf(o); code != "" || len(o.Body) > 0 {
		what = joined(", ", code, sizeOf(o))
	}
	l.row(ev, "response", what+", took "+words.Short(ev.Took))
	l.write(ownLines(excerpt(o.Body, verboseHead, false)))
}

// named puts the name of a target before words, unless it is the only target.
func (l *logFace) named(row *Row, text string) string {
	if l.board.single() {
		return text
	}
	return oneLine(row.name) + ": " + text
}

// end reports how one of several targets ended. The last words name lists, and targets that ended because all
// ended. A target that ended in an earlier run, or continues in a later run, is not reported.
func (l *logFace) end(row *Row, ev poll.Event) {
	o, b := ev.Outcome, l.board
	if row.n == 0 || o.Resumed || l.cfg.Slice && isOpen(o.Ending) {
		return
	}
	limit := l.cfg.Timeout
	withAll := o.Ending == poll.Interrupted || o.Ending == poll.TimedOut && limit > 0 && ev.Deadline.Sub(b.began) >= limit
	endedAlike := func(list *Row) bool { return list.ending == o.Ending && list.outcome.Reason == o.Reason }
	if withAll || slices.ContainsFunc(b.failed(), endedAlike) {
		return
	}
	failed := row.isMissed()
	told := failed && l.isFirst("failure", strconv.Itoa(row.n)) || b.few() && l.cfg.Face != None
	isKnown := l.cfg.Verbose && byVerdict(o.Ending) && o.Reason == o.Verdict.Reason // by the line of the attempt
	if told && !isKnown && !l.inTable() {
		what := string(o.Status)
		if o.Ending == poll.Cancelled || what == "" {
			what = meaningOf(o.Ending).state
		}
		l.row(ev, what, l.named(row, oneLine(o.Reason)))
	}
	if told && failed && len(l.reported["failure"]) == mostTold && !b.few() {
		l.row(poll.Event{Elapsed: ev.Elapsed}, "note", "further failures are only counted, until the end")
	}
}

// origin reports the first time that attempts at an origin are held back.
func (l *logFace) origin(ev poll.Event) {
	p := ev.Origin
	if !l.isFirst("origin", p.Name) {
		return
	}
	text := oneLine(p.Name)
	if left := p.ClosedUntil.Sub(ev.At); left > 0 {
		text += " closed for " + words.Short(left)
	}
	l.row(poll.Event{Elapsed: ev.Elapsed}, "origin", joined(": ", text, oneLine(p.Reason)))
}

// wait reports how long a wait is, and what else than the schedule makes it so long.
func (l *logFace) wait(ev poll.Event) {
	text := clauses(words.Short(ev.Wait), heldWords(ev.HeldBy))
	if hint := hintOf(ev); hint != nil {
		text += "; " + hintWords(hint)
	}
	if ev.State.LastAttempt {
		text += "; for a last check before the deadline"
	}
	l.row(ev, "wait", text)
}

// row writes a line with the columns elapsed, #attempt, a status or another word, and the text.
func (l *logFace) row(ev poll.Event, what, text string) {
	number := "-"
	if ev.State.Attempts > 0 {
		number = fmt.Sprintf("#%d", ev.State.Attempts)
	}
	padding := pad("", statusWidth-len(what))
	what = l.cfg.Palette.Paint(term.Tone(what), what)
	line := fmt.Sprintf("%9s  %-5s %s  %s", clock(ev.Elapsed), number, what+padding, text)
	if l.cfg.Face == Live && l.isNarrow() {
		line = clock(ev.Elapsed) + " " + what + " " + text
	}
	l.write(strings.TrimRight(line, " ") + "\n")
}

// note writes notes. The faces JSON and None leave them out.
func (l *logFace) note(notes ...string) {
	if l.cfg.Face != JSON && l.cfg.Face != None && !l.con.inBackground() {
		l.con.say(l.fit(ownLines(oneLines("note: ", notes))))
	}
}

// write writes lines, and postpones the heartbeat.
func (l *logFace) write(text string) {
	if text == "" || l.con.inBackground() {
		return
	}
	l.spoke = time.Now()
	l.con.say(l.fit(text))
}

// tick writes the heartbeat: the last verdict of a single wait and its next step, or the states of several
// targets. The next silence is longer.
func (l *logFace) tick(now time.Time) {
	if l.heartbeat < l.maxHeartbeat {
		l.heartbeat = min(2*l.heartbeat, l.maxHeartbeat)
	}
	b := l.board
	if !b.single() {
		texts := []string{l.states(1)}
		for _, list := range b.open() {
			texts = append(texts, fmt.Sprintf("list #%d %s", list.attempt, l.outlookOn(list, now)))
		}
		l.row(poll.Event{Elapsed: b.at(now)}, "-", clauses(texts...))
		return
	}
	row, what := b.rows[0], "-"
	if row.checked > 0 {
		what = string(row.status)
	}
	ev := poll.Event{Elapsed: b.age(row, now)}
	ev.State.Attempts = row.attempt
	if row.phase == poll.EventWait {
		ev.State.Attempts-- // the last attempt was reported
	}
	l.row(ev, what, clauses(row.progress.words(), row.reason, l.outlookOn(row, now)))
}
