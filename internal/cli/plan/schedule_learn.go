package plan

import (
	"fmt"
	"math"
	"time"

	"github.com/pollcli/poll/backoff/learn"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/chart"
	"github.com/pollcli/poll/internal/cli/learning"
	"github.com/pollcli/poll/internal/table"
	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/internal/words"
)

// learned answers with the attempts of a learned schedule: when they come, and each
// one's chance of seeing the end.
func (o scheduleOptions) learned(l *argv.Line, s *term.Streams) (answer, error) {
	m, err := learning.Recall(l, s, o.config)
	if err != nil {
		return answer{}, err
	}
	_, throttled, err := Schedules(l, o.config)
	if err != nil {
		return answer{}, err
	}
	o.table.Schedule, _ = learning.Schedules(l, m, o.config, throttled)
	if !o.bounded {
		// 19 of 20 runs end by then.
		o.table.Attempts, o.table.Timeout = defaultRows, max(1, m.Quantile(0.95)-m.Age(0))
	}
	rows, err := o.collect()
	if err != nil {
		return answer{}, err
	}
	addChances(rows, m)
	chance := func(name, head string, of func(row) float64) table.Column[row] {
		return table.Column[row]{
			Name: name, Value: func(r row) any { return math.Round(1e4*of(r)) / 1e4 },
			Head: head, Text: func(r row) string { return fmt.Sprintf("%.1f%%", 100*of(r)) },
		}
	}
	t := timetable(rows,
		chance("sees", "sees the end", func(r row) float64 { return r.sees }),
		chance("seen", "seen by then", func(r row) float64 { return r.seen }))
	name := term.Line(l.String("learn"))
	p := endPlot(name, rows, m)
	return answer{t, learnedTotals(name, rows, m) + chart.Screen(s, p), chartFiles(p)}, nil
}

// addChances gives each row its chances, given that the run has not ended at the
// start.
func addChances(rows []row, m *learn.Model) {
	alive := 1 - m.Done(m.Age(0))
	before := 0.0
	for i := range rows {
		r := &rows[i]
		r.seen = 1 - (1-m.Done(m.Age(r.At)))/max(alive, math.SmallestNonzeroFloat64)
		r.sees, before = r.seen-before, r.seen
	}
}

func learnedTotals(name string, rows []row, m *learn.Model) string {
	middle := words.Duration(m.Quantile(0.5).Round(time.Millisecond))
	text := fmt.Sprintf("\nlearned from %d runs of %s, half of which take less than %s\n", m.Runs(), name, middle)
	if m.Runs() == 1 {
		text = fmt.Sprintf("\nlearned from 1 run of %s, which took about %s\n", name, middle)
	}
	seen, expected := 0.0, 0.0
	for i, r := range rows {
		seen, expected = r.seen, expected+float64(i+1)*r.sees
	}
	if seen > 0 {
		text += fmt.Sprintf("%s see the end of %.0f%% of the runs, after %.1f attempts on average\n",
			words.Count(len(rows), "attempt"), 100*seen, expected/seen)
	}
	return text
}

// endPlot draws how likely the end is at each age, with the attempts as lines.
func endPlot(name string, rows []row, m *learn.Model) chart.Plot {
	until := m.Age(0) + time.Second
	if len(rows) > 0 {
		until = m.Age(rows[len(rows)-1].At)
	}
	density := chart.Series{Name: "the end"}
	const samples = 500
	for _, p := range m.Points(until, samples) {
		density.Points = append(density.Points, chart.Point{X: p.Age.Seconds(), Y: 100 * p.Density})
	}
	attempts := chart.Series{Name: "attempts"}
	for _, r := range rows {
		age := m.Age(r.At)
		x, top := age.Seconds(), 100*m.Points(age, 1)[0].Density
		attempts.Points = append(attempts.Points, chart.Point{X: x, Y: 0}, chart.Point{X: x, Y: top}, chart.Point{X: math.NaN()})
	}
	return chart.Plot{
		Title:  "when " + name + " ends, and when it is polled",
		X:      chart.Axis{Name: "age", Unit: chart.Seconds},
		Y:      chart.Axis{Name: "chance of the end, % per second"},
		Series: []chart.Series{density, attempts},
	}
}
