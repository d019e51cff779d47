package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/words"
)

// maxLists is how many lists report their attempts, and maxEndedLists how many that could
// not be waited for are told of at the end.
const maxLists, maxEndedLists = 20, 3

// A list is what is known of a list whose elements are targets. Its events have no number.
type list struct {
	latest  poll.Event    // a wait, a start or an attempt
	verdict string        // on the last answer, in words
	trouble bool          // its elements could not be read
	said    string        // the verdict that a log told last
	changes int           // how often it did
	end     *poll.Outcome // how it ended, if it could not be waited for
}

// isOfList reports whether an event is a list's own.
func isOfList(ev poll.Event) bool {
	return ev.N == 0 && ev.Kind != poll.EventPlace && ev.Kind != poll.EventGoal
}

// updateList notes what an event says of a list.
func (g *group) updateList(ev poll.Event) {
	l := g.listOf[ev.Target]
	if l == nil {
		if g.listOf == nil {
			g.listOf = make(map[string]*list)
		}
		l = new(list)
		g.listOf[ev.Target] = l
		g.lists = append(g.lists, l)
	}
	switch ev.Kind {
	case poll.EventEnd:
		l.end = ev.Outcome
		return
	case poll.EventAttempt:
		g.rate.add(g.at(ev.At))
		l.verdict = verdictWords(ev)
		l.trouble = ev.Verdict.Status != status.NotReady || !ev.Observation.Good()
		ev.Observation = nil // it may be long
	}
	l.latest = ev
}

// attempt returns the number of a target's last attempt. An element that has not changed
// has no event for each.
func (g *group) attempt(t *target) int {
	if t.inList && !t.over && len(g.lists) == 1 {
		return attemptOf(g.lists[0].latest) - int(t.behind)
	}
	return int(t.attempt)
}

// listWords says what the lists are about, "" if there is none, or nothing more to look at.
func (g *group) listWords(now time.Time) string {
	waiting, busy := 0, 0
	var next *list
	for _, l := range g.lists {
		switch {
		case l.end != nil:
		case l.latest.Kind == poll.EventStart:
			busy++
		case l.latest.Kind == poll.EventWait:
			if waiting++; next == nil || l.latest.State.Due.Before(next.latest.State.Due) {
				next = l
			}
		}
	}
	text := "list: "
	if len(g.lists) > 1 {
		text = fmt.Sprintf("%d lists: ", waiting+busy)
	}
	switch {
	case waiting+busy == 0:
		return ""
	case busy > 0 && len(g.lists) == 1:
		text += fmt.Sprintf("attempt %d under way", attemptOf(g.lists[0].latest))
	case busy > 0:
		text += words.Count(busy, "attempt") + " under way"
	case len(g.lists) == 1:
		text += fmt.Sprintf("attempt %d in %s", attemptOf(next.latest), words.Short(max(0, next.latest.State.Due.Sub(now))))
		if held := heldWords(next.latest.HeldBy); held != "" {
			text += ", " + held
		}
	default:
		text += "next attempt in " + words.Short(max(0, next.latest.State.Due.Sub(now)))
	}
	for _, l := range g.lists {
		if l.end == nil && l.trouble {
			return text + "; " + l.verdict
		}
	}
	return text
}

// listWords says what the lists are about, and how long the one that past runs are known of may
// go on.
func (r *Reporter) listWords(now time.Time) string {
	text := r.group.listWords(now)
	if text == "" || r.cfg.Forecast == nil {
		return text
	}
	at := r.group.lists[0].latest
	at.At = now
	return text + "; " + r.forecast(at.Age())
}

// list reports an attempt at a list whose verdict is new.
func (l *groupLog) list(own *list, ev poll.Event) {
	live := l.r.cfg.Face == Live
	switch {
	case len(l.r.group.lists) > maxLists && !own.trouble, own.verdict == own.said, live && !own.trouble:
		return
	case own.changes >= maxChanges:
		return
	}
	own.said = own.verdict
	own.changes++
	l.target(ev, ev.Verdict.Status.String(), strings.Join(append([]string{own.verdict}, hints(ev.Verdict)...), "; "))
}

// failedLists says how the lists ended that could not be waited for, without lines of said.
func (r *Reporter) failedLists(said string) (text string) {
	told := 0
	for _, l := range r.group.lists {
		if l.end == nil {
			continue
		}
		if told++; told > maxEndedLists {
			continue
		}
		closing := "poll: " + oneLine(l.end.Target) + ": " + strings.TrimPrefix(r.closing(l.end, ""), "poll: ")
		for line := range strings.Lines(closing) {
			if !strings.Contains(said+text, line) {
				text += line
			}
		}
	}
	if more := told - maxEndedLists; more > 0 {
		text += fmt.Sprintf("poll: and %s\n", words.Count(more, "further list"))
	}
	return text
}

// endedWithList reports whether an outcome is that of a list that could not be waited for.
func (g *group) endedWithList(o *poll.Outcome) bool {
	for _, l := range g.lists {
		if l.end != nil && l.end.Ending == o.Ending && l.end.Reason == o.Reason {
			return true
		}
	}
	return false
}

// listReason says why the first list ended that could not be waited for, "" if all could.
func (g *group) listReason() string {
	for _, l := range g.lists {
		if l.end != nil {
			return oneLine(l.end.Target) + ": " + oneLine(l.end.Reason)
		}
	}
	return ""
}
