package poll

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/status"
)

const (
	// minReserve is the least time kept for a last look, if there is that much. With less
	// left before the deadline, no further attempt is planned.
	minReserve = 50 * time.Millisecond
	// unmeasuredReserve is kept until an attempt has been timed. Too much does no harm: a
	// quick attempt is followed by a later one.
	unmeasuredReserve = 2 * time.Second
)

// hintSpread is the largest share of a hint that is added to it at random, so that
// clients that were told the same wait do not return together.
const hintSpread = 0.1

// A plan says when the next attempt comes.
type plan struct {
	wait     time.Duration
	hint     *status.Hint
	lastLook bool
}

// plan computes the next wait: the schedule's own, or the server's if that is
// longer, shortened so that an attempt fits before the deadline.
func (r *run) plan() plan {
	if !r.due.IsZero() { // of a run that goes on
		return r.shorten(plan{wait: max(0, time.Until(r.due)), hint: r.hint()})
	}
	random := r.Rand
	if r.series != nil {
		random = r.series.random(r.series.N)
	}
	next := plan{wait: max(0, r.ownWait(random)-r.waited), hint: r.hint()}
	if r.waited = 0; next.hint != nil {
		spread := time.Duration(random.Float64() * hintSpread * float64(next.hint.Wait))
		next.wait = backoff.Add(max(next.wait, next.hint.Wait), spread)
	}
	if s := r.series; s != nil && r.last.observation != nil && r.last.observation.Taken {
		next.wait = max(0, next.wait-time.Since(s.Ended))
	}
	return r.shorten(next)
}

// shorten returns next with a wait after which an attempt fits before the deadline, but
// not shorter than a THROTTLED answer asks for.
func (r *run) shorten(next plan) plan {
	if r.deadline.IsZero() {
		return next
	}
	var least time.Duration
	if hint := r.hint(); hint != nil && r.last.verdict.Status == status.Throttled {
		least = hint.Wait
	}
	left := time.Until(r.deadline)
	if latest := max(left-reserve(left, r.took, r.crowd), least, 0); next.wait > latest {
		next.wait, next.lastLook = latest, true
	}
	return next
}

// ownWait returns the schedule's wait. Wait n comes before attempt n+1, not counting
// attempts to start the operation.
func (r *run) ownWait(random *rand.Rand) time.Duration {
	var delay time.Duration
	if r.attempts == 0 {
		delay = r.InitialDelay
		if r.Immediate || r.began.IsZero() {
			return delay
		}
	}
	schedule, throttled := r.Schedule, r.Throttled
	step := backoff.Step{N: r.attempts - r.sent, Elapsed: time.Since(r.began), Previous: r.previous}
	if r.series != nil {
		step = r.series.step(r.Schedule)
	}
	if r.began.IsZero() {
		step.N, step.Elapsed = r.sent-1, time.Since(r.Start)
	}
	if (r.began.IsZero() || r.list.confirms()) && r.Resend != nil {
		schedule, throttled = r.Resend, backoff.Throttled(r.Resend)
	}
	if r.last.verdict.Status == status.Throttled && r.hint() == nil {
		schedule = throttled
	}
	step.Elapsed = backoff.Add(step.Elapsed, delay)
	r.previous = schedule.Wait(step, random)
	if l := r.list; l.confirms() && (r.deadline.IsZero() || l.shown.Add(lag).Before(r.deadline)) {
		return max(r.previous, time.Until(l.shown.Add(lag)))
	}
	return backoff.Add(delay, r.previous)
}

// mostSteps bounds how far a schedule is followed: its waits have long reached their longest.
const mostSteps = 100

// step returns how far a schedule is in a series. Others may ask more often than it would:
// it is then as far as it had come by itself.
func (s *Series) step(own backoff.Schedule) backoff.Step {
	all := backoff.Step{N: s.N, Elapsed: s.Ended.Sub(s.Began), Previous: s.Previous}
	var waited time.Duration
	for n, previous := 1, time.Duration(0); n < min(s.N, mostSteps); n++ {
		wait := own.Wait(backoff.Step{N: n, Elapsed: waited, Previous: previous}, s.random(n))
		if backoff.Add(waited, wait/2) > all.Elapsed {
			return backoff.Step{N: n, Elapsed: all.Elapsed, Previous: previous}
		}
		waited, previous = backoff.Add(waited, wait), wait
	}
	return all
}

// random returns the random numbers for the wait after n attempts: all who share the series
// have the same.
func (s *Series) random(n int) *rand.Rand { return rand.New(rand.NewPCG(s.Seed, uint64(n))) }

// reserve is the time to keep for one more attempt when left is what remains before the
// deadline: twice the median attempt, at least 50 ms, and the time that the last looks of
// a crowd take, but at most half of what is left, so that a slow probe still gets several
// looks. If half is too little for a median attempt, more is kept.
func reserve(left time.Duration, took durations, crowd time.Duration) time.Duration {
	if took.n == 0 {
		return min(unmeasuredReserve+crowd, left/2)
	}
	median, most := took.median(), left/2
	if most < median && median < left {
		most = left - (left-median)/2
	}
	return min(max(minReserve, 2*median)+crowd, most)
}

// maxDurations is of how many attempts the durations are remembered.
const maxDurations = 16

// durations remembers how long the newest attempts took.
type durations struct {
	newest []time.Duration // up to maxDurations, a ring
	n      int             // ever added
}

func (d *durations) add(t time.Duration) {
	if len(d.newest) < maxDurations {
		d.newest = append(d.newest, t)
	} else {
		d.newest[d.n%maxDurations] = t
	}
	d.n++
}

// median returns 0 if no attempt was measured.
func (d *durations) median() time.Duration {
	if d.n == 0 {
		return 0
	}
	var sorted [maxDurations]time.Duration
	known := sorted[:copy(sorted[:], d.newest)]
	slices.Sort(known)
	return known[len(known)/2]
}
