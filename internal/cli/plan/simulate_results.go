package plan

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/pollcli/poll/backoff/simulate"
	"github.com/pollcli/poll/internal/plot"
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

// stopped reports whether a trial was stopped because of a wait beyond 292 years.
func stopped(r simulate.Result) bool { return math.IsInf(r.Time, 0) }

// resultPlots draws work and time against the number of clients. Work is what the
// model's publication counted: retries in a queue, calls under occ.
func resultPlots(m simulate.Model, found []simulate.Result) []plot.Plot {
	work, name := func(r simulate.Result) float64 { return r.TurnedAway }, "retries"
	if m == simulate.ModelOCC {
		work, name = func(r simulate.Result) float64 { return r.Calls }, "calls"
	}
	time := func(r simulate.Result) float64 { return r.Time / 1000 }
	title := "contention, model " + string(m) + ": "
	return []plot.Plot{
		resultPlot(found, title+"work", plot.Axis{Name: name}, work),
		resultPlot(found, title+"time until all are done", plot.Axis{Name: "time", Seconds: true}, time),
	}
}

func resultPlot(found []simulate.Result, title string, y plot.Axis, value func(simulate.Result) float64) plot.Plot {
	p := plot.Plot{Title: title, X: plot.Axis{Name: "clients"}, Y: y}
	found = slices.DeleteFunc(slices.Clone(found), stopped) // counts until then mean nothing
	slices.SortStableFunc(found, func(a, b simulate.Result) int { return cmp.Compare(a.Clients, b.Clients) })
	for _, r := range found {
		i := slices.IndexFunc(p.Series, func(line plot.Series) bool { return line.Name == r.Algorithm })
		if i < 0 {
			i = len(p.Series)
			p.Series = append(p.Series, plot.Series{Name: r.Algorithm})
		}
		p.Series[i].Points = append(p.Series[i].Points, plot.Point{X: float64(r.Clients), Y: value(r)})
	}
	return p
}
