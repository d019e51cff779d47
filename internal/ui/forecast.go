package ui

import (
	"fmt"
	"time"

	"github.com/pollcli/poll/internal/words"
)

// A Forecast estimates from past runs how long a run takes.
type Forecast interface {
	Runs() int                               // how many past runs, at least 1
	Age(elapsed time.Duration) time.Duration // the age of the operation after a wait of elapsed
	Quantile(p float64) time.Duration        // the age that a run does not exceed, with chance p
	Done(age time.Duration) float64          // the chance, 0 to 1, that a run is over by that age
}

// A run is late if its chance to be over is at least late. For the few runs that take longer, a
// forecast is too rough.
const late = 0.98

// left returns how long a run that is not over at this age usually lasts from now on, by the median of
// such runs: "about 3m left". It returns "" without a forecast.
func left(f Forecast, age time.Duration) string {
	if f == nil {
		return ""
	}
	age = age.Truncate(time.Second)
	over := done(f, age)
	if over >= late {
		return "later than usual"
	}
	return "about " + words.Short(max(0, f.Quantile((1+over)/2)-f.Age(age))) + " left"
}

// outlook returns how long such runs take, with the range of four in five: "usually 8m (5m to 11m, 34
// runs)". If the operation started before the wait, outlook adds the time that is left. It returns "" without a forecast.
func outlook(f Forecast) string {
	if f == nil {
		return ""
	}
	text := fmt.Sprintf("usually %s (%s to %s, %s)", words.Short(f.Quantile(0.5)), words.Short(f.Quantile(0.1)), words.Short(f.Quantile(0.9)), words.Count(f.Runs(), "run"))
	if done(f, 0) > 0 {
		text += "; " + left(f, 0)
	}
	return text
}

// done returns the chance that a run is over after a wait of age.
func done(f Forecast, age time.Duration) float64 {
	return min(max(f.Done(f.Age(age)), 0), 1)
}
