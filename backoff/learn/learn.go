// Package learn schedules attempts around the time at which past runs suggest
// that an operation will end.
//
// [Fit] turns the durations of past runs into a [Model], which is a
// [backoff.Schedule]: attempts are rare while the end is unlikely, frequent when
// past runs ended, and rarer and rarer once a run has outlived them all. The wait
// depends only on the past runs and on the age of the current one, so a wait that
// is resumed needs no state.
//
// The distribution of the duration is a mixture: one log-normal kernel for each
// run, with recent runs weighing more, a log-normal over all of them, and a broad
// component that assumes nothing. Attempts are made at a rate of sqrt(h/(2c)) per
// second. The hazard h is the chance per second that the run ends now, given that
// it has not ended yet; the cost c is the delay, in seconds, that one attempt is
// worth. This is the inspection policy of Keller, "Optimum Checking Schedules for
// Systems Subject to Random Failure", Management Science 21(3), 1974.
package learn

import (
	"errors"
	"math"
	"math/rand/v2"
	"time"

	"github.com/pollcli/poll/backoff"
)

// ErrNoRuns is returned by [Fit] when there is nothing to learn from.
var ErrNoRuns = errors.New("no past runs to learn from")

// A Run is a past run as its attempts saw it: unfinished at the age Lo, finished at
// the age Hi. If the two are equal, the duration is known exactly. A negative age
// counts as 0, and a Hi below Lo as Lo.
type Run struct {
	Lo, Hi time.Duration
}

// Options are the parameters of [Fit]. The zero value means the defaults.
type Options struct {
	// Cost is what an attempt costs. The zero value is 1% of the median run. At this
	// default no wait is longer than half the median, so that a run that fails early is
	// noticed. If the runs fall into modes that are far apart, such as builds with a warm
	// and a cold cache, it is the median of the mode that ends next.
	Cost Cost
	// Base is the shortest wait. 0 means 1 µs.
	Base time.Duration
	// MaxWait is the longest wait. 0 and [backoff.NoCap] mean no limit. If it is
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
	mixture       mixture
	plan          plan
	base, maxWait time.Duration // base <= maxWait
	start         time.Duration
}

// Fit learns from past runs, oldest first. It uses the last 100 of them. If there
// are none, the error is [ErrNoRuns].
func Fit(runs []Run, o Options) (*Model, error) {
	if len(runs) == 0 {
		return nil, ErrNoRuns
	}
	s := newSample(runs)
	m := &Model{
		runs:    len(s),
		mixture: fitMixture(s),
		base:    max(o.Base, time.Microsecond),
		maxWait: o.MaxWait,
		start:   max(o.Age, 0),
	}
	if m.maxWait <= 0 {
		m.maxWait = math.MaxInt64
	}
	m.maxWait = max(m.maxWait, m.base)
	m.plan = newPlan(m.mixture, o.Cost.stretches(s))
	return m, nil
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
		next := m.Wait(backoff.Step{Elapsed: backoff.Add(max(s.Elapsed, 0), wait)}, r)
		return min(backoff.Add(wait, toDuration(r.Float64()*part*next.Seconds())), m.maxWait)
	})
}

// Runs returns the number of runs that m was learned from, 1 to 100.
func (m *Model) Runs() int { return m.runs }

// Age returns the age of the operation at the given time since the wait for it
// started.
func (m *Model) Age(elapsed time.Duration) time.Duration {
	return backoff.Add(m.start, max(elapsed, 0))
}

// Done returns the chance, from 0 to 1, that a run has ended by the given age.
func (m *Model) Done(age time.Duration) float64 {
	if age <= 0 {
		return 0
	}
	_, survival := m.mixture.at(age.Seconds())
	return 1 - min(1, survival)
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
	low, high := math.Log(1e-12), math.Log(longest)
	for range 100 {
		middle := (low + high) / 2
		if _, survival := m.mixture.at(math.Exp(middle)); 1-survival < p {
			low = middle
		} else {
			high = middle
		}
	}
	return toDuration(math.Exp(high))
}

// A Point describes the distribution of the duration at one age.
type Point struct {
	Age     time.Duration // of the run
	Density float64       // the chance per second that a run ends at this age
	Done    float64       // the chance, from 0 to 1, that it has ended by this age
}

// Points samples the distribution of the duration for a plot, at n evenly spaced
// ages. The first is above 0, the last is until.
func (m *Model) Points(until time.Duration, n int) []Point {
	points := make([]Point, 0, max(n, 0))
	for i := range n {
		age := until.Seconds() * float64(i+1) / float64(n)
		density, survival := m.mixture.at(max(age, shortest))
		points = append(points, Point{toDuration(age), density, 1 - min(1, survival)})
	}
	return points
}
