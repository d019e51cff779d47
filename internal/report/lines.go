package report

import (
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
	case poll.EventWait:
		l.waits(t, u, ev)
	case poll.EventAttempt:
		l.attempt(t, u, ev)
	case poll.EventEnd:
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
			l.say(l.r.opening(u))
		}
	}
	return t
}

// attempt says what an attempt saw, if that is new or everything is wanted.
func (l *lines) attempt(t *talk, u *run, ev poll.Event) {
	switch {
	case ev.Observation != nil && ev.Observation.Stopped() && !l.r.cfg.Verbose:
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
		if o.Following.Next != "" && o.Following.Next != u.next {
			u.next = o.Following.Next
			l.row(ev.Elapsed, ev.Attempt, "follow", "now looking at "+oneLine(o.Following.Next))
		}
	}
	if l.r.cfg.Verbose {
		l.details(t, ev)
	}
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
	// The hints are said once: they make no later words new.
	text := strings.Join(append([]string{t.words}, hints(ev.Verdict)...), "; ")
	l.row(ev.Elapsed, ev.Attempt, ev.Verdict.Status.String(), text)
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

// row says one line of the columns.
func (l *lines) row(elapsed time.Duration, attempt int, what, text string) {
	if w := l.width(); w > 0 {
		text = term.Cut(text, w-textColumn, l.r.ellipsis())
	}
	l.say(row(l.r.cfg.Palette, elapsed, attempt, what, text))
}

// width is that of the terminal above whose live line the rows stand, 0 for no
// limit: a log keeps everything.
func (l *lines) width() int {
	if l.r.cfg.Face != Live {
		return 0
	}
	return l.r.cfg.Streams.Width()
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
	if u.at.Kind == poll.EventWait {
		attempt-- // the next has not begun
	}
	text += progress(u, now)
	if usual := l.r.forecast(u.age(now)); usual != "" {
		text += "; " + usual
	}
	l.row(u.elapsed(now), attempt, what, text)
}
