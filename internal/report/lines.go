package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// maxChanges is how many changes of words within one status are said at once.
const maxChanges = 20

// lines is the face of a log. A change of the status or of the rule that
// decided is said at once, other changes of words maxChanges times; besides, it
// speaks at every heartbeat.
type lines struct {
	r       *Reporter
	changes int       // of words within one status that are said at once
	beats   int       // heartbeats so far
	spoke   time.Time // when it last spoke
	talks   map[*run]*talk
}

// talk is what the lines face has said of one run.
type talk struct {
	status  status.Status
	rule    string
	words   string
	changes int    // of words, that were said at once
	attempt int    // the last attempt that was said
	body    string // the head of the last body that was shown
}

func (l *lines) event(u *run, ev poll.Event) {
	t := l.talk(u)
	switch ev.Kind {
	case poll.WaitEvent:
		l.waits(t, u, ev)
	case poll.AttemptEvent:
		l.attempt(t, u, ev)
	case poll.EndEvent:
		l.r.con.say(l.r.closing(ev.Outcome, ""))
	}
}

// talk returns what was said of u. The first time, it says what is waited for.
func (l *lines) talk(u *run) *talk {
	t, ok := l.talks[u]
	if !ok {
		if l.talks == nil {
			l.talks = make(map[*run]*talk)
		}
		t = new(talk)
		l.talks[u] = t
		if !u.ended() {
			l.say(opening(u, l.r.cfg.Until))
		}
	}
	return t
}

// attempt says what an attempt saw, if that is new or everything is wanted.
func (l *lines) attempt(t *talk, u *run, ev poll.Event) {
	switch {
	case stopped(ev) && !l.r.cfg.Verbose:
		// It was ended from outside and decides nothing: the end will say so.
	case l.r.cfg.Verbose, t.decidedAnew(ev.Verdict):
		l.verdict(t, ev)
	case verdictWords(ev) != t.words && t.changes < l.changes:
		l.verdict(t, ev)
		if t.changes++; t.changes == l.changes {
			l.row(ev.Elapsed, ev.Attempt, "note", l.quieter())
		}
	}
	if o := ev.Observation; o != nil {
		if o.Next != "" && o.Next != u.next {
			u.next = o.Next
			l.row(ev.Elapsed, ev.Attempt, "follow", "now looking at "+words(o.Next))
		}
	}
	if l.r.cfg.Verbose {
		l.details(t, ev)
	}
}

// stopped reports whether an attempt was ended from outside.
func stopped(ev poll.Event) bool {
	o := ev.Observation
	return o != nil && o.Failure != nil && o.Failure.Kind == status.Stopped
}

// decidedAnew reports whether another status was found than was last said, or
// by another rule.
func (t *talk) decidedAnew(v status.Verdict) bool {
	return t.attempt == 0 || v.Status != t.status || v.Rule != t.rule
}

// verdict says what the attempt of ev saw.
func (l *lines) verdict(t *talk, ev poll.Event) {
	t.status, t.rule = ev.Verdict.Status, ev.Verdict.Rule
	t.words, t.attempt = verdictWords(ev), ev.Attempt
	l.row(ev.Elapsed, ev.Attempt, ev.Verdict.Status.String(), t.words)
}

// verdictWords returns the reason, and how often it was heard where a
// threshold asks for more than once.
func verdictWords(ev poll.Event) string {
	s := words(ev.Verdict.Reason)
	if ev.Threshold > 1 && ev.Verdict.Status.Ends() {
		s += fmt.Sprintf(" (%d of %d in a row)", ev.Streak, ev.Threshold)
	}
	return s
}

// quieter says that from now on less will be said.
func (l *lines) quieter() string {
	if l.r.cfg.Heartbeat.First <= 0 {
		return "the words change often: from now on only the status is said"
	}
	return "the words change often: from now on they are said at the heartbeat"
}

// waits says how long and why, where that is not the schedule's ordinary wait
// after an attempt that was silent itself.
func (l *lines) waits(t *talk, u *run, ev poll.Event) {
	if ev.Wait == 0 && ev.Hint == nil {
		return
	}
	asked := ev.Hint != nil || u.status() == status.Throttled
	if l.r.cfg.Verbose || asked && u.last != nil && t.attempt == u.last.Attempt {
		l.row(ev.Elapsed, ev.Attempt-1, "wait", waitWords(ev))
	}
}

// waitWords says how long a wait is and why.
func waitWords(ev poll.Event) string {
	s := short(ev.Wait) + hintWords(ev)
	if ev.LastLook {
		s += ", for a last look before the deadline"
	}
	return s
}

// hintWords says of a wait that the server asked for it, and for how long if
// that is not what it got.
func hintWords(ev poll.Event) string {
	switch h := ev.Hint; {
	case h == nil:
		return ""
	case short(h.Wait) == short(ev.Wait):
		return ", as " + words(h.Source) + " asks"
	default:
		return fmt.Sprintf(" (%s asks for %s)", words(h.Source), short(h.Wait))
	}
}

// details says what was decided and on what grounds.
func (l *lines) details(t *talk, ev poll.Event) {
	if ev.Verdict.Rule != "" {
		l.row(ev.Elapsed, ev.Attempt, "rule", words(ev.Verdict.Rule))
	}
	for _, n := range ev.Verdict.Notes {
		l.row(ev.Elapsed, ev.Attempt, "note", words(n))
	}
	o := ev.Observation
	if o == nil {
		return
	}
	for _, s := range o.Remarks {
		l.row(ev.Elapsed, ev.Attempt, "remark", words(s))
	}
	if o.Hint != nil {
		l.row(ev.Elapsed, ev.Attempt, "hint", fmt.Sprintf("%s asks for %s", words(o.Hint.Source), short(o.Hint.Wait)))
	}
	l.answer(t, ev)
}

// answer says how an attempt was answered. A body that looks as the one before
// is not shown again.
func (l *lines) answer(t *talk, ev poll.Event) {
	o := ev.Observation
	what := answer(o)
	if what == "" && len(o.Body) == 0 {
		l.row(ev.Elapsed, ev.Attempt, "answer", "none, took "+short(ev.Took))
		return
	}
	if what != "" {
		what += ", "
	}
	what += bytesWords(o) + ", took " + short(ev.Took)
	body := head(o.Body, verboseHead)
	if body != "" && body == t.body {
		what += ", looks as before"
	}
	l.row(ev.Elapsed, ev.Attempt, "answer", what)
	if body != t.body {
		l.say(body)
	}
	t.body = body
}

// row says one line of the columns.
func (l *lines) row(elapsed time.Duration, attempt int, what, text string) {
	if w := l.r.cfg.Streams.Width(); w > 0 && l.r.cfg.Face == Live {
		text = term.Cut(text, w-textColumn, l.r.ellipsis())
	}
	l.say(row(l.r.cfg.Palette, elapsed, attempt, what, text))
}

// textColumn is where the words of a row begin.
const textColumn = 9 + 2 + 5 + 1 + 9 + 2

// row lays out elapsed, #attempt, what (a status, or a word for what else is
// said) and words.
func row(p term.Palette, elapsed time.Duration, attempt int, what, text string) string {
	number := "-"
	if attempt > 0 {
		number = fmt.Sprintf("#%d", attempt)
	}
	line := fmt.Sprintf("%9s  %-5s %s%s  %s", clock(elapsed), number,
		paint(p, what), strings.Repeat(" ", max(0, 9-len(what))), text)
	return strings.TrimRight(line, " ") + "\n"
}

// paint gives a status its colour.
func paint(p term.Palette, what string) string {
	switch what {
	case status.Success.String():
		return p.Good(what)
	case status.NotReady.String():
		return p.Pending(what)
	case status.Throttled.String():
		return p.Slow(what)
	case status.Error.String():
		return p.Bad(what)
	}
	return p.Faint(what)
}

func (l *lines) say(text string) {
	if text == "" || l.r.cfg.Face == Live && !l.r.cfg.Streams.Foreground() {
		return
	}
	l.spoke = time.Now()
	l.r.con.say(text)
}

// due is when the silence has lasted as long as it may.
func (l *lines) due() time.Time {
	if l.r.cfg.Heartbeat.First <= 0 || l.idle() {
		return time.Time{}
	}
	return l.spoke.Add(l.silence())
}

// idle reports whether there is nothing to tell about.
func (l *lines) idle() bool {
	for _, u := range l.r.runs {
		if !u.ended() {
			return false
		}
	}
	return true
}

// silence is how long the face may be silent now.
func (l *lines) silence() time.Duration {
	h := l.r.cfg.Heartbeat
	d := h.First
	for range l.beats {
		if d >= h.Max/2 {
			return max(h.First, h.Max)
		}
		d *= 2
	}
	return d
}

// beat says where every run is.
func (l *lines) beat(now time.Time) {
	l.beats++
	for _, u := range l.r.runs {
		if !u.ended() {
			l.where(u, now)
		}
	}
}

// where says the last verdict again, and what is under way.
func (l *lines) where(u *run, now time.Time) {
	t := l.talk(u)
	what, text, attempt := "-", "", u.at.Attempt
	if u.last != nil {
		t.words = verdictWords(*u.last)
		t.attempt = u.last.Attempt
		what, text = u.status().String(), t.words+"; "
	}
	if u.at.Kind == poll.WaitEvent {
		attempt-- // the next has not begun
	}
	l.row(u.elapsed(now), attempt, what, text+progress(u, now))
}

// progress says what a run is doing.
func progress(u *run, now time.Time) string {
	switch u.at.Kind {
	case poll.WaitEvent:
		return "next attempt in " + short(u.at.NextAt.Sub(now)) + hintWords(u.at)
	case poll.StartEvent:
		return "attempt running for " + short(now.Sub(u.at.At))
	}
	return "still waiting"
}

// opening says what is waited for and how long.
func opening(u *run, until []string) string {
	var b strings.Builder
	b.WriteString("poll: waiting for " + words(u.target))
	if len(until) > 0 {
		b.WriteString(" until " + term.Cut(term.Line(strings.Join(until, " or ")), 120, "..."))
	}
	if d := u.timeout(); d > 0 {
		b.WriteString(", up to " + short(d))
	} else {
		b.WriteString(", without a time limit")
	}
	if u.maxAttempts > 0 {
		b.WriteString(", at most " + count(u.maxAttempts, "attempt"))
	}
	b.WriteByte('\n')
	return b.String()
}
