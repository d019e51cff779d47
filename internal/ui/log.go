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

// A logFace writes the log: the output of the face Lines, and the lines above the status lines of the face Live.
// For a single wait and for a list, it reports attempts that bring news (see isNews). For few targets, it reports
// the end of each target. For many targets, it reports the first failures, and at each heartbeat the number of
// targets in each state. With the face None, it reports only failures.
type logFace struct {
	*view
	con          *console
	heartbeat    time.Duration // the current maximum time without a line; 0 means no limit
	maxHeartbeat time.Duration // the maximum to which heartbeat grows
	lastWrite    time.Time     // when the last line was written
	opened       bool
	reported     map[string][]string // the messages that are reported only once, by kind
}

// A logged describes the last line of the log about a row.
type logged struct {
	verdict string // the status and the rule of the verdict
	text    string // the reason and the progress, without details that always change
	changes int    // how often the text has changed while the verdict has not
}

const statusWidth = len("NOT_READY") // the width of a status in columns

// event reports an event. row belongs to the event's target, or is nil. found is the progress that the event's
// response contains.
func (l *logFace) event(row *boardRow, ev poll.Event, found shown) {
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
		if o := ev.Outcome; o != nil && slices.Contains(o.Hints, status.Hint{Kind: status.HintDone}) { // it is uncertain whether the operation is done
			l.write(ownLines(hintLines("note: ", "", o.Verdict.Hints, status.HintNote)))
		}
	case isEnd:
		l.write(ownLines(l.closing(ev).lines()))
	case ev.Kind == poll.EventEnd:
		l.end(row, ev)
	case silent:
	case ev.Kind == poll.EventOrigin && !single: // the reason of a single wait already contains it
		l.origin(ev)
	case ev.Kind == poll.EventWait && single:
		if l.cfg.Verbose && (ev.Wait > 0 || requestedWait(ev) != nil) {
			l.wait(ev)
		}
	case ev.Kind == poll.EventWait && row.n == 0:
		l.elements(ev)
	case ev.Kind == poll.EventAttempt, ev.Kind == poll.EventMessage:
		l.attempt(row, ev, found)
	}
}

// opening returns the first lines of the log: what poll waits for, the time limit, how long such a wait usually
// takes, and the lines in Config.Opening.
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

// isFirst reports whether text, a message of the given kind, should be reported. If so, isFirst remembers text. It
// returns false if text was reported before, or if mostShown messages of that kind were reported.
func (l *logFace) isFirst(kind, text string) bool {
	before := l.reported[kind]
	if len(before) >= mostShown || slices.Contains(before, text) {
		return false
	}
	l.reported[kind] = append(before, text)
	return true
}

// elements reports the most common reasons why elements of a list are not done, unless the same reasons have been
// reported before.
func (l *logFace) elements(ev poll.Event) {
	var patterns []string
	for _, most := range l.board.commonest(2) {
		patterns = append(patterns, most[0].reasonPattern())
	}
	slices.Sort(patterns)
	if l.cfg.Face == Lines && len(patterns) > 0 && l.isFirst("reasons", clauses(patterns...)) {
		l.row(ev, string(status.NotReady), l.states(2))
	}
}

// states returns the number of targets in each state, followed by the most common reasons. reasons is the maximum
// number of reasons.
func (l *logFace) states(reasons int) string {
	texts := []string{l.board.states()}
	for _, most := range l.board.commonest(reasons) {
		texts = append(texts, fmt.Sprintf("%d of them: %s", len(most), most.reason()))
	}
	return clauses(texts...)
}

// attempt reports an attempt if it brings news, or if all attempts should be reported (--verbose).
func (l *logFace) attempt(row *boardRow, ev poll.Event, found shown) {
	isVerbose, ofAll := l.cfg.Verbose, row.n == 0
	switch {
	case isVerbose, ofAll && l.isNews(row, ev, found):
		l.verdict(row, ev, found)
	case !ofAll && len(corrections(ev.Verdict)) > 0 && l.isFirst("hint", row.reasonPattern()): // the hint probably applies to other targets, too
		l.verdict(row, ev, found)
	}
	if isVerbose && ev.Kind == poll.EventAttempt {
		l.details(ev)
	}
}

// isNews reports whether an attempt of a single wait or a list is worth a line in the log. A new status or a new
// rule is always worth a line. A change of only the reason or the progress is worth a line at most mostShown times,
// and never while status lines show it. An attempt that ends a single wait is worth no line if the closing line will
// contain the same reason. If several targets are drawn on the terminal, or if there are many lists, only problems
// in reading a list are worth a line.
func (l *logFace) isNews(row *boardRow, ev poll.Event, found shown) bool {
	b, isDrawn := l.board, l.cfg.Face == Live
	switch {
	case ev.Observation.Stopped():
		return false // the attempt was stopped; the log reports the end of the wait instead
	case b.single() && endsWait(ev) && (len(l.cfg.Show) == 0 || found.words() == ""):
		return false // the closing line will contain the same reason
	case !b.single() && !row.trouble && (isDrawn || len(b.lists) > mostShown):
		return false
	case verdictOf(ev) != row.logged.verdict:
		return true
	}
	return !isDrawn && row.logged.changes < mostShown && textOf(ev, found) != row.logged.text
}

// verdictOf returns the status and the rule of an attempt's verdict as one string.
func verdictOf(ev poll.Event) string { return string(ev.Verdict.Status) + " " + ev.Verdict.Rule }

// textOf returns the reason and the progress of an attempt, without the parts that change in every attempt. If the
// results for two attempts differ, something has really changed.
func textOf(ev poll.Event, found shown) string {
	return passing().ReplaceAllString(oneLine(ev.Verdict.Reason), "$1") + found.step()
}

// passing matches a variable whose value changes in every attempt, as in "$elapsed is 4s". The first group is the
// matched text without the value.
var passing = words.Pattern(`(\$(?:elapsed|unchanged|attempt) is )[\d.a-zµ]+`)

// verdict writes the line about an attempt's verdict.
func (l *logFace) verdict(row *boardRow, ev poll.Event, found shown) {
	logged := &row.logged
	isChange := logged.verdict == verdictOf(ev)
	logged.verdict, logged.text = verdictOf(ev), textOf(ev, found)
	// Hints are not part of logged.text: a later attempt without the hint is not news.
	text := clauses(append([]string{found.words(), row.reason}, corrections(ev.Verdict)...)...)
	l.row(ev, string(row.status), l.named(row, text))
	if !isChange || l.cfg.Verbose {
		return
	}
	if logged.changes++; logged.changes == mostShown {
		l.row(ev, "note", l.named(row, "the reason changes often: from now on it is shown with the heartbeat"))
	}
}

// details reports the rule that matched, the notes on the verdict, and the start of the response.
func (l *logFace) details(ev poll.Event) {
	if ev.Verdict.Rule != "" {
		l.row(ev, "rule", oneLine(ev.Verdict.Rule))
	}
	o := ev.Observation
	for _, note := range hintLines("", "", slices.Concat(ev.Verdict.Hints, o.Hints), status.HintNote) {
		l.row(ev, "note", note)
	}
	what := "none"
	if code := codeOf(o); code != "" || len(o.Body) > 0 {
		what = joined(", ", code, sizeOf(o))
	}
	l.row(ev, "response", what+", took "+words.Short(ev.Took))
	l.write(ownLines(excerpt(o.Body, verboseHead, false)))
}

// named returns text with the target's name in front. If there is only one target, it returns text unchanged.
func (l *logFace) named(row *boardRow, text string) string {
	if l.board.single() {
		return text
	}
	return oneLine(row.name) + ": " + text
}

// end reports how one of several targets ended. It reports nothing if the closing lines will contain the same
// information. This is the case for a list, and for a target that ended because the whole wait or its list ended.
// end also reports nothing if the target ended in an earlier run, or if a later run continues the wait for the
// target.
func (l *logFace) end(row *boardRow, ev poll.Event) {
	o, b := ev.Outcome, l.board
	if row.n == 0 || o.Resumed || l.cfg.Slice && isOpen(o.Ending) {
		return
	}
	limit := l.cfg.Timeout
	withAll := o.Ending == poll.Interrupted || o.Ending == poll.TimedOut && limit > 0 && ev.Deadline.Sub(b.began) >= limit
	endedAlike := func(list *boardRow) bool { return list.ending == o.Ending && list.outcome.Reason == o.Reason }
	if withAll || slices.ContainsFunc(b.failed(), endedAlike) {
		return
	}
	failed := row.isMissed()
	isReported := failed && l.isFirst("failure", strconv.Itoa(row.n)) || b.isFew() && l.cfg.Face != None
	isKnown := l.cfg.Verbose && byVerdict(o.Ending) && o.Reason == o.Verdict.Reason // the line about the last attempt has already reported it
	if isReported && !isKnown && !l.inTable() {
		what := string(o.Status)
		if o.Ending == poll.Cancelled || what == "" {
			what = meaningOf(o.Ending).state
		}
		l.row(ev, what, l.named(row, oneLine(o.Reason)))
	}
	if isReported && failed && len(l.reported["failure"]) == mostShown && !b.isFew() {
		l.row(poll.Event{Elapsed: ev.Elapsed}, "note", "further failures are only counted, until the end")
	}
}

// origin reports that poll holds back attempts at an origin (a scheme, host and port). It reports each origin only
// once.
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

// wait reports the length of the next wait, and why the wait is longer than the schedule requires.
func (l *logFace) wait(ev poll.Event) {
	text := clauses(words.Short(ev.Wait), heldWords(ev.HeldBy))
	if asked := requestedWait(ev); asked != nil {
		text += "; " + waitWords(asked)
	}
	if ev.State.LastAttempt {
		text += "; for a last check before the deadline"
	}
	l.row(ev, "wait", text)
}

// row writes a line of the log. Its columns are the elapsed time, the number of the attempt, the parameter what,
// which is a status or another word, and text.
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

// note writes notes. It writes nothing if the progress is printed as JSON or not at all, that is, with the faces JSON
// and None.
func (l *logFace) note(notes ...string) {
	if l.cfg.Face != JSON && l.cfg.Face != None && !l.con.inBackground() {
		l.con.print(l.fit(ownLines(oneLines("note: ", notes))))
	}
}

// write writes lines to the console, and restarts the time until the next heartbeat.
func (l *logFace) write(text string) {
	if text == "" || l.con.inBackground() {
		return
	}
	l.lastWrite = time.Now()
	l.con.print(l.fit(text))
}

// tick writes the heartbeat. For a single wait, it repeats the last verdict and shows the next step. For several
// targets, it shows the number of targets in each state. It then doubles the time until the next heartbeat, up to
// maxHeartbeat.
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
	row := b.rows[0]
	ev := poll.Event{Elapsed: b.age(row, now)}
	ev.State.Attempts = row.attempt
	if row.phase == poll.EventWait {
		ev.State.Attempts-- // row.attempt is the next attempt, but the line describes the previous attempt
	}
	l.row(ev, cmp.Or(string(row.status), "-"), clauses(row.progress.words(), row.reason, l.outlookOn(row, now)))
}
