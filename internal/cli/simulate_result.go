package cli

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/pollcli/poll/backoff/simulate"
	"github.com/pollcli/poll/internal/chart"
	"github.com/pollcli/poll/internal/words"
)

// simulated is what a simulation found.
type simulated struct{ results []simulate.Result }

// in sets the results in a format.
func (s simulated) in(format string) (string, error) {
	switch format {
	case formatJSON:
		return jsonList(s.records())
	case formatCSV:
		return s.data().csv(), nil
	}
	return s.sheet().text() + s.note(), nil
}

// note explains the figures of trials that were stopped.
func (s simulated) note() string {
	if !slices.ContainsFunc(s.results, func(r simulate.Result) bool { return math.IsInf(r.Time, 0) }) {
		return ""
	}
	return "\na trial is stopped at a wait beyond 292 years; calls and retries are those until then\n"
}

// A simulatedRecord is one result as JSON. Times are in milliseconds, null if a
// trial was stopped.
type simulatedRecord struct {
	Model     simulate.Model `json:"model"`
	Algorithm string         `json:"algorithm"`
	Clients   int            `json:"clients"`
	Trials    int            `json:"trials"`
	Time      *float64       `json:"time_ms"`
	TimeP95   *float64       `json:"time_p95_ms"`
	Calls     float64        `json:"calls"`
	Retries   float64        `json:"retries"`
}

func (s simulated) records() []simulatedRecord {
	records := make([]simulatedRecord, len(s.results))
	for i, r := range s.results {
		records[i] = simulatedRecord{r.Model, r.Algorithm, r.Clients, r.Trials,
			finite(r.Time), finite(r.TimeP95), round(r.Calls), round(r.TurnedAway)}
	}
	return records
}

func finite(ms float64) *float64 {
	if math.IsInf(ms, 0) {
		return nil
	}
	return new(round(ms))
}

// round leaves three decimals: of milliseconds that is a microsecond.
func round(n float64) float64 { return math.Round(n*1000) / 1000 }

// data is the table for programs, without a value where JSON has null.
func (s simulated) data() *sheet {
	all := &sheet{header: []string{"model", "algorithm", "clients", "trials", "time_ms", "time_p95_ms", "calls", "retries"}}
	for _, r := range s.records() {
		all.add(string(r.Model), r.Algorithm, strconv.Itoa(r.Clients), strconv.Itoa(r.Trials),
			known(r.Time, ""), known(r.TimeP95, ""), words.Number(r.Calls), words.Number(r.Retries))
	}
	return all
}

func known(ms *float64, unknown string) string {
	if ms == nil {
		return unknown
	}
	return words.Number(*ms)
}

// sheet is the table for people.
func (s simulated) sheet() *sheet {
	all := &sheet{header: []string{"clients", "algorithm", "time_ms", "p95", "calls", "retries"}}
	tenths := func(n float64) string {
		if math.IsInf(n, 0) {
			return ">292 years"
		}
		return strconv.FormatFloat(n, 'f', 1, 64)
	}
	for _, r := range s.results {
		all.add(strconv.Itoa(r.Clients), r.Algorithm, tenths(r.Time), tenths(r.TimeP95), tenths(r.Calls), tenths(r.TurnedAway))
	}
	return all
}

// plots draw work and time against the number of clients. Work is what each
// model's publication counted: retries in a queue, calls under occ.
func (s simulated) plots() []chart.Plot {
	work := func(r simulate.Result) float64 { return r.TurnedAway }
	name := "retries"
	model := s.results[0].Model
	if model == simulate.ModelOCC {
		work, name = func(r simulate.Result) float64 { return r.Calls }, "calls"
	}
	title := "contention, model " + string(model) + ": "
	return []chart.Plot{
		s.plot(title+"work", chart.Axis{Name: name}, work),
		s.plot(title+"time until all are done", chart.Axis{Name: "time", Unit: chart.Seconds},
			func(r simulate.Result) float64 { return r.Time / 1000 }),
	}
}

func (s simulated) plot(title string, y chart.Axis, value func(simulate.Result) float64) chart.Plot {
	p := chart.Plot{Title: title, X: chart.Axis{Name: "clients"}, Y: y}
	for _, r := range s.results {
		if math.IsInf(r.Time, 0) {
			continue // what was counted until the trial was stopped says nothing
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
