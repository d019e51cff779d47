package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/words"
)

// maxChanges is how many changes of the reason within one status a log reports at
// once.
const maxChanges = 20

// log is the face for a log, and for the lines above a status line. It reports a
// change of the status or of the deciding rule at once; in a real log also the
// first maxChanges other changes of the reason, and the state at every heartbeat.
// With the face None it reports only how a run failed.
type log struct {
	r            *Reporter
	heartbeat    time.Duration // the longest silence now, 0 for no limit
	maxHeartbeat time.Duration // the limit of its growth
	spoke        time.Time     // when it last wrote
}

// logged is what a log has written about a run.
type logged struct {
	opened  bool
	status  status.Status
	rule    string
	reason  string
	step    string // of the progress
	changes int    // of the reason or the progress alone, reported at once
	attempt int    // the last attempt reported
	next    string // the URL of the attempts since one was redirected
	body    string // the head of the last body shown
}

func (l *log) event(ev poll.Event) {
	u := l.r.run
	if l.r.cfg.Face == None && (ev.Kind != poll.EventEnd || ev.Outcome.Ending == poll.Succeeded) {
		return
	}
	if !u.logged.opened && ev.Kind != poll.EventEnd {
		l.say(l.r.opening(oneLine(u.latest.Target), cmp.Or(l.r.cfg.Timeout, u.timeout()), u.latest.MaxAttempts))
	}
	u.logged.opened = true
	switch ev.Kind {
	case poll.EventWait:
		l.waiting(u, ev)
	case poll.EventAttempt:
		l.attempt(u, ev)
	case poll.EventEnd:
		l.r.con.say(l.r.closing(ev.Outcome, ""))
	}
}

// attempt reports an attempt if it is new or everything is wanted.
func (l *log) attempt(u *run, ev poll.Event) {
	said, o := &u.logged, ev.Observation
	switch {
	case o != nil && o.Stopped() && !l.r.cfg.Verbose:
		// It was ended from outside and decides nothing: the end reports it.
	case l.r.cfg.Verbose, said.attempt == 0, ev.Verdict.Status != said.status, ev.Verdict.Rule != said.rule:
		l.verdict(said, ev)
	case (verdictWords(ev) != said.reason || l.r.reading.step() != said.step) && said.changes < maxChanges && l.r.cfg.Face != Live:
		l.verdict(said, ev)
		if said.changes++; said.changes == maxChanges {
			quieter := "the reason changes often: from now on only the status is shown"
			if l.heartbeat > 0 {
				quieter = "the reason changes often: from now on it is shown with the heartbeat"
			}
			l.row(ev, "note", quieter)
		}
	}
	if o != nil && o.Following.Next != "" && o.Following.Next != said.next {
		said.next = o.Following.Next
		l.row(ev, "follow", "now looking at "+oneLine(said.next))
	}
	if l.r.cfg.Verbose {
		l.details(said, ev)
	}
}

// verdict reports what the attempt of ev saw.
func (l *log) verdict(said *logged, ev poll.Event) {
	said.status, said.rule = ev.Verdict.Status, ev.Verdict.Rule
	said.reason, said.attempt, said.step = verdictWords(ev), ev.State.Attempts, l.r.reading.step()
	l.row(ev, ev.Verdict.Status.String(), l.saw(ev))
}

// saw says what an attempt saw. Hints are said once: they do not make a later reason new.
func (l *log) saw(ev poll.Event) string {
	text := strings.Join(append([]string{verdictWords(ev)}, hints(ev.Verdict)...), "; ")
	return before(l.r.reading.words(), text)
}

// details reports the decision and its grounds.
func (l *log) details(said *logged, ev poll.Event) {
	if ev.Verdict.Rule != "" {
		l.row(ev, "rule", oneLine(ev.Verdict.Rule))
	}
	for _, n := range ev.Verdict.Notes {
		l.row(ev, "note", oneLine(n))
	}
	o := ev.Observation
	if o == nil {
		return
	}
	for _, s := range o.Remarks {
		l.row(ev, "remark", oneLine(s))
	}
	if o.Hint != nil {
		l.row(ev, "hint", fmt.Sprintf("%s asks for %s", oneLine(o.Hint.Source), words.Short(o.Hint.Wait)))
	}
	l.answer(said, ev)
}

// answer reports how an attempt was answered. It does not repeat a body that looks
// the same as the last.
func (l *log) answer(said *logged, ev poll.Event) {
	o, what := ev.Observation, "none"
	if code := answerCode(o); code != "" || len(o.Body) > 0 {
		what = strings.TrimPrefix(code+", "+sizeWords(o), ", ")
	}
	if o.Taken {
		what += ", from another process"
	} else {
		what += ", took " + words.Short(ev.Took)
	}
	columns := blockWidth
	if w := l.width(); w > 0 {
		columns = min(columns, w)
	}
	body := excerpt(o.Body, verboseHead, columns, false)
	if body != "" && body == said.body {
		what, body = what+", looks the same", ""
	} else {
		said.body = body
	}
	l.row(ev, "answer", what)
	l.say(body)
}

// waiting reports how long a wait is and why, except for the schedule's ordinary
// wait after an attempt that was not reported.
func (l *log) waiting(u *run, ev poll.Event) {
	if ev.Wait == 0 && hintOf(ev) == nil || ev.HeldBy != "" && !l.r.cfg.Verbose {
		return
	}
	asked := hintOf(ev) != nil || u.status() == status.Throttled
	if l.r.cfg.Verbose || asked && u.attempt != nil && u.logged.attempt == u.attempt.State.Attempts {
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
// word) and words.
func (l *log) row(ev poll.Event, what, text string) {
	if w := l.width(); w > 0 {
		text = term.Cut(text, w-textColumn, l.r.glyphs.ellipsis)
	}
	number := "-"
	if ev.State.Attempts > 0 {
		number = fmt.Sprintf("#%d", ev.State.Attempts)
	}
	line := fmt.Sprintf("%9s  %-5s %s  %s", words.Clock(ev.Elapsed), number, paint(l.r.cfg.Palette, what, statusWidth), text)
	l.say(strings.TrimRight(line, " ") + "\n")
}

// width returns the width of the terminal above whose status line the rows are
// written, 0 for no limit: a log shows everything.
func (l *log) width() int {
	if l.r.cfg.Face != Live {
		return 0
	}
	return l.r.cfg.Streams.Width()
}

func (l *log) say(text string) {
	if text == "" || l.r.cfg.Face == Live && !l.r.cfg.Streams.Foreground() {
		return
	}
	l.spoke = time.Now()
	l.r.con.say(text)
}

// due returns when the silence reaches its limit.
func (l *log) due() time.Time {
	if l.heartbeat <= 0 {
		return time.Time{}
	}
	return l.spoke.Add(l.heartbeat)
}

// beat makes the next silence longer.
func (l *log) beat() {
	if l.heartbeat < l.maxHeartbeat {
		l.heartbeat = min(2*l.heartbeat, l.maxHeartbeat)
	}
}

// tick is the heartbeat: it repeats the last verdict, and adds what is under way.
func (l *log) tick(now time.Time) {
	l.beat()
	u := l.r.run
	what, text := "-", ""
	if u.attempt != nil {
		u.logged.reason, u.logged.attempt = verdictWords(*u.attempt), u.attempt.State.Attempts
		what, text = u.status().String(), before(u.reading.words(), u.logged.reason)+"; "
	}
	ev := u.latest
	ev.Elapsed = u.elapsed(now)
	switch ev.Kind {
	case poll.EventWait:
		text += waitWords("next attempt in ", ev, max(0, ev.State.Due.Sub(now)))
	case poll.EventStart:
		text += "attempt running for " + words.Short(now.Sub(ev.At))
	default:
		text += "still waiting"
	}
	if usual := l.r.forecast(u.age(now)); usual != "" {
		text += "; " + usual
	}
	l.row(ev, what, text)
}

// paint pads a word to width and colours it if it is a status.
func paint(p term.Palette, what string, width int) string {
	return p.Paint(toneOf(what), what) + strings.Repeat(" ", max(0, width-len(what)))
}

// toneOf returns the tone of a status, and Faint for other words.
func toneOf(what string) term.Tone {
	return map[string]term.Tone{
		status.Success.String():   term.Good,
		status.NotReady.String():  term.Pending,
		status.Throttled.String(): term.Slow,
		status.Error.String():     term.Bad,
	}[what]
}
