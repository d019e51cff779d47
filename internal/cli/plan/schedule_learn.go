package plan

import (
	"fmt"
	"math"
	"sort"
	"time"

	"github.com/pollcli/poll/backoff/learn"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/chart"
	"github.com/pollcli/poll/internal/cli/learning"
	"github.com/pollcli/poll/internal/ui/table"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/words"
)

// learned answers with the attempts of a learned schedule: when they come, and each
// one's chance of seeing the end.
func (o scheduleOptions) learned(l *argv.Line, s *term.Streams) (answer, error) {
	m, lengths, err := learning.Recall(l, s, o.config)
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
	addChances(rows, m, lengths)
	chance := func(name, head string, of func(row) float64) table.Column[row] {
		return table.Column[row]{
			Name: name, Value: func(r row) any { return math.Round(1e4*of(r)) / 1e4 },
			Head: head, Text: func(r row) string { return fmt.Sprintf("%.1f%%", 100*of(r)) },
		}
	}
	t := timetable(rows,
		chance("sees", "sees the end", func(r row) float64 { return r.sees }),
		chance("seen", "by then", func(r row) float64 { return r.seen }),
		table.Column[row]{Name: "for", Head: "for", Value: func(r row) any { return r.purpose }})
	name := term.Line(l.String("learn"))
	p := learning.Picture(name, agesOf(rows, m), m)
	return answer{t, learnedTotals(name, rows, m) + chart.Screen(s, p), chartFiles(p)}, nil
}

// addChances gives each row its chances, given that the run has not ended at the
// start, and what it is for.
func addChances(rows []row, m *learn.Model, lengths []float64) {
	alive := 1 - m.Done(m.Age(0))
	before, from := 0.0, m.Age(0)
	for i := range rows {
		r := &rows[i]
		age := m.Age(r.At)
		r.seen = 1 - (1-m.Done(age))/max(alive, math.SmallestNonzeroFloat64)
		r.sees, before = r.seen-before, r.seen
		r.purpose, from = purpose(from, age, lengths), age
	}
}

// purpose says what an attempt is for that sees the ends from one age to another: so many past runs,
// whose lengths are sorted and in seconds, or an end where none was.
func purpose(from, to time.Duration, lengths []float64) string {
	until := func(age time.Duration) int { return sort.SearchFloat64s(lengths, age.Seconds()) }
	switch n := until(to) - until(from); {
	case n > 0:
		return words.Count(n, "run")
	case until(to) == 0:
		return "early"
	case until(from) == len(lengths):
		return "longer"
	}
	return "between"
}

func agesOf(rows []row, m *learn.Model) (ages []time.Duration) {
	for _, r := range rows {
		ages = append(ages, m.Age(r.At))
	}
	return ages
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
