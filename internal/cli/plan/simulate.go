package plan

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/backoff/simulate"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/schedule"
	"github.com/pollcli/poll/internal/ui/table"
	"github.com/pollcli/poll/internal/ui/term"
)

// SimulateCommand returns the command that simulates contention.
func SimulateCommand(s *term.Streams) *argv.Command {
	return &argv.Command{
		Name:    "simulate",
		Summary: "model many clients of one service",
		About: "poll simulate lets clients contend for a service in virtual time, and measures\n" +
			"how long it takes until all are done and how much work that makes. Model queue:\n" +
			"the service takes one client at a time; one that finds it busy waits and asks\n" +
			"again. Model occ: clients write to one row under optimistic concurrency. For how\n" +
			"late one poller notices a completion, see poll schedule. --strategy, --factor,\n" +
			"--power or --jitter add a schedule of your own.",
		Examples: []argv.Example{
			{Line: "poll simulate"},
			{Line: "poll simulate --clients 50 --algorithm full,decorrelated --service 1s"},
			{Line: "poll simulate --factor 1.5 --jitter full --algorithm full", About: "is a schedule of your own better?"},
			{Line: "poll simulate --model occ --clients $(seq -s, 10 10 190) --svg occ.svg", About: "the published sweep"},
		},
		Flags:     simulateFlags(),
		Conflicts: Conflicts(),
		Run:       func(ctx context.Context, l *argv.Line) error { return runSimulation(ctx, l, s) },
	}
}

// models are those that can be simulated, the default first.
func models() []simulate.Model { return []simulate.Model{simulate.ModelQueue, simulate.ModelOCC} }

// algorithmNames returns the algorithms of both models. ModelOCC has them all.
func algorithmNames() []string {
	var list []string
	for _, a := range simulate.ModelOCC.Algorithms(0, 0) {
		list = append(list, a.Name)
	}
	return list
}

func simulateFlags() argv.Flags {
	offeredAlgorithms := func() []argv.Candidate { return argv.Candidates(algorithmNames()...) }
	return slices.Concat(argv.Flags{
		{Name: "model", Value: "M", Default: string(simulate.ModelQueue), Words: argv.Texts(models()), Usage: "or occ"},
		{Name: "clients", Value: "LIST", Default: "10,50,100", Usage: "numbers of clients"},
		{Name: "algorithm", Value: "LIST", Offers: offeredAlgorithms, Default: "all", Usage: "such as exponential,full"},
	}, Flags("").Only(shapes()...), argv.Flags{
		{Name: "trials", Value: "N", Default: "100", Usage: "simulations of each"},
		{Name: "base", Value: "D", Default: "queue 10ms, occ 5ms", Usage: "the base of algorithms"},
		{Name: "max-wait", Value: "D", Default: "queue 0 = no cap, occ 2s", Usage: "the longest wait"},
		{Name: "service", Value: "D-D", Default: "8ms-12ms", Usage: "queue: how long it serves a client"},
		{Name: "seed", Value: "N", Default: "0", Usage: "changes the random numbers"},
		formatFlag(table.Text, table.CSV, table.JSON),
		{Name: "svg", Value: "FILE", Usage: "write two charts, of work and of time"},
		argv.HelpFlag(),
	})
}

// shapes returns the flags that shape a schedule of the user's own.
func shapes() []string { return []string{"strategy", "factor", "power", "jitter"} }

func runSimulation(ctx context.Context, l *argv.Line, s *term.Streams) error {
	config, err := readSimulation(l)
	if err != nil {
		return err
	}
	found, err := simulate.Run(ctx, config)
	if e, ok := errors.AsType[*simulate.ParameterError](err); ok {
		return argv.Usagef("%s: %s", l.Origin(e.Parameter), e.Problem)
	}
	if err != nil {
		return err
	}
	a := answer[simulate.Result]{
		table: table.Table[simulate.Result]{Columns: resultColumns(), Rows: found},
		plots: resultPlots(config.Model, found),
	}
	if slices.ContainsFunc(found, stopped) {
		a.below = "\na trial is stopped at a wait beyond 292 years; calls and retries are those until then\n"
	}
	return a.put(ctx, l, s, nil)
}

func readSimulation(l *argv.Line) (c simulate.Config, err error) {
	model := simulate.Model(l.Choice("model"))
	if err := l.Err(); err != nil {
		return c, err
	}
	c = simulate.Defaults(model)
	c.Clients = []int{10, 50, 100} // not the whole sweep
	c.Trials = l.Count("trials", 1, c.Trials)
	if l.Has("clients") {
		c.Clients = readClients(l)
	}
	if c.Algorithms, err = readAlgorithms(l, model); err != nil {
		return c, err
	}
	if l.Has("service") {
		if model != simulate.ModelQueue {
			return c, argv.Usagef("--service is for --model %s", simulate.ModelQueue)
		}
		c.ServiceMin, c.ServiceMax = readService(l)
	}
	c.Seed = l.Uint64("seed")
	return c, checkOutput(l)
}

// readAlgorithms returns those that --algorithm names, and the schedule that the
// other flags describe; without either, all of the model.
func readAlgorithms(l *argv.Line, m simulate.Model) ([]simulate.Algorithm, error) {
	base, maxWait := m.Published()
	config, err := ReadConfig(l, base, maxWait)
	if err != nil {
		return nil, err
	}
	if config.Base == schedule.NoWait {
		l.Fail("base", argv.Usagef("0s is not above 0"))
	}
	maxWait = cmp.Or(l.Duration("max-wait", maxWait), backoff.NoCap)
	described := slices.ContainsFunc(shapes(), l.Has)
	var list []simulate.Algorithm
	if l.Has("algorithm") || !described {
		list = namedAlgorithms(l, m, config.Base, maxWait)
	}
	if l.Err() != nil || !described {
		return list, l.Err()
	}
	own, _, err := Schedules(l, config)
	return append(list, simulate.Algorithm{Name: describe(config), Schedule: own}), err
}

// namedAlgorithms reads --algorithm, by default "all": those of the model.
func namedAlgorithms(l *argv.Line, m simulate.Model, base, maxWait time.Duration) []simulate.Algorithm {
	const all = "all"
	named := []string{all}
	if l.Has("algorithm") {
		named = argv.List(l, "algorithm", append(named, algorithmNames()...))
	}
	if slices.Contains(named, all) {
		return m.Algorithms(base, maxWait)
	}
	var list []simulate.Algorithm
	for _, name := range named {
		// ModelOCC has "none", too. Run says why ModelQueue cannot have that.
		for _, known := range simulate.ModelOCC.Algorithms(base, maxWait) {
			if known.Name == name {
				list = append(list, known)
			}
		}
	}
	return list
}

func readClients(l *argv.Line) []int {
	var list []int
	for word := range strings.SplitSeq(l.String("clients"), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil {
			l.Fail("clients", argv.Usagef("%q is not a whole number; a list is 10,50,100", word))
		}
		if !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list
}

// readService reads a duration, or the shortest and the longest.
func readService(l *argv.Line) (shortest, longest time.Duration) {
	from, to, isRange := strings.Cut(l.String("service"), "-")
	if !isRange {
		to = from
	}
	shortest, err := argv.ParseDuration(from)
	if err == nil {
		longest, err = argv.ParseDuration(to)
	}
	if err != nil {
		l.Fail("service", err)
	}
	return shortest, longest
}
