package plan

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/backoff/simulate"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/plot"
	"github.com/pollcli/poll/internal/schedule"
	"github.com/pollcli/poll/internal/ui/table"
	"github.com/pollcli/poll/internal/ui/term"
)

// SimulateCommand returns the command that simulates contention.
func SimulateCommand(s *term.Streams) *argv.Command {
	q := &simulation{output: output{streams: s}, Config: simulate.Defaults(simulate.ModelQueue)}
	q.Clients = []int{10, 50, 100} // not the whole sweep
	return &argv.Command{
		Name:      "simulate",
		Summary:   "model many clients of one service",
		Flags:     q.flags(),
		Conflicts: schedule.Conflicts(),
		Run:       q.run,
	}
}

// A simulation is what the flags of poll simulate ask for.
type simulation struct {
	simulate.Config
	output
	waits     schedule.Flags // of the user's own, and the base and the longest wait of all
	algorithm []string
}

const allAlgorithms = "all"

// algorithmNames returns the algorithms of both models. ModelOCC has them all.
func algorithmNames() []string {
	list := []string{allAlgorithms}
	for _, a := range simulate.ModelOCC.Algorithms(0, 0) {
		list = append(list, a.Name)
	}
	return list
}

// shapes returns the flags that shape a schedule of the user's own.
func shapes() []string { return []string{"strategy", "factor", "power", "jitter"} }

func (q *simulation) flags() argv.Flags {
	models := argv.Texts([]simulate.Model{simulate.ModelQueue, simulate.ModelOCC})
	names := algorithmNames()
	offered := func() []argv.Candidate { return argv.Candidates(names[1:]...) }
	return slices.Concat(argv.Flags{
		{Name: "model", Value: "M", Default: models[0], Words: models, To: argv.Text(&q.Model), Usage: "or occ"},
		{Name: "clients", Value: "LIST", Default: "10,50,100", To: argv.To(&q.Clients, argv.ParseList(argv.ParseCount(0))), Usage: "numbers of clients"},
		{Name: "algorithm", Value: "LIST", Offers: offered, Default: allAlgorithms, To: argv.To(&q.algorithm, argv.ParseList(argv.ParseWord(names))), Usage: "such as exponential,full"},
	}, q.waits.Table().Only(shapes()...), argv.Flags{
		{Name: "trials", Value: "N", Default: "100", To: argv.To(&q.Trials, argv.ParseCount(1)), Usage: "simulations of each"},
		{Name: "base", Value: "D", Default: "queue 10ms, occ 5ms", To: argv.Maybe(&q.waits.Base, parsePositive), Usage: "the base of algorithms"},
		{Name: "max-wait", Value: "D", Default: "queue 0 = no cap, occ 2s", To: argv.Maybe(&q.waits.MaxWait, argv.ParseDuration), Usage: "the longest wait"},
		{Name: "service", Value: "D-D", Default: "8ms-12ms", To: argv.Func(q.readService, func() {}), Usage: "queue: how long it serves a client"},
		{Name: "seed", Value: "N", Default: "0", To: argv.To(&q.Seed, argv.ParseUint64), Usage: "changes the random numbers"},
	}, q.output.flags("write two charts, of work and of time", table.CSV, table.JSON))
}

// readService reads a duration, or the shortest and the longest.
func (q *simulation) readService(text string) (err error) {
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		to = from
	}
	if q.ServiceMin, err = argv.ParseDuration(from); err == nil {
		q.ServiceMax, err = argv.ParseDuration(to)
	}
	return err
}

func (q *simulation) run(ctx context.Context, l *argv.Line) error {
	if l.Has("service") && q.Model != simulate.ModelQueue {
		return argv.Usagef("--service is for --model %s", simulate.ModelQueue)
	}
	if err := q.check(); err != nil {
		return err
	}
	q.Algorithms = q.algorithms(l)
	found, err := simulate.Run(ctx, q.Config)
	if e, ok := errors.AsType[*simulate.ParameterError](err); ok {
		return argv.Usagef("%s: %s", l.Origin(e.Parameter), e.Problem)
	}
	a := answer{
		table: table.Table[simulate.Result]{Columns: resultColumns(), Rows: found},
		plots: resultPlots(q.Model, found),
	}
	if slices.ContainsFunc(found, stopped) {
		a.below = "\na trial is stopped at a wait beyond 292 years; calls and retries are those until then\n"
	}
	return a.put(ctx, l, &q.output, err)
}

// algorithms returns those that --algorithm names, and the schedule that the other flags
// describe; without either, all of the model.
func (q *simulation) algorithms(l *argv.Line) (list []simulate.Algorithm) {
	base, maxWait := q.Model.Published()
	own := q.waits.Config(base, maxWait)
	isDescribed := slices.ContainsFunc(shapes(), l.Has)
	if q.algorithm == nil && !isDescribed {
		q.algorithm = []string{allAlgorithms}
	}
	maxWait = cmp.Or(*cmp.Or(q.waits.MaxWait, &maxWait), backoff.NoCap) // own has one for a long base
	known := simulate.ModelOCC.Algorithms(own.Base, maxWait)            // Run says why ModelQueue cannot have "none"
	if slices.Contains(q.algorithm, allAlgorithms) {
		list = q.Model.Algorithms(own.Base, maxWait)
	} else {
		for _, name := range q.algorithm {
			i := slices.IndexFunc(known, func(a simulate.Algorithm) bool { return a.Name == name })
			list = append(list, known[i])
		}
	}
	if isDescribed {
		a := simulate.Algorithm{Name: describe(own)}
		a.Schedule, _ = own.Schedules()
		list = append(list, a)
	}
	return list
}

// resultColumns returns the columns of a result. Times are in milliseconds.
func resultColumns() []table.Column[simulate.Result] {
	clients := func(r simulate.Result) any { return r.Clients }
	return []table.Column[simulate.Result]{
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
func numberColumn(name, head string, of func(simulate.Result) float64) table.Column[simulate.Result] {
	return table.Column[simulate.Result]{
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
