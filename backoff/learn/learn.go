package learn

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/words"
)

// Options are the parameters of [Fit]. The zero value means the defaults.
type Options struct {
	// Cost is the cost of an attempt as a delay: an attempt is made if it is expected to save more than Cost. If
	// Cost is 0 or less, CostShare applies.
	Cost time.Duration
	// CostShare is the cost of an attempt as a share of the median run in the forecast: 0.01 for 1%. 0 or less
	// means 1%, for about four attempts a run. Any cost below 0.001% of the median, in either field, counts as
	// 0.001%. A CostShare above 1e6 counts as 1e6.
	CostShare float64
	// Base is the shortest wait. 0 or less means 1 µs.
	Base time.Duration
	// MaxWait is the longest wait. 0 or less means no limit. If it is
	// below Base, Base is the longest wait.
	MaxWait time.Duration
	// Age is the age of the operation when the wait for it starts, at
	// [backoff.Step].Elapsed 0. A negative age counts as 0.
	Age time.Duration
}

// A Model is a schedule, and a forecast of the end of the current run, both learned from past runs. A Model is
// immutable and safe for concurrent use. [Fit] creates a Model; the zero value is not valid.
type Model struct {
	runs          int
	forecast      forecast
	plan          plan
	base, maxWait time.Duration // base <= maxWait
	start         time.Duration
}

// Fit returns a model of runs, which are ordered from the oldest to the newest. It uses the newest 100 runs, of
// which at most 25 are unfinished. It fails if no run has finished.
func Fit(runs []Run, o Options) (*Model, error) {
	runs, finished := newest(runs)
	if finished == 0 {
		return nil, errors.New("no past runs to learn from")
	}
	e := newExperts()
	for _, r := range runs {
		e.learn(r)
	}
	m := &Model{
		runs:     finished,
		forecast: e.forecast(),
		base:     max(o.Base, time.Microsecond),
		maxWait:  o.MaxWait,
		start:    max(o.Age, 0),
	}
	if m.maxWait <= 0 {
		m.maxWait = math.MaxInt64
	}
	m.maxWait = max(m.maxWait, m.base)
	m.plan = newPlan(m.forecast, o.cost(math.Exp(m.forecast.quantile(0.5))))
	return m, nil
}

// The limits of a cost, as shares of the median. A lower cost would lead to thousands of attempts in a run. A
// higher cost could lead to infinities in the arithmetic of a plan.
const (
	leastShare   = 1e-5
	defaultShare = 0.01
	mostShare    = 1e6
)

// cost returns the cost of an attempt as a delay in seconds. median is the median of the runs, in seconds.
func (o Options) cost(median float64) float64 {
	cost := defaultShare * median
	switch {
	case o.Cost > 0:
		cost = o.Cost.Seconds()
	case o.CostShare > 0:
		cost = min(o.CostShare, mostShare) * median
	}
	return max(cost, leastShare*median)
}

// Wait returns the wait before the next attempt, from Base to MaxWait. It depends only on s.Elapsed. It does not
// use r, which may be nil.
func (m *Model) Wait(s backoff.Step, r *rand.Rand) time.Duration {
	age := m.Age(s.Elapsed).Seconds()
	return min(max(m.base, toDuration(m.plan.next(age)-age)), m.maxWait)
}

// Spread returns a schedule that delays each attempt of m by a random part of the wait that follows the attempt.
// That part is at most part, from 0 to 1. Clients that wait for the same operation then make attempts at
// different moments. The wait is v + U(0, part * w), where v is the wait of m and w the next wait of m. It never
// exceeds MaxWait.
//
// The usual jitters do not help, because they shorten waits: an attempt that comes too early is followed by
// another attempt at the planned age.
func (m *Model) Spread(part float64) backoff.Schedule {
	part = min(max(part, 0), 1)
	return backoff.ScheduleFunc(func(s backoff.Step, r *rand.Rand) time.Duration {
		wait := m.Wait(s, r)
		next := m.Wait(backoff.Step{Elapsed: words.Sum(max(s.Elapsed, 0), wait)}, r)
		return min(words.Sum(wait, toDuration(r.Float64()*part*next.Seconds())), m.maxWait)
	})
}

// Runs returns the number of finished runs in the model, 1 to 100.
func (m *Model) Runs() int { return m.runs }

// Age returns the age of the operation when the wait has taken the time elapsed. A negative elapsed counts as 0.
func (m *Model) Age(elapsed time.Duration) time.Duration {
	return words.Sum(m.start, max(elapsed, 0))
}

// Done returns the chance, from 0 to 1, that a run has ended by age. It returns 0 if age is 0 or less.
func (m *Model) Done(age time.Duration) float64 {
	if age <= 0 {
		return 0
	}
	return 1 - min(1, m.forecast.survival(math.Log(age.Seconds())))
}

// Quantile returns the age when a run has ended with the chance p. It returns 0 if p is 0 or less, and the
// longest Duration if p is 1 or more.
func (m *Model) Quantile(p float64) time.Duration {
	switch {
	case !(p > 0):
		return 0
	case p >= 1:
		return math.MaxInt64
	}
	return toDuration(math.Exp(m.forecast.quantile(p)))
}

// A Run is a past run as its attempts saw it: unfinished at the age Lo, finished at the age Hi. If both are
// equal, the duration is known exactly. A negative age counts as 0. A Hi below Lo counts as Lo.
type Run struct {
	Lo, Hi time.Duration
	// Unfinished is true if the run was last seen unfinished at the age Lo, and its end was not seen. Hi is then
	// ignored.
	Unfinished bool
}

// maxRuns is the number of runs that are fitted, and maxUnfinished the number of unfinished runs among them.
// Unfinished runs of a service that is down must not displace all finished runs.
const (
	maxRuns       = 100
	maxUnfinished = 25
)

const (
	shortest = 1e-6                         // in seconds; a shorter run counts as this long
	longest  = float64(math.MaxInt64) / 1e9 // in seconds; the longest time.Duration
)

// newest returns the runs to learn from, oldest first, and how many of them finished. It leaves out unfinished
// runs with a Lo of 0 or less, which show nothing.
func newest(runs []Run) (kept []Run, finished int) {
	unfinished := 0
	for _, r := range slices.Backward(runs) {
		switch {
		case len(kept) == maxRuns:
		case !r.Unfinished:
			kept = append(kept, r)
			finished++
		case unfinished < maxUnfinished && r.Lo > 0:
			kept = append(kept, r)
			unfinished++
		}
	}
	slices.Reverse(kept)
	return kept, finished
}

// bracket returns the logarithms of the ages, in seconds, between which the run ended. low is -Inf if no attempt
// saw the run unfinished, and high is +Inf if the run did not finish. An exact duration gets the width of the
// narrowest kernel.
func (r Run) bracket() (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	if r.Lo > 0 {
		low = math.Log(max(r.Lo.Seconds(), shortest))
	}
	if r.Unfinished {
		return low, high
	}
	high = math.Log(max(r.Hi.Seconds(), r.Lo.Seconds(), shortest))
	if high-low < 2*leastSD {
		middle := (low + high) / 2
		return middle - leastSD, middle + leastSD
	}
	return low, high
}

// toDuration converts seconds to a duration, and limits it to the range of durations. It rounds up, so that no
// wait ends before the planned moment.
func toDuration(seconds float64) time.Duration {
	return words.Nanoseconds(math.Ceil(seconds * 1e9))
}
