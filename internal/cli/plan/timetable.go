package plan

import (
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/plot"
	"github.com/pollcli/poll/internal/schedule"
	"github.com/pollcli/poll/internal/ui/table"
	"github.com/pollcli/poll/words"
)

// maxRows keeps a typing error from filling the memory.
const maxRows = 100_000

// A row is an attempt: of a strategy and, if past runs are known, with the chance that it sees
// the end, and the chance that the end has been seen by then.
type row struct {
	backoff.Row
	strategy   schedule.Strategy
	sees, seen float64
}

// collect returns the rows of a table, unless they are too many to read.
func collect(attempts iter.Seq[backoff.Row]) ([]row, error) {
	var rows []row
	for r := range attempts {
		if len(rows) == maxRows {
			return nil, argv.Usagef("the table has more than %d rows", maxRows)
		}
		rows = append(rows, row{Row: r})
	}
	return rows, nil
}

// drawn enumerates the rows of t with waits drawn from r, as in one run, and not means.
func drawn(t backoff.Table, r *rand.Rand) iter.Seq[backoff.Row] {
	return func(yield func(backoff.Row) bool) {
		unbounded := t
		unbounded.Timeout = 0
		at, previous := t.InitialDelay, time.Duration(0)
		for row := range unbounded.Rows() {
			if n := row.Attempt - 1; n > 0 || !t.Immediate {
				previous = t.Schedule.Wait(backoff.Step{N: n, Elapsed: at, Previous: previous}, r)
				at += previous
			}
			row.Wait, row.At = previous, at
			if t.Timeout > 0 && at > t.Timeout || !yield(row) {
				return
			}
		}
	}
}

// timetable returns the table of some attempts. People see bounds if the waits are random.
func timetable(rows []row) table.Table[row] {
	bound := func(head string) string {
		if jittered(rows) {
			return head
		}
		return ""
	}
	columns := []table.Column[row]{{Name: "attempt", Head: "attempt", Value: func(r row) any { return r.Attempt }}}
	for _, c := range []struct {
		name, head, headSeconds string
		of                      func(row) time.Duration
	}{
		{"wait_s", "wait", "wait_s", func(r row) time.Duration { return r.Wait }},
		{"wait_min_s", bound("min"), bound("min_s"), func(r row) time.Duration { return r.Min }},
		{"wait_max_s", bound("max"), bound("max_s"), func(r row) time.Duration { return r.Max }},
		{"at_s", "starts at", "at_s", func(r row) time.Duration { return r.At }},
	} {
		columns = append(columns,
			table.Column[row]{Head: c.head, Text: func(r row) string { return words.Duration(c.of(r)) }},
			table.Column[row]{
				Name: c.name, Value: func(r row) any { return words.InSeconds(c.of(r)) },
				Head: c.headSeconds, Text: func(r row) string { return words.Seconds(c.of(r)) },
			})
	}
	return table.Table[row]{Columns: columns, Rows: rows}
}

func jittered(rows []row) bool {
	return slices.ContainsFunc(rows, func(r row) bool { return r.Min != r.Max })
}

// growth returns the chart of some tables of attempts.
func growth(title string, series ...plot.Series) plot.Plot {
	y := plot.Axis{Name: "time since the start", Seconds: true}
	return plot.Plot{Title: title, X: plot.Axis{Name: "attempt"}, Y: y, Series: series}
}

func series(name string, rows []row, of func(row) time.Duration) plot.Series {
	s := plot.Series{Name: name}
	for _, r := range rows {
		s.Points = append(s.Points, plot.Point{X: float64(r.Attempt), Y: words.InSeconds(of(r))})
	}
	return s
}

// describe names what shapes the waits.
func describe(c schedule.Config) string {
	parts := []string{string(c.Strategy), "base " + words.Flag(max(0, c.Base))}
	switch {
	case c.Jitter == schedule.JitterDecorrelated:
		parts = parts[1:]
	case c.Strategy == schedule.StrategyExponential:
		parts = append(parts, "factor "+words.Number(c.Factor))
	case c.Strategy == schedule.StrategyPolynomial:
		parts = append(parts, "power "+words.Number(c.Power))
	}
	switch {
	case c.Jitter == schedule.JitterAuto && c.Strategy == schedule.StrategyPolynomial:
		parts = append(parts, words.Percent(backoff.RailsSpread)+" spread")
	case c.Jitter != schedule.JitterAuto && c.Jitter != schedule.JitterNone:
		parts = append(parts, string(c.Jitter)+" jitter")
	}
	if c.MaxWait > 0 {
		parts = append(parts, "no wait above "+words.Flag(c.MaxWait))
	}
	return strings.Join(parts, ", ")
}
