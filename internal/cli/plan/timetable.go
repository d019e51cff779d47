package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/plot"
	"github.com/pollcli/poll/internal/ui/table"
	"github.com/pollcli/poll/words"
)

// maxRows keeps a typing error from filling the memory.
const maxRows = 100_000

// A row is an attempt: of a strategy and, if past runs are known, with the chance that it sees
// the end, and the chance that the end has been seen by then.
type row struct {
	backoff.Row
	strategy   string
	sees, seen float64
}

// collect returns the rows of a strategy's table, unless they are too many to read.
func collect(strategy string, t backoff.Table) ([]row, error) {
	var rows []row
	for r := range t.Rows() {
		if len(rows) == maxRows {
			return nil, argv.Usagef("the table has more than %d rows", maxRows)
		}
		rows = append(rows, row{Row: r, strategy: strategy})
	}
	return rows, nil
}

// drawn returns the schedule of one run of s, whose waits are drawn from r.
func drawn(s backoff.Schedule, r *rand.Rand) backoff.Schedule {
	var previous time.Duration
	waits := map[int]time.Duration{}
	return backoff.ScheduleFunc(func(step backoff.Step, _ *rand.Rand) time.Duration {
		if _, isDrawn := waits[step.N]; !isDrawn {
			step.Previous = previous
			previous = s.Wait(step, r)
			waits[step.N] = previous
		}
		return waits[step.N]
	})
}

// timetable returns the table of some attempts. People see bounds if the waits are random.
func timetable(rows []row) table.Table[row] {
	t := table.Table[row]{Rows: rows, Columns: []table.Column[row]{
		{Name: "attempt", Head: "attempt", Value: func(r row) any { return r.Attempt }}}}
	add := func(name, head, seconds string, of func(row) time.Duration) {
		t.Columns = append(t.Columns, table.Column[row]{
			Head: head, Text: func(r row) string { return words.Duration(of(r)) },
		}, table.Column[row]{
			Name: name, Value: func(r row) any { return words.InSeconds(of(r)) },
			Head: seconds, Text: func(r row) string { return secondsText(of(r)) },
		})
	}
	bounds := []string{"min", "min_s", "max", "max_s"}
	if !jittered(rows) {
		bounds = make([]string, 4) // for programs only
	}
	add("wait_s", "wait", "wait_s", func(r row) time.Duration { return r.Wait })
	add("wait_min_s", bounds[0], bounds[1], func(r row) time.Duration { return r.Min })
	add("wait_max_s", bounds[2], bounds[3], func(r row) time.Duration { return r.Max })
	add("at_s", "starts at", "at_s", func(r row) time.Duration { return r.At })
	return t
}

func jittered(rows []row) bool {
	return slices.ContainsFunc(rows, func(r row) bool { return r.Min != r.Max })
}

// chance returns the column of a probability.
func chance(name, head string, of func(row) float64) table.Column[row] {
	return table.Column[row]{
		Name: name, Value: func(r row) any { return math.Round(1e4*of(r)) / 1e4 },
		Head: head, Text: func(r row) string { return fmt.Sprintf("%.1f%%", 100*of(r)) },
	}
}

// growth returns the chart of some tables of attempts.
func growth(title string, series ...plot.Series) []plot.Plot {
	y := plot.Axis{Name: "time since the start", Seconds: true}
	return []plot.Plot{{Title: title, X: plot.Axis{Name: "attempt"}, Y: y, Series: series}}
}

func series(name string, rows []row, of func(row) time.Duration) plot.Series {
	s := plot.Series{Name: name}
	for _, r := range rows {
		s.Points = append(s.Points, plot.Point{X: float64(r.Attempt), Y: words.InSeconds(of(r))})
	}
	return s
}

func startOf(r row) time.Duration { return r.At }

// describe names what shapes the waits.
func (w Waits) describe() string {
	parts := []string{w.Strategy, "base " + asFlag(w.Base)}
	switch {
	case w.Jitter == JitterDecorrelated:
		parts = parts[1:]
	case w.Strategy == Exponential:
		parts = append(parts, "factor "+words.Number(w.Factor))
	case w.Strategy == Polynomial:
		parts = append(parts, "power "+words.Number(w.Power))
	}
	switch {
	case w.Jitter == JitterAuto && w.Strategy == Polynomial:
		parts = append(parts, fmt.Sprintf("%g%% spread", 100*backoff.RailsSpread))
	case w.Jitter != JitterAuto && w.Jitter != JitterNone:
		parts = append(parts, w.Jitter+" jitter")
	}
	if w.MaxWait > 0 {
		parts = append(parts, "no wait above "+asFlag(w.MaxWait))
	}
	return strings.Join(parts, ", ")
}
