// Package learn puts the polls where past runs say the end will be.
//
// [Fit] turns the durations of past runs of a recurring operation into a
// [Model], which is a [backoff.Schedule]: it polls rarely while the end is
// unlikely, often where past runs ended, and ever more rarely when a run has
// outlived them all. The schedule is a pure function of the history and the
// age of the run, so a run that is resumed needs no state.
//
// The distribution of the duration is a mixture of one log-normal kernel for
// each run, recent runs weighing more, a log-normal over all of them, and a
// broad component that makes no assumption at all. The density of the polls is
// sqrt(h/(2c)) where h is the hazard, the chance for each second that the run
// ends now given that it has not ended yet, and c what one poll is worth: the
// inspection policy of Keller (Management Science 21(3), 1974).
package learn

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/pollcli/poll/backoff"
)

// ErrNoRuns is returned by [Fit] when there is nothing to learn from.
var ErrNoRuns = errors.New("no past runs to learn from")

// A Run is a past run as its polls saw it: it was not finished at age Lo and
// it was at age Hi. Lo = Hi says that the duration is known exactly. Values
// that make no sense (negative, Lo above Hi) are moved to the nearest that do.
type Run struct {
	Lo, Hi time.Duration
}

// Options says how a history is turned into polls. The zero value is useful.
type Options struct {
	// Cost of one poll; the zero value is 1% of the median run. At this default
	// no gap is longer than half the median, so that a run that fails early is
	// noticed; at any other cost the gaps are as long as the cost makes them.
	// Where the runs fall into modes far apart, such as builds with a warm and
	// a cold cache, the median is that of the mode that is the next to end.
	Cost Cost
	// Base is the shortest gap; 0 means 1 µs.
	Base time.Duration
	// MaxWait is the longest gap; 0 means no limit. It gives way to Base.
	MaxWait time.Duration
	// Age is how old the operation is when the wait for it starts, that is at
	// [backoff.Step].Elapsed 0. Negative means 0.
	Age time.Duration
}

// A Model is what has been learned. It is immutable, so it may be shared.
type Model struct {
	runs    int
	mixture mixture
	plan    plan
	base    time.Duration
	maxWait time.Duration
	start   time.Duration
}

var _ backoff.Schedule = (*Model)(nil)

// Fit learns from the runs, oldest first, of which it uses the last 100. The
// error is [ErrNoRuns] if there are none.
func Fit(runs []Run, o Options) (*Model, error) {
	if len(runs) == 0 {
		return nil, ErrNoRuns
	}
	s := newSample(runs)
	m := &Model{
		runs:    len(s.x),
		mixture: fitMixture(s),
		base:    max(o.Base, time.Microsecond),
		maxWait: o.MaxWait,
		start:   max(o.Age, 0),
	}
	m.plan = newPlan(m.mixture, o.Cost.stretches(s))
	return m, nil
}

// Wait returns the wait until the next poll. It depends on s.Elapsed alone and
// does not touch the random source.
func (m *Model) Wait(s backoff.Step, _ *rand.Rand) time.Duration {
	age := m.Age(s.Elapsed)
	wait := toDuration(m.plan.next(age.Seconds()) - age.Seconds())
	if m.maxWait > 0 {
		wait = min(wait, m.maxWait)
	}
	return max(wait, m.base)
}

// Age is how old the operation is after a wait of elapsed, saturated.
func (m *Model) Age(elapsed time.Duration) time.Duration {
	return later(m.start, max(elapsed, 0))
}
