package report

import (
	"time"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// maxRows is up to how many targets each has a row of its own.
const maxRows = 20

// A group is what is known of several targets so far. An event costs the same however
// many there are.
type group struct {
	size           int       // targets, also those that have no event yet
	targets        []*target // by their numbers, which begin at 1; nil before the first event
	oldest, newest *target   // of those that have not ended
	reasons        reasons
	began          time.Time // zero before the first event
	ended          map[poll.Ending]int
	waiting        map[status.Status]int // by what the last attempt said; None before the first
	rate           rate
	lastSeen       *status.Observation // several targets may share it
	places         []*place            // in the order of first sight
	placeOf        map[string]*place
	lists          []*list // in the order of first sight
	listOf         map[poll.RunID]*list
	summary        *poll.Summary // nil until the end
}

// A target is what is known of one target. It is little, since there may be many.
type target struct {
	n              int32
	attempt        int32
	name           string
	reason         *reason // nil before the first verdict
	row            *detail // only of few targets
	older, younger *target // that have not ended
	began, elapsed time.Duration
	status         status.Status
	ending         poll.Ending
	scale          scale
	busy, over     bool
	inList, seen   bool  // it is an element of the answers of a list; it was in one
	behind         int32 // how many attempts of the list came before its first
}

// A detail is what a target's own row shows besides.
type detail struct {
	words   string   // the reason in full
	reading *reading // of the last answer, nil for nothing
	held    string   // what holds back the next attempt, "" for nothing
}

func newGroup(size int) *group {
	return &group{size: size, placeOf: make(map[string]*place), ended: map[poll.Ending]int{}, waiting: map[status.Status]int{}}
}

// at returns when something happened, since the start of the group.
func (g *group) at(t time.Time) time.Duration { return max(0, t.Sub(g.began)) }

// neverSeen is the reason of an element that no answer of a list has held.
const neverSeen = "never seen"

// few reports whether each target is shown.
func (g *group) few() bool { return g.size <= maxRows }

// update brings the group up to date. It returns the target that ev is about, nil for
// none.
func (g *group) update(ev poll.Event) *target {
	if g.began.IsZero() {
		g.began = ev.At.Add(-ev.Elapsed)
	}
	switch ev.Kind {
	case poll.EventPlace:
		g.place(ev)
		return nil
	case poll.EventGoal:
		g.summary = ev.Summary
		return nil
	}
	if isOfList(ev) {
		g.updateList(ev)
		return nil
	}
	t := g.target(ev)
	switch ev.Kind {
	case poll.EventWait, poll.EventStart:
		t.attempt, t.busy = int32(ev.Attempt), ev.Kind == poll.EventStart
		if t.row != nil {
			t.row.held = heldWords(ev.HeldBy)
		}
	case poll.EventAttempt:
		t.attempt, t.busy = int32(ev.Attempt), false
		if o := ev.Observation; o != nil && o.Within != nil {
			t.inList, t.seen = true, t.seen || o.Presence == status.Present
			t.behind = int32(g.lists[0].latest.Attempt - ev.Attempt)
		}
		if o := ev.Observation; o == nil || o != g.lastSeen && o.Within == nil { // not one of a list
			g.rate.add(g.at(ev.At))
			g.lastSeen = o
		}
		g.judged(t, waitingStatus(ev.Verdict.Status), verdictWords(ev))
	case poll.EventEnd:
		g.end(t, ev.Outcome)
	}
	return t
}

// target returns the target of an event, a new one if it is its first.
func (g *group) target(ev poll.Event) *target {
	for len(g.targets) < ev.N {
		g.targets = append(g.targets, nil)
	}
	g.size = max(g.size, len(g.targets))
	t := g.targets[ev.N-1]
	if t == nil {
		t = &target{n: int32(ev.N), name: ev.Target, began: g.at(ev.At.Add(-ev.Elapsed)), older: g.newest}
		if g.newest != nil {
			g.newest.younger = t
		} else {
			g.oldest = t
		}
		g.newest = t
		if g.few() {
			t.row = new(detail)
		}
		g.targets[ev.N-1] = t
		g.waiting[status.None]++
	}
	return t
}

// waitingStatus returns the status of a target that goes on after a verdict: SUCCESS and
// ERROR were not seen often enough.
func waitingStatus(s status.Status) status.Status {
	if s.Ends() {
		return status.NotReady
	}
	return s
}

// judged notes what an attempt said of a target that goes on.
func (g *group) judged(t *target, s status.Status, words string) {
	g.waiting[t.status]--
	g.waiting[s]++
	t.status = s
	g.setReason(t, words)
	t.reason.waiting++
}

// setReason makes words the reason of a target.
func (g *group) setReason(t *target, words string) {
	before := t.reason
	if before != nil {
		before.targets--
		if !t.over {
			before.waiting--
		}
	}
	t.reason = g.reasons.find(words)
	t.reason.targets++
	if before != nil {
		g.reasons.release(before)
	}
	if t.row != nil {
		t.row.words = words
	}
}

// end notes how a target ended.
func (g *group) end(t *target, o *poll.Outcome) {
	if t.over {
		return
	}
	g.waiting[t.status]--
	g.ended[o.Ending]++
	if unseen := t.inList && !t.seen && o.Observation.Presence == status.Missing; unseen {
		g.setReason(t, neverSeen)
		t.reason.advice = []string{"hint: an element's name is what --id reads in it, or else its .id, .name or .metadata.name"}
	} else {
		g.setReason(t, oneLine(decisive(o)))
	}
	if t.reason.advice == nil && o.Ending != poll.Succeeded {
		t.reason.advice = advice(o)
	}
	t.over, t.busy = true, false
	t.status, t.ending, t.attempt, t.elapsed = o.Status, o.Ending, int32(o.Attempts), o.Elapsed
	if t.older != nil {
		t.older.younger = t.younger
	} else {
		g.oldest = t.younger
	}
	if t.younger != nil {
		t.younger.older = t.older
	} else {
		g.newest = t.older
	}
	t.older, t.younger = nil, nil
}

// age returns how long a target has been waited for, or was.
func (g *group) age(t *target, now time.Time) time.Duration {
	if t.over {
		return t.elapsed
	}
	return max(0, g.at(now)-t.began)
}

// done returns how many targets have succeeded.
func (g *group) done() int { return g.ended[poll.Succeeded] }

// over returns how many targets have ended.
func (g *group) over() (n int) {
	for _, count := range g.ended {
		n += count
	}
	return n
}

// rateTime is over how many seconds a rate is counted.
const rateTime = 5

// A rate counts the attempts of the last seconds.
type rate struct {
	counts [rateTime + 1]int // by the second, of which the last is not over
	second int               // the last one
}

// add counts an attempt.
func (r *rate) add(at time.Duration) {
	r.advance(at)
	r.counts[r.second%len(r.counts)]++
}

// advance begins the seconds up to at.
func (r *rate) advance(at time.Duration) {
	second := int(at / time.Second)
	for range min(second-r.second, len(r.counts)) {
		r.second++
		r.counts[r.second%len(r.counts)] = 0
	}
	r.second = max(r.second, second)
}

// perSecond returns the attempts a second, 0 within the first.
func (r *rate) perSecond(now time.Duration) float64 {
	r.advance(now)
	whole := min(r.second, rateTime)
	if whole == 0 {
		return 0
	}
	n := -r.counts[r.second%len(r.counts)]
	for _, count := range r.counts {
		n += count
	}
	return float64(n) / float64(whole)
}

// A place is what is known of a place where attempts are held back.
type place struct {
	poll.Place
	told   time.Time     // when a log last told of it
	pause  time.Duration // until it does so again
	untold int           // how many times it was not told since
}

// closed returns the places where no attempt is made now.
func (g *group) closed(now time.Time) (all []*place) {
	for _, p := range g.places {
		if p.ClosedUntil.After(now) {
			all = append(all, p)
		}
	}
	return all
}

// place notes what an event says of a place.
func (g *group) place(ev poll.Event) {
	p := g.placeOf[ev.Place.Name]
	if p == nil {
		p = new(place)
		g.placeOf[ev.Place.Name] = p
		g.places = append(g.places, p)
	}
	p.Place = *ev.Place
	p.Reason = term.Line(p.Reason)
}
