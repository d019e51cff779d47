package ui

import (
	"fmt"
	"math"
	"time"

	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
)

// A Forecast tells from past runs how long a run usually takes.
type Forecast interface {
	Runs() int                               // how many past runs, at least 1
	Age(elapsed time.Duration) time.Duration // of the operation, after a wait of elapsed
	Quantile(p float64) time.Duration        // the age by which a run is over with chance p
	Done(age time.Duration) float64          // the chance, 0 to 1, that a run is over by that age
}

// late is the chance of being over from which a run is called late: for the few that take
// longer, a forecast is too rough.
const late = 0.98

// left says how long a run that is not over at this age usually goes on, by the median of
// those: "about 3m left".
func left(f Forecast, age time.Duration) string {
	age = age.Truncate(time.Second)
	over := done(f, age)
	if over >= late {
		return "later than usual"
	}
	return "about " + rough(max(0, f.Quantile((1+over)/2)-f.Age(age))) + " left"
}

// usual returns the median of past runs.
func usual(f Forecast) string { return rough(f.Quantile(0.5)) }

// forecast says how long the run may go on: "about 3m left (usually 8m)". It is empty
// without a forecast.
func (r *Reporter) forecast(age time.Duration) string {
	f := r.cfg.Forecast
	if f == nil {
		return ""
	}
	return left(f, age) + " (usually " + usual(f) + ")"
}

// outlook says at the beginning how long such runs take, with the range of four in five, and,
// of an operation that began before, how long this one may go on: "usually 8m (5m to 11m, 34
// runs)".
func (r *Reporter) outlook() string {
	f := r.cfg.Forecast
	if f == nil {
		return ""
	}
	text := fmt.Sprintf("usually %s (%s to %s, %s)", usual(f), rough(f.Quantile(0.1)), rough(f.Quantile(0.9)), words.Count(f.Runs(), "run"))
	if done(f, 0) > 0 {
		text += "; " + left(f, 0)
	}
	return text
}

// done returns the chance that a run is over after a wait of age.
func done(f Forecast, age time.Duration) float64 {
	return min(max(f.Done(f.Age(age)), 0), 1)
}

// rough formats a duration as precisely as a forecast warrants: 850ms, 4.5s, 48s,
// 2m30s, 8m, 1h30m, 14h.
func rough(d time.Duration) string {
	for _, unit := range []time.Duration{time.Hour, 10 * time.Minute, time.Minute, 10 * time.Second} {
		if d >= 10*unit {
			return words.Short(d.Round(unit))
		}
	}
	return words.Short(d)
}

// A prediction is a forecast in JSON.
type prediction struct {
	Expected    *Seconds `json:"expected_s,omitempty"`       // the median run
	Probability *float64 `json:"probability_done,omitempty"` // at this age
}

func predict(f Forecast, age time.Duration) prediction {
	if f == nil {
		return prediction{}
	}
	return prediction{
		Expected:    new(seconds(f.Quantile(0.5))),
		Probability: new(math.Round(1000*done(f, age)) / 1000),
	}
}

// ageOf returns how long the operation had been running at the end, as far as is known. The end of
// a resumed wait is older than its event.
func ageOf(o *poll.Outcome) time.Duration {
	if o.State.Began.IsZero() {
		return 0
	}
	return o.Elapsed - o.State.Began.Sub(o.State.Start)
}
