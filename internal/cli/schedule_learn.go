package cli

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/backoff/learn"
	"github.com/pollcli/poll/internal/chart"
	"github.com/pollcli/poll/internal/history"
	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/internal/words"
)

// showLearned answers with the table of a learned schedule: when it polls, and
// with what chance each poll is the one that sees the end.
func (in *invocation) showLearned(q timetableQuestion) error {
	m, err := in.recall(q.config)
	if err != nil {
		return err
	}
	_, throttled, err := q.config.Schedules()
	if err != nil {
		return in.badParameter(err)
	}
	q.table.Schedule, _ = in.learned(m, q.config, throttled)
	if !in.bounded() {
		// As far as all but one run of twenty go.
		q.table.Attempts, q.table.Timeout = defaultRows, max(1, m.Quantile(0.95)-m.Age(0))
	}
	rows, err := in.collect(q.table, q.seed)
	if err != nil {
		return err
	}
	t := learnedTimetable{timetable{q.config, q.table, rows}, m, term.Line(in.values.String("learn"))}
	return in.putTable(t, t.plot(), q.format, func() string { return t.totals() + chart.Screen(in.Streams, t.plot()) })
}

// recall fits the history that is named.
func (in *invocation) recall(config backoff.Config) (*learn.Model, error) {
	options := in.learnOptions(config)
	if in.values.err != nil {
		return nil, in.values.err
	}
	dir, err := in.historyDir()
	if err != nil {
		return nil, err
	}
	store, name := history.Store{Dir: dir}, in.values.String("learn")
	p, err := in.past(store, name)
	if err != nil {
		return nil, err
	}
	m, err := learn.Fit(p.runs, options)
	if errors.Is(err, learn.ErrNoRuns) {
		return nil, in.noHistory(store, name)
	}
	return m, err
}

// A learnedTimetable is the table of a learned schedule.
type learnedTimetable struct {
	timetable
	model *learn.Model
	name  string // as it may be shown
}

// A chance belongs to a row.
type chance struct {
	sees float64 // that the end is seen by this attempt, of those that had not ended at the start
	over float64 // that it has been seen by then
}

func (t learnedTimetable) chances() []chance {
	alive := 1 - t.model.Done(t.model.Age(0))
	list := make([]chance, len(t.rows))
	before := 0.0
	for i, r := range t.rows {
		over := 1 - (1-t.model.Done(t.model.Age(r.At)))/max(alive, math.SmallestNonzeroFloat64)
		list[i] = chance{over - before, over}
		before = over
	}
	return list
}

// in sets the table in a format.
func (t learnedTimetable) in(format string) (string, error) {
	switch format {
	case formatJSON:
		return t.json()
	case formatCSV:
		s := t.data()
		s.header = append(s.header, "sees", "seen")
		for i, c := range t.chances() {
			s.rows[i] = append(s.rows[i], spellChance(c.sees), spellChance(c.over))
		}
		return s.csv(), nil
	}
	s := t.sheet()
	s.header = append(s.header, "sees the end", "seen by then")
	for i, c := range t.chances() {
		s.rows[i] = append(s.rows[i], fmt.Sprintf("%.1f%%", 100*c.sees), fmt.Sprintf("%.1f%%", 100*c.over))
	}
	if format == formatMarkdown {
		return s.markdown(), nil
	}
	return s.text(), nil
}

func (t learnedTimetable) json() (string, error) {
	type record struct {
		rowRecord
		Sees float64 `json:"sees"`
		Seen float64 `json:"seen"`
	}
	records := make([]record, len(t.rows))
	for i, c := range t.chances() {
		records[i] = record{recordOf(t.rows[i]), roundChance(c.sees), roundChance(c.over)}
	}
	return jsonList(records)
}

func roundChance(c float64) float64 { return math.Round(1e4*c) / 1e4 }

func spellChance(c float64) string { return strconv.FormatFloat(roundChance(c), 'f', -1, 64) }

// totals says what the table comes to.
func (t learnedTimetable) totals() string {
	seen, expected := 0.0, 0.0
	for i, c := range t.chances() {
		seen, expected = c.over, expected+float64(i+1)*c.sees
	}
	text := fmt.Sprintf("\nlearned from %d runs of %s, half of which take less than %s\n",
		t.model.Runs(), t.name, words.Duration(t.model.Quantile(0.5).Round(time.Millisecond)))
	if t.model.Runs() == 1 {
		text = fmt.Sprintf("\nlearned from 1 run of %s, which took about %s\n", t.name, words.Duration(t.model.Quantile(0.5).Round(time.Millisecond)))
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
