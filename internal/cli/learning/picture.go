package learning

import (
	"math"
	"time"

	"github.com/pollcli/poll/backoff/learn"
	"github.com/pollcli/poll/internal/chart"
)

// Picture draws how likely the end is at each age, with the attempts at some ages as lines.
func Picture(name string, ages []time.Duration, m *learn.Model) chart.Plot {
	until := m.Age(0) + time.Second
	if len(ages) > 0 {
		until = ages[len(ages)-1]
	}
	density := chart.Series{Name: "the end"}
	const samples = 500
	for i := range samples {
		age := time.Duration(float64(until) * float64(i+1) / samples)
		density.Points = append(density.Points, chart.Point{X: age.Seconds(), Y: 100 * m.Density(age)})
	}
	attempts := chart.Series{Name: "attempts"}
	for _, age := range ages {
		x, top := age.Seconds(), 100*m.Density(age)
		attempts.Points = append(attempts.Points, chart.Point{X: x, Y: 0}, chart.Point{X: x, Y: top}, chart.Point{X: math.NaN()})
	}
	return chart.Plot{
		Title:  "when " + name + " ends, and when it is polled",
		X:      chart.Axis{Name: "age", Unit: chart.Seconds},
		Y:      chart.Axis{Name: "chance of the end, % per second"},
		Series: []chart.Series{density, attempts},
	}
}
