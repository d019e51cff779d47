package report

import (
	"fmt"
	"math"
	"time"

	"github.com/pollcli/poll/internal/words"
)

// A Forecast tells from past runs how long a run usually takes.
type Forecast interface {
	Runs() int                               // how many past runs, at least 1
	Age(elapsed time.Duration) time.Duration // of the operation, after a wait of elapsed
	Quantile(p float64) time.Duration        // the age by which a run is over with chance p
	Done(age time.Duration) float64          // the chance, 0 to 1, that a run is over by that age
}

// usually says how long a run takes, with the range of four runs in five: "usually
// 8m (5m to 11m, 34 runs)". It is called once, since a quantile takes time to
// compute.
func usually(f Forecast) string {
	if f == nil {
		return ""
	}
	return fmt.Sprintf("usually %s (%s to %s, %s)", rough(f.Quantile(0.5)),
		rough(f.Quantile(0.1)), rough(f.Quantile(0.9)), words.Count(f.Runs(), "run"))
}

// forecast adds how many past runs were over at this age: "; 62% were over by now".
// It is empty without a forecast.
func (r *Reporter) forecast(age time.Duration) string {
	if f := r.cfg.Forecast; f != nil && percentDone(f, age) > 0 {
		return fmt.Sprintf("%s; %d%% were over by now", r.usually, percentDone(f, age))
	}
	return r.usually
}

// percentDone stays below 100: past runs never prove that this one is over.
func percentDone(f Forecast, age time.Duration) int {
	return min(99, int(math.Round(100*done(f, age))))
}

// done returns the chance that a run is over after a wait of age.
func done(f Forecast, age time.Duration) float64 {
	return min(max(f.Done(f.Age(age)), 0), 1)
}

// rough formats a duration as precisely as a forecast warrants: 850ms, 4.5s, 48s,
// 2m30s, 8m, 1h35m, 14h.
func rough(d time.Duration) string {
	precision := time.Hour
	switch {
	case d < time.Minute:
		precision = time.Millisecond
	case d < 5*time.Minute:
		precision = 10 * time.Second
	case d < time.Hour:
		precision = time.Minute
	case d < 10*time.Hour:
		precision = 5 * time.Minute
	}
	return words.Short(d.Round(precision))
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
