package plan

import (
	"fmt"
	"math"
	"time"

	"github.com/pollcli/poll/backoff/learn"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/learning"
	"github.com/pollcli/poll/internal/plot"
	"github.com/pollcli/poll/internal/ui/table"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/words"
)

// learned returns the attempts of a learned schedule, and each one's chance of seeing the
// end.
func (q scheduleQuery) learned(l *argv.Line, s *term.Streams) (a answer[row], err error) {
	m, err := learning.Recall(l, s, q.config)
	switch {
	case err != nil:
		return a, err
	case m == nil:
		return q.attempts(l)
	}
	q.table.Schedule, _ = learning.Schedules(l, m, q.config, nil)
	if !q.bounded {
		// 19 of 20 runs end by then.
		q.table.Attempts, q.table.Timeout = defaultRows, max(1, m.Quantile(0.95)-m.Age(0))
	}
	rows, err := q.rows(l)
	if err != nil {
		return a, err
	}
	addChances(rows, m)
	name := term.Line(l.String("learn"))
	p := growth("the attempts of the next run of "+name, series("attempts", rows, func(r row) time.Duration { return r.At }))
	a = answer[row]{table: timetable(rows), below: learnedTotals(name, m), plots: []plot.Plot{p}}
	a.table.Columns = append(a.table.Columns,
		chance("sees", "sees the end", func(r row) float64 { return r.sees }),
		chance("seen", "by then", func(r row) float64 { return r.seen }))
	return a, nil
}

func chance(name, head string, of func(row) float64) table.Column[row] {
	return table.Column[row]{
		Name: name, Value: func(r row) any { return math.Round(1e4*of(r)) / 1e4 },
		Head: head, Text: func(r row) string { return fmt.Sprintf("%.1f%%", 100*of(r)) },
	}
}

// addChances gives each row its chances, provided that the run has not ended at the start.
func addChances(rows []row, m *learn.Model) {
	alive := max(1-m.Done(m.Age(0)), math.SmallestNonzeroFloat64)
	before := 0.0
	for i := range rows {
		r := &rows[i]
		r.seen = 1 - (1-m.Done(m.Age(r.At)))/alive
		r.sees, before = r.seen-before, r.seen
	}
}

func learnedTotals(name string, m *learn.Model) string {
	return fmt.Sprintf("\nlearned from %s of %s, half of which take less than %s\n",
		words.Count(m.Runs(), "run"), name, words.Duration(m.Quantile(0.5).Round(time.Millisecond)))
}
