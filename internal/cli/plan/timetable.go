package plan

import (
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/chart"
	"github.com/pollcli/poll/internal/schedule"
	"github.com/pollcli/poll/internal/ui/table"
	"github.com/pollcli/poll/words"
)

// A row is an attempt: of a strategy and, if past runs are known, with the chances
// that it sees the end, and that the end has been seen by then, and with what it is for.
type row struct {
	backoff.Row
	strategy   schedule.Strategy
	sees, seen float64
	purpose    string
}

// timetable returns the table of some attempts, with more columns besides their
// times. People see bounds if the waits are random.
func timetable(rows []row, more ...table.Column[row]) table.Table[row] {
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
		{"at_s", "starts at", "at_s", startsAt},
	} {
		columns = append(columns,
			table.Column[row]{Head: c.head, Text: func(r row) string { return words.Duration(c.of(r)) }},
			table.Column[row]{
				Name: c.name, Value: func(r row) any { return words.InSeconds(c.of(r)) },
				Head: c.headSeconds, Text: func(r row) string { return words.Seconds(c.of(r)) },
			})
	}
	return table.Table[row]{Columns: append(columns, more...), Rows: rows}
}

func startsAt(r row) time.Duration { return r.At }

func jittered(rows []row) bool {
	return slices.ContainsFunc(rows, func(r row) bool { return r.Min != r.Max })
}

func series(name string, rows []row, of func(row) time.Duration) chart.Series {
	s := chart.Series{Name: name}
	for _, r := range rows {
		s.Points = append(s.Points, chart.Point{X: float64(r.Attempt), Y: words.InSeconds(of(r))})
	}
	return s
}

func growthPlot(title string, series ...chart.Series) chart.Plot {
	return chart.Plot{
		Title:  title,
		X:      chart.Axis{Name: "attempt"},
		Y:      chart.Axis{Name: "time since the start", Unit: chart.Seconds},
		Series: series,
	}
}

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
	return strings.Join(append(parts, describeBounds(c)...), ", ")
}

func describeBounds(c schedule.Config) []string {
	var parts []string
	if c.Jitter == schedule.JitterAuto && c.Strategy == schedule.StrategyPolynomial {
		parts = append(parts, words.Percent(backoff.RailsSpread)+" spread")
	}
	if c.Jitter != schedule.JitterAuto && c.Jitter != schedule.JitterNone {
		parts = append(parts, string(c.Jitter)+" jitter")
	}
	if c.MaxWait > 0 {
		parts = append(parts, "no wait above "+words.Flag(c.MaxWait))
	}
	return parts
}
