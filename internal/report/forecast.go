package report

import (
	"fmt"
	"math"
	"time"

	"github.com/pollcli/poll/internal/words"
)

// A Forecast knows from past runs how long a run usually takes.
type Forecast interface {
	// Runs is how many past runs it knows, at least 1.
	Runs() int
	// Age is how old the operation is after a wait of elapsed.
	Age(elapsed time.Duration) time.Duration
	// Quantile is the age by which a run is over with chance p.
	Quantile(p float64) time.Duration
	// Done is the chance, 0 to 1, that a run is over by that age.
	Done(age time.Duration) float64
}

// The range that is said holds four runs of five.
const rangeLow, rangeHigh = 0.1, 0.9

// usually says how long a run takes: "usually 8m (5m to 11m, 34 runs)", or
// nothing without a forecast.
func usually(f Forecast) string {
	if f == nil {
		return ""
	}
	return fmt.Sprintf("usually %s (%s to %s, %s)", rough(f.Quantile(0.5)),
		rough(f.Quantile(rangeLow)), rough(f.Quantile(rangeHigh)), words.Count(f.Runs(), "run"))
}

// doneWords says what part of the runs is over as early as this one is old:
// "62% done by now", or nothing as long as there is nothing to say.
func doneWords(f Forecast, age time.Duration) string {
	percent := percentDone(f, age)
	if percent == 0 {
		return ""
	}
	return fmt.Sprintf("%d%% done by now", percent)
}

// percentDone is below 100: no past run says that this one is over.
func percentDone(f Forecast, age time.Duration) int {
	if f == nil {
		return 0
	}
	return min(99, int(math.Round(100*done(f, age))))
}

// done is the chance at an age that is counted from where the wait knows of the
// operation.
func done(f Forecast, age time.Duration) float64 {
	return min(max(f.Done(f.Age(age)), 0), 1)
}

// forecast is all there is to say of the length of a run now.
func (r *Reporter) forecast(age time.Duration) string {
	text := r.usually
	if now := doneWords(r.cfg.Forecast, age); now != "" {
		text += "; " + now
	}
	return text
}

// rough writes a duration as precisely as a forecast can be: 850ms, 4.5s, 48s,
// 2m30s, 8m, 1h35m, 14h.
func rough(d time.Duration) string {
	for _, step := range []struct{ below, to time.Duration }{
		{time.Minute, time.Millisecond}, // short rounds
		{5 * time.Minute, 10 * time.Second},
		{time.Hour, time.Minute},
		{10 * time.Hour, 5 * time.Minute},
	} {
		if d < step.below {
			return words.Short(d.Round(step.to))
		}
	}
	return words.Short(d.Round(time.Hour))
}

// A prediction is what objects say of a forecast.
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
