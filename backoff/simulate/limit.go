package simulate

import (
	"math"
	"slices"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/pace"
)

// A Limit says how many requests the service of [ModelLimit] takes, and how it refuses the
// others.
type Limit struct {
	// PerSecond and Burst are those of a token bucket: PerSecond requests a second, and
	// Burst at once. PerSecond is above 0, Burst at least 1.
	PerSecond float64
	Burst     int
	// RetryAfter is the wait that a refusal asks for. 0 means that it does not say.
	RetryAfter time.Duration
	// Extends says that a refusal closes the service for RetryAfter, and that to ask
	// meanwhile begins that anew.
	Extends bool
	// Guess is what TogetherLearned takes for PerSecond until it is refused: it begins with
	// a quarter and never asks more often. 0 means no guess: nothing is spaced before the
	// first refusal.
	Guess float64
}

// rules returns the rules of clients that go at a limit together.
func (l Limit) rules(t Together) pace.Rules {
	switch t {
	case TogetherLearned:
		return pace.Shared(l.Guess, false)
	case TogetherKnown:
		return pace.Shared(l.PerSecond, true)
	}
	return pace.Shared(0, true)
}

// A target is the state of a client of ModelLimit between its events.
type target struct {
	at       float64      // when its next event is, in ms
	step     backoff.Step // of its next wait
	version  int64        // of its slot
	answered float64      // when it had its first good answer, 0 before
	phase    phase
}

// A phase of a target says what its next event is.
type phase uint8

const (
	due     phase = iota // its wait is over
	slotted              // its slot comes
	asking               // its request reaches the service
	refused              // it learns that it was refused
)

// A limitTrial is a trial of ModelLimit.
type limitTrial struct {
	*worker
	algorithm Algorithm
	bucket    bucket
	targets   []target
	rules     pace.Rules
	place     pace.State // what the targets know together
	operations
	outcome
	good int
}

// limit runs a trial of ModelLimit.
func (w *worker) limit(a Algorithm, clients int) outcome {
	t := limitTrial{
		worker: w, algorithm: a, rules: w.config.Limit.rules(a.Together),
		bucket: bucket{Limit: w.config.Limit}, targets: make([]target, clients),
		operations: newOperations(w.config.Until),
	}
	for id := range t.targets {
		t.targets[id].at = w.rand.Float64() * milliseconds(w.config.Arrival)
		t.plan(&t.targets[id], t.targets[id].at, false)
		w.events.move(id, t.targets[id].at)
	}
	end := milliseconds(w.config.Until)
	for steps := 0; ; steps++ {
		id := w.events.next()
		c := &t.targets[id]
		if c.at >= end || w.interrupted(steps) {
			break
		}
		t.step(c)
		w.events.move(id, c.at)
	}
	return t.sum()
}

// step makes the next event of a target happen, and plans the one after it.
func (t *limitTrial) step(c *target) {
	switch c.phase {
	case due:
		t.reserve(c)
	case slotted:
		t.confirm(c)
	case asking:
		t.ask(c)
	case refused:
		t.tell(c)
		t.plan(c, c.at, true)
	}
}

// reserve takes a slot.
func (t *limitTrial) reserve(c *target) {
	reply := t.call(c, pace.Call{Op: pace.Reserve})
	c.phase, c.version = slotted, reply.Version
	if !reply.Holds {
		c.version = 0
	}
	if at := millis(reply.At); at > c.at {
		c.at = at
		return
	}
	t.confirm(c)
}

// confirm begins a request in a slot, or takes another slot.
func (t *limitTrial) confirm(c *target) {
	if !t.call(c, pace.Call{Op: pace.Confirm, Version: c.version}).Holds {
		t.reserve(c)
		return
	}
	c.phase, c.at = asking, c.at+t.message()
}

// ask has the service answer a request.
func (t *limitTrial) ask(c *target) {
	t.calls++
	answered := c.at + t.message()
	if t.bucket.take(c.at) {
		t.good++
		if c.answered == 0 {
			c.answered = answered
		}
		t.plan(c, answered, false)
		return
	}
	t.turnedAway++
	if t.algorithm.Together == Alone {
		t.plan(c, answered, true)
		return
	}
	c.phase, c.at = refused, answered
}

// tell says to the others that a request was refused.
func (t *limitTrial) tell(c *target) {
	call := pace.Call{Op: pace.Throttled, Version: c.version, Span: pace.Span(duration(t.hint()))}
	if t.algorithm.Together == TogetherGate {
		call.Version = 0 // as of a slot that does not hold: it closes, and cuts nothing
	}
	t.call(c, call)
}

// plan lets the next wait of a target begin.
func (t *limitTrial) plan(c *target, now float64, refused bool) {
	schedule := t.algorithm.Schedule
	if refused && t.bucket.RetryAfter == 0 && t.algorithm.Throttled != nil {
		schedule = t.algorithm.Throttled
	}
	wait := waitOf(schedule, &c.step, now, t.rand)
	if refused && t.bucket.RetryAfter > 0 {
		wait = max(wait, milliseconds(t.bucket.RetryAfter)) + t.hint() - milliseconds(t.bucket.RetryAfter)
	}
	c.phase, c.at = due, now+wait
	if t.algorithm.Together == Alone {
		c.phase, c.at = asking, c.at+t.message()
	}
}

// hintSpread is the largest share of a hint that a client adds to it at random.
const hintSpread = 0.1

// hint returns the wait that a refusal asks for as a client understands it, in ms.
func (t *limitTrial) hint() float64 {
	return milliseconds(t.bucket.RetryAfter) * (1 + hintSpread*t.rand.Float64())
}

// call makes a call at what the targets share.
func (t *limitTrial) call(c *target, call pace.Call) pace.Reply {
	t.operations.add(c.at, 1)
	return t.place.Step(t.rules, micros(c.at), call)
}

// sum returns the outcome.
func (t *limitTrial) sum() outcome {
	first := make([]float64, 0, len(t.targets))
	for i := range t.targets {
		if t.targets[i].answered > 0 {
			first = append(first, t.targets[i].answered)
		}
	}
	slices.Sort(first)
	n := len(t.targets)
	t.never = float64(n-len(first)) / float64(n)
	for _, at := range first {
		t.first += at / float64(len(first))
	}
	t.firstP95 = math.Inf(1)
	if most := int(math.Ceil(0.95 * float64(n))); most <= len(first) {
		t.firstP95 = first[most-1]
	}
	t.used = float64(t.good) / (t.bucket.PerSecond*t.config.Until.Seconds() + float64(t.bucket.Burst))
	t.perSecond, t.busiest = t.operations.sum()
	return t.outcome
}

// A bucket is the state of a service with a limit.
type bucket struct {
	Limit
	level  float64 // requests that it still holds against the clients
	at     float64 // when it held so many, in ms
	closed float64 // until when
}

// take reports whether the service takes a request.
func (b *bucket) take(now float64) bool {
	b.level = max(0, b.level-b.PerSecond*(now-b.at)/1000)
	b.at = now
	if b.level+1 <= float64(b.Burst) && now >= b.closed {
		b.level++
		return true
	}
	if b.Extends {
		b.closed = now + milliseconds(b.RetryAfter)
	}
	return false
}

// operations counts those of an engine, second by second.
type operations []float64

func newOperations(until time.Duration) operations {
	return make(operations, int(math.Ceil(until.Seconds())))
}

// add counts n at a time in ms, unless that is after the end.
func (o operations) add(at float64, n int) {
	if second := at / 1000; second < float64(len(o)) {
		o[int(second)] += float64(n)
	}
}

// sum returns how many there were a second, and in the busiest second.
func (o operations) sum() (mean, busiest float64) {
	for _, n := range o {
		mean += n / float64(len(o))
		busiest = max(busiest, n)
	}
	return mean, busiest
}
