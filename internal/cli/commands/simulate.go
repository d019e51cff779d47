package commands

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff/simulate"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/read"
)

// Simulate returns the command that simulates how many clients compete for one service.
func Simulate() *argv.Command {
	q := &simulation{Config: simulate.Defaults(simulate.ModelQueue)}
	q.Clients = []int{10, 50, 100} // fewer numbers than the default of package simulate, to save time
	return &argv.Command{
		OwnsSignals: true,
		Summary:     "model many clients of one service",
		Flags:       q.flags(),
		Into:        []any{q, &q.output, &q.waits},
		Run:         q.run,
	}
}

// A simulation holds the settings of the command "poll simulate".
type simulation struct {
	output
	simulate.Config
	waits     read.Waits // a schedule that the user describes; its Base and MaxWait apply to all algorithms
	algorithm []string
}

const allAlgorithms = "all"

// algorithmNames returns "all", followed by the names of all algorithms, which are the algorithms of ModelOCC.
func algorithmNames() []string {
	list := []string{allAlgorithms}
	for _, a := range simulate.ModelOCC.Algorithms(0, 0) {
		list = append(list, a.Name)
	}
	return list
}

// shapes returns the names of the flags that describe a schedule.
func shapes() []string { return []string{"strategy", "factor", "power", "jitter"} }

func (q *simulation) flags() argv.Flags {
	models := argv.Texts([]simulate.Model{simulate.ModelQueue, simulate.ModelOCC})
	names := algorithmNames()
	offered := func() []string { return names[1:] }
	return slices.Concat(argv.Flags{
		{Name: "model", Value: "M", Default: models[0], Words: models, Set: argv.Text(func(q *simulation, v string) { q.Model = simulate.Model(v) }), Usage: "queue or occ"},
		{Name: "clients", Value: "LIST", Default: "10,50,100", Set: argv.Parsed(argv.ParseList(argv.ParseCount(0)), func(q *simulation, v []int) { q.Clients = v }), Usage: "numbers of clients"},
		{Name: "algorithm", Value: "LIST", Offers: offered, Default: allAlgorithms, Set: argv.Parsed(argv.ParseList(argv.ParseWord(names)), func(q *simulation, v []string) { q.algorithm = v }), Usage: "such as exponential,full"},
	}, read.WaitsTable().Only(shapes()...), argv.Flags{
		{Name: "trials", Value: "N", Default: "100", Set: argv.Parsed(argv.ParseCount(1), func(q *simulation, v int) { q.Trials = v }), Usage: "how often each is simulated"},
		{Name: "base", Value: "D", Default: "queue 10ms, occ 5ms", Set: argv.Parsed(read.ParsePositive, func(q *simulation, v time.Duration) { q.waits.Base = v }), Usage: "the base of algorithms"},
		{Name: "max-wait", Value: "D", Default: "queue 0 = no cap, occ 2s", Set: argv.Parsed(read.ParseCap, func(q *simulation, v time.Duration) { q.waits.MaxWait = v }), Usage: "the longest wait"},
		{Name: "service", Value: "D-D", Default: "8ms-12ms", Set: argv.Parsed(parseService, func(q *simulation, v [2]time.Duration) { q.ServiceMin, q.ServiceMax = v[0], v[1] }), Usage: "queue: the time that serves one client"},
		{Name: "seed", Value: "N", Default: "0", Set: argv.Parsed(argv.ParseCount(0), func(q *simulation, v int) { q.Seed = uint64(v) }), Usage: "the seed of the random numbers"},
	}, outputTable("write two charts, of work and of time"))
}

// parseService parses a duration such as "10ms", or a range such as "8ms-12ms". It returns the minimum and the
// maximum.
func parseService(text string) (service [2]time.Duration, err error) {
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		to = from
	}
	if service[0], err = argv.ParseDuration(from); err == nil {
		service[1], err = argv.ParseDuration(to)
	}
	return service, err
}

func (q *simulation) run(ctx context.Context, l *argv.Line) error {
	if l.Has("service") && q.Model != simulate.ModelQueue {
		return argv.Usagef("--service is for --model %s", simulate.ModelQueue)
	}
	if err := q.output.check(); err != nil {
		return err
	}
	slices.Sort(q.Clients)
	q.Algorithms = q.algorithms(slices.ContainsFunc(shapes(), l.Has))
	found, err := simulate.Run(ctx, q.Config)
	switch {
	case ctx.Err() != nil:
		return err
	case err != nil: // the message starts with the name of a flag
		return argv.Usagef("--%w", err)
	}
	a := answer{plots: q.plots(found), columns: []column{
		columnOf("", "model", found, func(simulate.Result) (string, any) { return "", q.Model }),
		columnOf("", "algorithm", found, func(r simulate.Result) (string, any) { return "", r.Algorithm }),
		columnOf("clients", "clients", found, func(r simulate.Result) (string, any) { return strconv.Itoa(r.Clients), r.Clients }),
		columnOf("algorithm", "", found, func(r simulate.Result) (string, any) { return r.Algorithm, nil }),
		columnOf("", "trials", found, func(r simulate.Result) (string, any) { return "", r.Trials }),
		columnOf("time_ms", "time_ms", found, func(r simulate.Result) (string, any) { return figure(r.Time) }),
		columnOf("p95", "time_p95_ms", found, func(r simulate.Result) (string, any) { return figure(r.TimeP95) }),
		columnOf("calls", "calls", found, func(r simulate.Result) (string, any) { return figure(r.Calls) }),
		columnOf("retries", "retries", found, func(r simulate.Result) (string, any) { return figure(r.TurnedAway) }),
	}}
	if slices.ContainsFunc(found, stopped) {
		a.below = "\na trial stops at a wait beyond 292 years; calls and retries are counted until then\n"
	}
	return a.write(ctx, l, &q.output)
}

// algorithms returns the algorithms to simulate. They are the algorithms that --algorithm names and, if
// isDescribed is true, the schedule that other flags describe. If no flag names or describes an algorithm, it
// returns all algorithms of the model.
func (q *simulation) algorithms(isDescribed bool) (list []simulate.Algorithm) {
	base, maxWait := q.Model.Published()
	waits := q.waits.Resolved(base, maxWait)
	maxWait = cmp.Or(q.waits.MaxWait, maxWait)
	if slices.Contains(q.algorithm, allAlgorithms) || q.algorithm == nil && !isDescribed {
		list = q.Model.Algorithms(waits.Base, maxWait)
	} else { // simulate.Run reports that ModelQueue does not support "none"
		list = slices.DeleteFunc(simulate.ModelOCC.Algorithms(waits.Base, maxWait), func(a simulate.Algorithm) bool {
			return !slices.Contains(q.algorithm, a.Name)
		})
	}
	if isDescribed {
		a := simulate.Algorithm{Name: describe(waits)}
		a.Schedule, _ = waits.Schedules()
		list = append(list, a)
	}
	return list
}

// figure returns n as text with one decimal, and as a number for JSON with three decimals. If n is infinite, the
// number is nil.
func figure(n float64) (string, any) {
	if math.IsInf(n, 0) {
		return ">292 years", nil
	}
	return fmt.Sprintf("%.1f", n), math.Round(n*1000) / 1000
}

// stopped reports whether a trial was stopped because a wait would have exceeded 292 years.
func stopped(r simulate.Result) bool { return math.IsInf(r.Time, 0) }

// plots returns a chart of the work and a chart of the time, each against the number of clients. The work is the
// quantity in the model's publication: retries for ModelQueue, and calls for ModelOCC.
func (q *simulation) plots(found []simulate.Result) []plot {
	title, x := "contention, model "+string(q.Model)+": ", axis{Name: "clients"}
	work := plot{Title: title + "work", X: x, Y: axis{Name: "retries"}}
	workOf := func(r simulate.Result) float64 { return r.TurnedAway }
	if q.Model == simulate.ModelOCC {
		work.Y.Name, workOf = "calls", func(r simulate.Result) float64 { return r.Calls }
	}
	time := plot{Title: title + "time until all are done", X: x, Y: axis{Name: "time", seconds: true}}
	for _, a := range q.Algorithms {
		works, times := series{Name: a.Name}, series{Name: a.Name}
		for _, r := range found {
			if r.Algorithm == a.Name && !stopped(r) { // the counts of a stopped trial are meaningless
				clients := float64(r.Clients)
				works.Points = append(works.Points, point{X: clients, Y: workOf(r)})
				times.Points = append(times.Points, point{X: clients, Y: r.Time / 1000})
			}
		}
		work.Series, time.Series = append(work.Series, works), append(time.Series, times)
	}
	return []plot{work, time}
}
