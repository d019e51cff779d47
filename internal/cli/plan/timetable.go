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
	"github.com/pollcli/poll/words"
)

// maxRows keeps a typing error from filling the memory.
const maxRows = 100_000

// A row is an attempt and the wait before it.
type row = backoff.Row

// collect returns the rows by a given time, whose number is n, and two more if there are any.
func collect(t backoff.Table, until time.Duration) (rows []row, n int, err error) {
	for r := range t.Rows() {
		if r.At <= until {
			n++
		}
		if len(rows) == maxRows {
			return nil, 0, argv.Usagef("the table has more than %d rows", maxRows)
		}
		if rows = append(rows, r); len(rows) == n+2 {
			break
		}
	}
	return rows, n, nil
}

// drawn returns the schedule of one run of s, whose waits are drawn from r. A table asks for a
// wait several times.
func drawn(s backoff.Schedule, r *rand.Rand) backoff.Schedule {
	waits := map[int]time.Duration{}
	return backoff.ScheduleFunc(func(step backoff.Step, _ *rand.Rand) time.Duration {
		if _, isDrawn := waits[step.N]; !isDrawn {
			waits[step.N] = s.Wait(step, r)
		}
		return waits[step.N]
	})
}

// timetable returns the table of some attempts. People see bounds if the waits are random.
func timetable(rows []row) table {
	t := table{rows: len(rows), columns: []column{
		{name: "attempt", head: "attempt", value: func(i int) any { return rows[i].Attempt }}}}
	add := func(name, head, seconds string, of func(row) time.Duration) {
		t.columns = append(t.columns, column{
			head: head, text: func(i int) string { return words.Duration(of(rows[i])) },
		}, column{
			name: name, value: func(i int) any { return words.InSeconds(of(rows[i])) },
			head: seconds, text: func(i int) string { return secondsText(of(rows[i])) },
		})
	}
	bounds := []string{"min", "min_s", "max", "max_s"}
	if !jittered(rows) {
		bounds = make([]string, 4) // for programs only
	}
	add("wait_s", "wait", "wait_s", func(r row) time.Duration { return r.Wait })
	add("wait_min_s", bounds[0], bounds[1], func(r row) time.Duration { return r.Min })
	add("wait_max_s", bounds[2], bounds[3], func(r row) time.Duration { return r.Max })
	add("at_s", "starts at", "at_s", startOf)
	return t
}

func jittered(rows []row) bool {
	return slices.ContainsFunc(rows, func(r row) bool { return r.Min != r.Max })
}

// chances returns a column of probabilities.
func chances(name, head string, of []float64) column {
	return column{
		name: name, value: func(i int) any { return math.Round(1e4*of[i]) / 1e4 },
		head: head, text: func(i int) string { return fmt.Sprintf("%.1f%%", 100*of[i]) },
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
