package learn

import (
	"errors"
	"math"
	"math/rand/v2"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/words"
)

// Options are the parameters of [Fit]. The zero value means the defaults.
type Options struct {
	// Cost is what an attempt costs, as a delay: an attempt is made if it is expected
	// to save more than that. 0 or less means that CostShare applies.
	Cost time.Duration
	// CostShare is what an attempt costs as a share of the median run, as forecast: 0.01
	// for 1%. 0 or less means 1%, with which a run takes about four attempts. No cost is
	// below 0.001%, and CostShare is at most 1e6.
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

// A Model is what has been learned from past runs: a schedule, and a forecast of
// when the current run ends. It is immutable and safe for concurrent use.
type Model struct {
	runs          int
	forecast      forecast
	plan          plan
	base, maxWait time.Duration // base <= maxWait
	start         time.Duration
}

// Fit learns from past runs, oldest first. It uses the last 100 of them, with at most 25
// that are unfinished. It fails if none has finished.
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

// The limits of a cost, as shares of the median. Beyond them a run would take thousands of
// attempts, or the arithmetic of a plan end in infinities.
const (
	leastShare   = 1e-5
	defaultShare = 0.01
	mostShare    = 1e6
)

// cost returns the cost of an attempt as a delay, of runs with that median, in seconds.
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

// Wait returns the wait before the next attempt. It depends on s.Elapsed alone
// and does not use r.
func (m *Model) Wait(s backoff.Step, r *rand.Rand) time.Duration {
	age := m.Age(s.Elapsed).Seconds()
	return min(max(m.base, toDuration(m.plan.next(age)-age)), m.maxWait)
}

// Spread returns a schedule that delays each attempt of m by a random part of the
// wait that follows it, at most the share part, from 0 to 1. Clients that wait for
// the same operation then do not all look at the same moment. The wait is
// v + U(0, part * w), where v is the wait of m and w the one after it.
//
// The usual jitters do not help, because they shorten waits: an attempt that comes
// too early is followed by another one at the planned age.
func (m *Model) Spread(part float64) backoff.Schedule {
	part = min(max(part, 0), 1)
	return backoff.ScheduleFunc(func(s backoff.Step, r *rand.Rand) time.Duration {
		wait := m.Wait(s, r)
		next := m.Wait(backoff.Step{Elapsed: words.Sum(max(s.Elapsed, 0), wait)}, r)
		return min(words.Sum(wait, toDuration(r.Float64()*part*next.Seconds())), m.maxWait)
	})
}

// Runs returns the number of finished runs that m was learned from, 1 to 100.
func (m *Model) Runs() int { return m.runs }

// Age returns the age of the operation at the given time since the wait for it
// started.
func (m *Model) Age(elapsed time.Duration) time.Duration {
	return words.Sum(m.start, max(elapsed, 0))
}

// Done returns the chance, from 0 to 1, that a run has ended by the given age.
func (m *Model) Done(age time.Duration) float64 {
	if age <= 0 {
		return 0
	}
	return 1 - min(1, m.forecast.survival(math.Log(age.Seconds())))
}

// Quantile returns the age by which a run has ended with chance p. It is 0 if p is
// 0 or less, and the longest Duration if p is 1 or more.
func (m *Model) Quantile(p float64) time.Duration {
	switch {
	case !(p > 0):
		return 0
	case p >= 1:
		return math.MaxInt64
	}
	return toDuration(math.Exp(m.forecast.quantile(p)))
}
