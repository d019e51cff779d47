package plan

import (
	"context"
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

// showLearned answers with the table of a learned schedule: when it polls, and
// with what chance each poll is the one that sees the end.
func showLearned(ctx context.Context, l *argv.Line, s *term.Streams, o scheduleOptions) error {
	m, err := learning.Recall(l, s, o.config)
	if err != nil {
		return err
	}
	_, throttled, err := Schedules(l, o.config)
	if err != nil {
		return err
	}
	o.table.Schedule, _ = learning.Schedules(l, m, o.config, throttled)
	if !o.bounded {
		// As far as all but one run of twenty go.
		o.table.Attempts, o.table.Timeout = defaultRows, max(1, m.Quantile(0.95)-m.Age(0))
	}
	rows, err := o.collect(ctx)
	if err != nil {
		return err
	}
	t := learnedTimetable{timetable{o, withChances(rows, m)}, m, term.Line(l.String("learn"))}
	return put(ctx, l, t, o.format, func() string { return t.totals() + chart.Screen(s, t.plot()) }, chartFiles(t.plot())...)
}

// A learnedTimetable is the table of a learned schedule.
type learnedTimetable struct {
	timetable
	model *learn.Model
	name  string // as it may be shown
}

// withChances adds to each row its chances, of the runs that have not ended at the
// start.
func withChances(rows []row, m *learn.Model) []row {
	alive := 1 - m.Done(m.Age(0))
	before := 0.0
	for i := range rows {
		r := &rows[i]
		r.seen = 1 - (1-m.Done(m.Age(r.At)))/max(alive, math.SmallestNonzeroFloat64)
		r.sees = r.seen - before
		before = r.seen
	}
	return rows
}

// In sets the table in a format.
func (t learnedTimetable) In(format string) (string, error) {
	chance := func(name, head string, of func(row) float64) table.Column[row] {
		return table.Column[row]{
			Name: name, Value: func(r row) any { return math.Round(1e4*of(r)) / 1e4 },
			Head: head, Text: func(r row) string { return fmt.Sprintf("%.1f%%", 100*of(r)) },
		}
	}
	columns := append(attemptColumns(t.jittered()),
		chance("sees", "sees the end", func(r row) float64 { return r.sees }),
		chance("seen", "seen by then", func(r row) float64 { return r.seen }))
	return table.Table[row]{Columns: columns, Rows: t.rows}.In(format)
}

// totals says what the table comes to.
func (t learnedTimetable) totals() string {
	seen, expected := 0.0, 0.0
	for i, r := range t.rows {
		seen, expected = r.seen, expected+float64(i+1)*r.sees
	}
	middle := words.Duration(t.model.Quantile(0.5).Round(time.Millisecond))
	text := fmt.Sprintf("\nlearned from %d runs of %s, half of which take less than %s\n", t.model.Runs(), t.name, middle)
	if t.model.Runs() == 1 {
		text = fmt.Sprintf("\nlearned from 1 run of %s, which took about %s\n", t.name, middle)
	}
	if seen > 0 {
		text += fmt.Sprintf("%s see the end of %.0f%% of the runs, after %.1f attempts on average\n",
			words.Count(len(t.rows), "attempt"), 100*seen, expected/seen)
	}
	return text
}

// plot draws how likely the end is at each age, and the polls as lines up to it.
func (t learnedTimetable) plot() chart.Plot {
	until := t.model.Age(0) + time.Second
	if len(t.rows) > 0 {
		until = t.model.Age(t.rows[len(t.rows)-1].At)
	}
	density := chart.Series{Name: "the end"}
	const samples = 500
	for _, p := range t.model.Points(until, samples) {
		density.Points = append(density.Points, chart.Point{X: p.Age.Seconds(), Y: 100 * p.Density})
	}
	polls := chart.Series{Name: "attempts"}
	for _, r := range t.rows {
		age := t.model.Age(r.At)
		points := t.model.Points(age, 1)
		polls.Points = append(polls.Points,
			chart.Point{X: age.Seconds(), Y: 0},
			chart.Point{X: age.Seconds(), Y: 100 * points[0].Density},
			chart.Point{X: math.NaN()})
	}
	return chart.Plot{
		Title:  "when " + t.name + " ends, and when it is polled",
		X:      chart.Axis{Name: "age", Unit: chart.Seconds},
		Y:      chart.Axis{Name: "chance of the end, % per second"},
		Series: []chart.Series{density, polls},
	}
}
