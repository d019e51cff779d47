package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/words"
)

const (
	// maxFailures is how many targets that failed are reported at once.
	maxFailures = 20
	// maxHinted is how many reasons are reported because of their hints.
	maxHinted = 3
	// maxPlaces is how many places are reported at once.
	maxPlaces = 20
	// placePause is the shortest time between two reports of a place. It doubles with
	// each, up to maxPlacePause.
	placePause, maxPlacePause = 10 * time.Second, 5 * time.Minute
)

// groupLog is the face for a log of several targets, and for the lines above what is
// drawn. Of few targets it reports every end, of many the first failures, and of all
// what holds them back and, at every heartbeat, how many are in which state. With the
// face None it reports only what went wrong.
type groupLog struct {
	log
	opened   bool
	failures int
	hinted   int
	said     map[int]*logged // of the targets whose attempts are all reported
}

func (l *groupLog) event(ev poll.Event) {
	r, g := l.r, l.r.group
	quiet := r.cfg.Face == None
	ev.Elapsed = g.at(ev.At) // that of an element begins when it is first seen
	if !l.opened && !quiet {
		l.say(r.opening(r.cfg.Goal, r.cfg.Timeout, 0))
	}
	l.opened = true
	switch {
	case ev.Kind == poll.EventAttempt && r.cfg.Verbose && !quiet:
		l.attempt(ev)
	case ev.Kind == poll.EventAttempt && ev.N == 0:
		if !quiet {
			l.list(g.listOf[ev.Target], ev)
		}
	case ev.Kind == poll.EventEnd && ev.N == 0: // its elements are told of, and the list at the end
	case ev.Kind == poll.EventAttempt && len(ev.Verdict.Hints) > 0 && !quiet:
		l.hint(g.targets[ev.N-1].reason, ev)
	case ev.Kind == poll.EventEnd:
		l.end(ev, quiet)
	case ev.Kind == poll.EventPlace && !quiet:
		l.place(g.placeOf[ev.Place.Name], ev)
	case ev.Kind == poll.EventGoal && (!quiet || ev.Summary.Ending != poll.Succeeded):
		l.say(r.groupClosing(ev.Summary))
	}
}

// hint reports an attempt after which it is known what may have been meant. That is
// likely the same for the other targets with this reason.
func (l *groupLog) hint(why *reason, ev poll.Event) {
	if why.hinted || l.hinted >= maxHinted {
		return
	}
	why.hinted = true
	l.hinted++
	if l.width() > 0 { // a row with the verdict would have no room for it
		l.line(ev, "note", strings.Join(hints(ev.Verdict), "; "))
		return
	}
	l.verdict(ev)
}

// verdict reports what an attempt saw.
func (l *groupLog) verdict(ev poll.Event) {
	l.target(ev, ev.Verdict.Status.String(), l.saw(ev))
}

// attempt reports an attempt and its grounds.
func (l *groupLog) attempt(ev poll.Event) {
	said := l.said[ev.N]
	if said == nil {
		if l.said == nil {
			l.said = make(map[int]*logged)
		}
		said = new(logged)
		l.said[ev.N] = said
	}
	l.verdict(ev)
	l.details(said, ev)
}

// end reports how a target ended.
func (l *groupLog) end(ev poll.Event, quiet bool) {
	o := ev.Outcome
	failed := missed(o.Ending) && !o.Resumed
	if failed {
		l.failures++
	}
	switch {
	case o.Resumed: // an earlier run did
	case l.r.shown(), l.r.group.endedWithList(o): // in a row of its own, or all at the end
	case l.r.cfg.Verbose && endedByVerdict(o.Ending) && o.Reason == o.Verdict.Reason: // the attempt was reported
	case failed && l.failures <= maxFailures, !failed && l.r.group.few() && !quiet:
		what := o.Status.String()
		if o.Ending == poll.Cancelled || what == "" {
			what = string(o.Ending)
		}
		l.target(ev, what, oneLine(o.Reason))
		if l.failures == maxFailures && !l.r.group.few() {
			ev.State.Attempts = 0
			l.line(ev, "note", "further failures are only counted, until the end")
		}
	}
}

// missed reports whether a target ended without what was waited for, by itself.
func missed(e poll.Ending) bool {
	return e != poll.Succeeded && e != poll.Cancelled && e != poll.Interrupted
}

// target writes a row about a target, which it names.
func (l *groupLog) target(ev poll.Event, what, text string) {
	name := oneLine(ev.Target)
	if room := l.room(what); room > 0 {
		name = term.CutMiddle(name, max(20, room/2), l.r.glyphs.ellipsis)
	}
	l.line(ev, what, name+": "+text)
}

// room returns how many columns the words of a line have, 0 for no limit.
func (l *groupLog) room(what string) int {
	switch w := l.width(); {
	case w == 0:
		return 0
	case w < narrow:
		return w - len(what) - 1
	default:
		return w - textColumn
	}
}

// line writes a row. On a narrow terminal it has only two columns.
func (l *groupLog) line(ev poll.Event, what, text string) {
	if w := l.width(); w == 0 || w >= narrow {
		l.row(ev, what, text)
		return
	}
	l.say(paint(l.r.cfg.Palette, what, 0) + " " + term.Cut(text, l.room(what), l.r.glyphs.ellipsis) + "\n")
}

// place tells that a place was closed or slowed down, but not at once each time.
func (l *groupLog) place(p *place, ev poll.Event) {
	if p.told.IsZero() && len(l.r.group.places) > maxPlaces {
		return
	}
	if !p.told.IsZero() && ev.At.Sub(p.told) < p.pause {
		p.untold++
		return
	}
	text := p.words(ev.At)
	if p.untold > 0 {
		text += fmt.Sprintf(", and %s since the last report", words.Count(p.untold, "time"))
	}
	p.told, p.untold, p.pause = ev.At, 0, min(max(placePause, 2*p.pause), maxPlacePause)
	ev.State.Attempts = 0
	l.line(ev, "place", text)
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

// tick is the heartbeat: it reports the counts.
func (l *groupLog) tick(now time.Time) {
	l.beat()
	g := l.r.group
	text := g.countWords(l.r.cfg.Palette)
	if pace := g.pace(now); pace != "" {
		text += "; " + pace
	}
	if looks := l.r.listWords(now); looks != "" {
		text = strings.TrimPrefix(text+"; "+looks, "; ")
	}
	if closed := g.closed(now); len(closed) > 0 {
		text += fmt.Sprintf("; %s closed", words.Count(len(closed), "place"))
	}
	for _, one := range g.commonest(1) {
		text += fmt.Sprintf("; %d: %s", one.waiting, one.text(l.r.glyphs.ellipsis))
	}
	l.row(poll.Event{Elapsed: g.at(now)}, "-", text)
}
