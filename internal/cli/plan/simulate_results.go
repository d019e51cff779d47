package plan

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/pollcli/poll/backoff/simulate"
	"github.com/pollcli/poll/internal/chart"
	"github.com/pollcli/poll/internal/ui/table"
)

type resultColumn = table.Column[simulate.Result]

// resultColumns returns the columns of a result. Times are in milliseconds.
func resultColumns() []resultColumn {
	clients := func(r simulate.Result) any { return r.Clients }
	return []resultColumn{
		{Name: "model", Value: func(r simulate.Result) any { return r.Model }},
		{Head: "clients", Value: clients},
		{Name: "algorithm", Head: "algorithm", Value: func(r simulate.Result) any { return r.Algorithm }},
		{Name: "clients", Value: clients},
		{Name: "trials", Value: func(r simulate.Result) any { return r.Trials }},
		numberColumn("time_ms", "time_ms", func(r simulate.Result) float64 { return r.Time }),
		numberColumn("time_p95_ms", "p95", func(r simulate.Result) float64 { return r.TimeP95 }),
		numberColumn("calls", "calls", func(r simulate.Result) float64 { return r.Calls }),
		numberColumn("retries", "retries", func(r simulate.Result) float64 { return r.TurnedAway }),
	}
}

// numberColumn returns the column of a number, which is missing where it is infinite.
func numberColumn(name, head string, of func(simulate.Result) float64) resultColumn {
	return resultColumn{
		Name: name, Value: func(r simulate.Result) any {
			if math.IsInf(of(r), 0) {
				return (*float64)(nil)
			}
			return math.Round(of(r)*1000) / 1000 // of milliseconds, so a microsecond
		},
		Head: head, Text: func(r simulate.Result) string {
			if math.IsInf(of(r), 0) {
				return ">292 years"
			}
			return strconv.FormatFloat(of(r), 'f', 1, 64)
		},
	}
}

// resultPlots draws work and time against the number of clients. Work is what the
// model's publication counted: retries in a queue, calls under occ.
func resultPlots(m simulate.Model, found []simulate.Result) []chart.Plot {
	time := func(r simulate.Result) float64 { return r.Time / 1000 }
	work, name := func(r simulate.Result) float64 { return r.TurnedAway }, "retries"
	if m == simulate.ModelOCC {
		work, name = func(r simulate.Result) float64 { return r.Calls }, "calls"
	}
	title := "contention, model " + string(m) + ": "
	return []chart.Plot{
		resultPlot(found, title+"work", chart.Axis{Name: name}, work),
		resultPlot(found, title+"time until all are done", chart.Axis{Name: "time", Unit: chart.Seconds}, time),
	}
}

func resultPlot(found []simulate.Result, title string, y chart.Axis, value func(simulate.Result) float64) chart.Plot {
	p := chart.Plot{Title: title, X: chart.Axis{Name: "clients"}, Y: y}
	for _, r := range found {
		if stopped(r) {
			continue // counts until a trial was stopped mean nothing
		}
		i := slices.IndexFunc(p.Series, func(line chart.Series) bool { return line.Name == r.Algorithm })
		if i < 0 {
			i = len(p.Series)
			p.Series = append(p.Series, chart.Series{Name: r.Algorithm})
		}
		p.Series[i].Points = append(p.Series[i].Points, chart.Point{X: float64(r.Clients), Y: value(r)})
	}
	for _, line := range p.Series {
		slices.SortFunc(line.Points, func(a, b chart.Point) int { return cmp.Compare(a.X, b.X) })
	}
	p.LogY = chart.NeedsLog(p.Series)
	return p
}
