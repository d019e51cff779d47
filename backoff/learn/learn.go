// Package learn schedules attempts around the time when an operation is likely to end. It learns this time from
// past runs of the operation.
//
// [Fit] turns the durations of past runs into a [Model], which is a [backoff.Schedule]. Attempts are rare while
// an end is unlikely, and frequent around the ages at which past runs ended. They become ever rarer when the
// current run takes longer than all past runs. Each wait depends only on the past runs and on the age of the
// current run, so the schedule has no state that an interrupted wait would have to restore.
//
// # The problem
//
// An operation ends after a random time X with survival S(t) = P(X > t). Attempts at the ages x1 < x2 < ...
// cost c each, expressed as a delay in seconds, until an attempt finds the operation finished. The schedule
// minimizes the expected number of attempts times c plus the expected delay. This is the inspection policy of
// Barlow, Hunter and Proschan [1]. S is not known. A past run shows only that the operation ended between two
// attempts.
//
// # The forecast
//
// A run is represented by a bracket (lo, hi]: it was unfinished at the age lo, and finished at the age hi. If
// the duration is known, lo = hi. A run that was given up at the age a has the bracket (a, infinity).
//
// Eight experts forecast the next run. With weights w(i) of the runs, which add up to 1, and positions x(i)
// within their brackets, an expert's forecast is
//
//	F = (1 - e) [ (1 - l) sum w(i) LogN(ln x(i), b) + l LogN(m, s sqrt(1 + 1/k)) ] + e B
//
// where k = 1 / sum w(i)^2 is the effective number of runs [2]; m and s^2 are the weighted mean and variance of
// ln x, with one prior run of standard deviation 0.3; l = 2 / (2 + n) and e = max(0.01, 0.5 / (n + 2)) for n
// runs; and B is log-logistic, with survival 1 / (1 + t / median). B keeps the hazard at e / (median + t) or
// above, which makes the method safe where history misleads. The bandwidth is b = max(0.005, h r k^-0.2) with r
// = min(s, a prior-weighted IQR / 1.349). The experts differ in h, which is 0.1, 0.2, 0.7 or 1.4, and in the
// weights, which are halved every 3 or every 60 runs.
//
// After each run, an expert's weight is multiplied by S(lo) - S(hi), the probability that it gave to the
// bracket. Then 2% of the total weight is spread evenly (fixed share [3]), so that another expert can soon have
// the highest weight if the operation has changed. A known duration counts as a bracket with a width of 1%.
//
// In the next forecasts, each run is represented by a single duration, usually the geometric mean of its
// bracket.
//
// If the first attempt found the operation finished, lo is 0. The duration is then the mean of the runs that
// end by hi, in the forecast with half-life 60 and h = 1.4. Several runs in a row may end before their first
// attempts. If the experts gave this a probability below 2%, the operation has become faster by an unknown
// factor, and the duration is the mean according to B alone.
//
// A run that was given up is represented by the median of the runs that take longer.
//
// # The schedule
//
// Let 0 = t(0) < t(1) < ... be a grid, S(i) the survival at t(i), and L the integral of S. V(i) is the expected
// cost after an attempt at t(i) that found the operation unfinished, times S(i):
//
//	V(i) = min over j > i of  c S(i) + (t(j) - t(i)) S(i) - (L(j) - L(i)) + V(j)
//
// The later an attempt is, the later the best next attempt is, so only a few j have to be tried for each i. The
// grid has eight steps between two attempts of Keller's rule [4], which are sqrt(2 c / h) apart where the
// hazard is h. After the last kernel, this rule alone is exact enough: sqrt(median + t) grows by sqrt(c / 2)
// from attempt to attempt. A cost in percent is a share of the forecast's median.
//
// # Measured cost
//
// The measurement used four traces of real durations: CI jobs of Bitcoin Core, Julia and linkerd, and cold
// starts of pods. The attempts in each run followed a model of the earlier runs in the same trace. The table
// shows the total cost of attempts and delay, in percent of the operation's median duration. Each number is a
// mean over the traces.
//
//	cost of an attempt                      1%     5%
//	100 ms, doubled up to 20 s              67.5   304.7
//	best fixed interval, in hindsight       12.0   26.4
//	this package                            7.63   18.82
//	this package, with known durations      6.74   16.31
//	best schedule, in hindsight             5.7    15.0
//
// At 5% there are only two attempts in a run, so the durations of past runs are known only roughly. This loses
// most of the gain, unless the durations are known from another source.
//
//  1. R. E. Barlow, L. C. Hunter, F. Proschan: Optimum checking procedures. J. SIAM 11 (1963), 1078-1095.
//  2. L. Kish: Survey Sampling. Wiley, 1965.
//  3. M. Herbster, M. K. Warmuth: Tracking the best expert. Machine Learning 32 (1998), 151-178.
//  4. J. B. Keller: Optimum checking schedules for systems subject to random failure. Management
//     Science 21 (1974), 256-260.
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

// Options are the parameters of [Fit]. The zero value selects the defaults.
type Options struct {
	// Cost is the cost of an attempt, expressed as a delay: an attempt is made if it is expected to save more than
	// Cost. If Cost is 0 or less, CostShare applies.
	Cost time.Duration
	// CostShare is the cost of an attempt as a share of the median run in the forecast, such as 0.01 for 1%. A
	// value of 0 or less means 1%, which leads to about four attempts in a run. A value above 1e6 counts as 1e6.
	// Neither Cost nor CostShare can make the cost less than 0.001% of the median.
	CostShare float64
	// Base is the shortest wait. A value of 0 or less means 1 µs.
	Base time.Duration
	// MaxWait is the longest wait. A value of 0 or less means no limit. If MaxWait is less than Base, it counts as
	// Base.
	MaxWait time.Duration
	// Age is the age of the operation when the wait for it starts, that is, when the Elapsed of a [backoff.Step]
	// is 0. A negative age counts as 0.
	Age time.Duration
}

// A Model is a schedule that was learned from past runs, together with a forecast of when the current run ends. It
// is immutable and safe for concurrent use. The zero value is not valid: use [Fit] to create a Model.
type Model struct {
	runs          int
	forecast      forecast
	plan          plan
	base, maxWait time.Duration // base <= maxWait
	start         time.Duration
}

// Fit returns a model that is learned from runs, which must be ordered from the oldest to the newest. It uses only
// the newest 100 runs, of which at most 25 may be unfinished. It returns an error if no run has finished.
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

// The limits of the cost of an attempt, as shares of the median run. A lower cost would lead to thousands of
// attempts in a run. A higher cost could lead to infinite numbers in a plan.
const (
	leastShare   = 1e-5
	defaultShare = 0.01
	mostShare    = 1e6
)

// cost returns the cost of an attempt, expressed as a delay in seconds. median is the median duration of the runs,
// in seconds.
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

// Wait returns the wait before the next attempt, between Base and MaxWait. It depends only on s.Elapsed. It does
// not use r, so r may be nil.
func (m *Model) Wait(s backoff.Step, r *rand.Rand) time.Duration {
	age := m.Age(s.Elapsed).Seconds()
	return min(max(m.base, toDuration(m.plan.next(age)-age)), m.maxWait)
}

// Spread returns a schedule that delays each attempt of m at random, so that clients that wait for the same
// operation make attempts at different times. If v is the wait of m before an attempt, and w is the wait of m
// after it, the new wait is v plus a random duration of up to part*w. It never exceeds MaxWait. part is limited to
// the range from 0 to 1.
//
// The jitters of package backoff are not suitable, because they make waits shorter: an attempt that comes too
// early is followed by another attempt at the planned time.
func (m *Model) Spread(part float64) backoff.Schedule {
	part = min(max(part, 0), 1)
	return backoff.ScheduleFunc(func(s backoff.Step, r *rand.Rand) time.Duration {
		wait := m.Wait(s, r)
		next := m.Wait(backoff.Step{Elapsed: words.Sum(max(s.Elapsed, 0), wait)}, r)
		return min(words.Sum(wait, toDuration(r.Float64()*part*next.Seconds())), m.maxWait)
	})
}

// Runs returns the number of finished runs in the model, from 1 to 100.
func (m *Model) Runs() int { return m.runs }

// Age returns the age of the operation when the wait for it has taken the time elapsed. A negative elapsed counts
// as 0.
func (m *Model) Age(elapsed time.Duration) time.Duration {
	return words.Sum(m.start, max(elapsed, 0))
}

// Done returns the probability, from 0 to 1, that a run has ended by age. If age is 0 or less, Done returns 0.
func (m *Model) Done(age time.Duration) float64 {
	if age <= 0 {
		return 0
	}
	return 1 - min(1, m.forecast.survival(math.Log(age.Seconds())))
}

// Quantile returns the age by which a run has ended with the probability p. If p is 0 or less, it returns 0. If p
// is 1 or more, it returns the longest Duration.
func (m *Model) Quantile(p float64) time.Duration {
	switch {
	case !(p > 0):
		return 0
	case p >= 1:
		return math.MaxInt64
	}
	return toDuration(math.Exp(m.forecast.quantile(p)))
}

// A Run is a past run, as its attempts observed it: unfinished at the age Lo, and finished at the age Hi. If Lo
// and Hi are equal, the duration is known exactly. A negative age counts as 0. If Hi is less than Lo, it counts as
// Lo.
type Run struct {
	Lo, Hi time.Duration
	// Unfinished is true if no attempt observed the end of the run. Lo is the age at the last attempt. Hi is
	// ignored.
	Unfinished bool
}

// The number of runs that a model uses, and the number of unfinished runs among them. The runs of a service that
// is down must not displace all finished runs.
const (
	maxRuns       = 100
	maxUnfinished = 25
)

const (
	shortest = 1e-6                         // in seconds; a shorter run counts as a run of this duration
	longest  = float64(math.MaxInt64) / 1e9 // in seconds; the longest time.Duration
)

// newest returns the runs that a model uses, oldest first, and the number of finished runs among them. It leaves
// out unfinished runs whose Lo is 0 or less, because they contain no information.
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
// observed the run before its end. high is +Inf if no attempt observed the end. If the two ages are equal, or
// almost equal, low and high are moved apart to a distance of 2*leastSD.
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

// toDuration converts a number of seconds to a duration, limited to the range from 0 to the longest Duration. It
// rounds up, so that no wait ends before the planned time.
func toDuration(seconds float64) time.Duration {
	return words.Nanoseconds(math.Ceil(seconds * 1e9))
}
