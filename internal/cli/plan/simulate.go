package plan

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/backoff/simulate"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/chart"
	"github.com/pollcli/poll/internal/cli/chartfile"
	"github.com/pollcli/poll/internal/table"
	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/internal/words"
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
			"--power or --jitter add a schedule of your own.\n\n" +
			"Two models are about clients that go together, as with --share. Model limit:\n" +
			"the service takes --rate requests a second, and refuses the others. Each client\n" +
			"goes by an algorithm alone, or together: a refusal of one holds all back (gate),\n" +
			"and behind the gate they keep to a rate, learned or known. Model answers: all\n" +
			"wait for the same thing, alone, or together: the first whose time comes asks for\n" +
			"all. Its time is its own (newer), or that of all, and who comes later asks at\n" +
			"once (due) or waits half as long as the others at most (shared).",
		Examples: []argv.Example{
			{Line: "poll simulate"},
			{Line: "poll simulate --clients 50 --algorithm full,decorrelated --service 1s"},
			{Line: "poll simulate --factor 1.5 --jitter full --algorithm full", About: "is a schedule of your own better?"},
			{Line: "poll simulate --model occ --clients $(seq -s, 10 10 190) --svg occ.svg", About: "the published sweep"},
			{Line: "poll simulate --model limit --clients 100000 --rate 1000/s --retry-after 30s"},
			{Line: "poll simulate --model answers --clients 1000 --algorithm full,shared"},
		},
		Flags:     simulateFlags(),
		Conflicts: Conflicts(),
		Run:       func(ctx context.Context, l *argv.Line) error { return runSimulation(ctx, l, s) },
	}
}

// algorithmNames returns the algorithms of all models.
func algorithmNames() []string {
	var list []string
	for _, m := range []simulate.Model{simulate.ModelOCC, simulate.ModelLimit, simulate.ModelAnswers} {
		for _, a := range m.Algorithms(0, 0) {
			if !slices.Contains(list, a.Name) {
				list = append(list, a.Name)
			}
		}
	}
	return list
}

func simulateFlags() argv.Flags {
	models := simulate.Models()
	offeredAlgorithms := func() []argv.Candidate { return argv.Candidates(algorithmNames()...) }
	return slices.Concat(argv.Flags{
		{Name: "model", Value: "M", Default: string(models[0]), Words: argv.Texts(models), Usage: "or " + strings.Join(argv.Texts(models[1:]), ", ")},
		{Name: "clients", Value: "LIST", Default: "10,50,100; together 100,1000", Usage: "numbers of clients"},
		{Name: "algorithm", Value: "LIST", Offers: offeredAlgorithms, Default: "all", Usage: "such as exponential,full or gate,known"},
	}, Flags("").Only(shapes()...), argv.Flags{
		{Name: "trials", Value: "N", Default: "100; together 10", Usage: "simulations of each"},
		{Name: "base", Value: "D", Default: "100ms, queue 10ms, occ 5ms", Usage: "the base of algorithms"},
		{Name: "max-wait", Value: "D", Default: "20s, queue 0 = no cap, occ 2s", Usage: "the longest wait"},
		{Name: "service", Value: "D-D", Default: "8ms-12ms", Usage: "queue: how long it serves a client"},
		{Name: "rate", Value: "N/U", Default: "20/s", Usage: "limit: requests that the service takes"},
		{Name: "burst", Value: "N", Default: "those of a second", Usage: "limit: and so many at once"},
		{Name: "retry-after", Value: "D", Default: "5s", Usage: "limit: the wait a refusal asks for; 0 = none"},
		{Name: "extend", Usage: "limit: who asks before that begins it anew, for all"},
		{Name: "guess", Value: "N/U", Default: "50/s", Usage: "limit: the highest rate of learned; 0 = none"},
		{Name: "until-time", Value: "D", Default: words.Flag(DefaultTimeout), Usage: "limit: how long; answers: when it is done"},
		{Name: "arrival", Value: "D", Default: "1s", Usage: "limit, answers: the clients come within D"},
		{Name: "seed", Value: "N", Default: "0", Usage: "changes the random numbers"},
		formatFlag(table.Text, table.CSV, table.JSON),
		{Name: "svg", Value: "FILE", Usage: "write two charts, such as of work and of time"},
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
	show, clear := newMeter(s, "simulating")
	config.Progress = show
	found, err := simulate.Run(ctx, config)
	clear()
	if err != nil {
		return err
	}
	plots := resultPlots(config.Model, found)
	below := chart.Screen(s, plots...)
	if slices.ContainsFunc(found, stopped) {
		below = "\na trial is stopped at a wait beyond 292 years; calls and retries are those until then\n" + below
	}
	a := answer{table.Table[simulate.Result]{Columns: resultColumns(config.Model), Rows: found}, below, []chartfile.File{chartfile.SVG(plots...)}}
	return a.put(ctx, l, l.Choice("format"))
}

// stopped reports whether a trial was stopped because of a wait beyond 292 years.
func stopped(r simulate.Result) bool { return math.IsInf(r.Time, 0) }

// ownFlags returns the flags that only some models have.
func ownFlags(m simulate.Model) []string {
	switch m {
	case simulate.ModelQueue:
		return []string{"service"}
	case simulate.ModelLimit:
		return []string{"rate", "burst", "retry-after", "extend", "guess", "until-time", "arrival"}
	case simulate.ModelAnswers:
		return []string{"until-time", "arrival"}
	}
	return nil
}

// refuseForeign refuses a flag that only other models have.
func refuseForeign(l *argv.Line, model simulate.Model) error {
	for _, other := range simulate.Models() {
		for _, flag := range ownFlags(other) {
			if l.Has(flag) && !slices.Contains(ownFlags(model), flag) {
				return argv.Usagef("--%s is for --model %s", flag, other)
			}
		}
	}
	return nil
}

func readSimulation(l *argv.Line) (c simulate.Config, err error) {
	model := simulate.Model(l.Choice("model"))
	if err := l.ErrOr(refuseForeign(l, model)); err != nil {
		return c, err
	}
	c = simulate.Defaults(model)
	if len(ownFlags(model)) < 2 {
		c.Clients = []int{10, 50, 100} // not the whole sweep
	}
	c.Trials = l.Count("trials", 1, c.Trials)
	if l.Has("clients") {
		c.Clients = readClients(l)
	}
	if c.Algorithms, err = readAlgorithms(l, model); err != nil {
		return c, err
	}
	if l.Has("service") {
		c.ServiceMin, c.ServiceMax = readService(l)
	}
	c.Until, c.Arrival = l.Duration("until-time", c.Until), l.Duration("arrival", c.Arrival)
	readLimit(l, &c.Limit)
	c.Seed = l.Uint64("seed")
	l.Choice("format") // checked before there is work to lose
	if err := l.ErrOr(badParameter(l, c.Validate())); err != nil {
		return c, err
	}
	return c, chartfile.Check(l, "svg")
}

// readLimit reads what the service of model limit takes.
func readLimit(l *argv.Line, limit *simulate.Limit) {
	limit.PerSecond = l.Rate("rate", limit.PerSecond)
	limit.Burst = l.Count("burst", 1, max(1, int(min(limit.PerSecond, math.MaxInt32))))
	limit.RetryAfter = l.Duration("retry-after", limit.RetryAfter)
	limit.Extends = l.On("extend")
	limit.Guess = l.Rate("guess", limit.Guess)
}

// readAlgorithms returns those that --algorithm names, and the schedule that the
// other flags describe; without either, all of the model. Clients that go together have
// the schedule that is described, too.
func readAlgorithms(l *argv.Line, m simulate.Model) ([]simulate.Algorithm, error) {
	base, maxWait := m.Published()
	config, err := ReadConfig(l, base, maxWait)
	if err != nil {
		return nil, err
	}
	if config.Base == backoff.NoWait {
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
	own, throttled, err := Schedules(l, config)
	for i := range list {
		if list[i].Together != simulate.Alone {
			list[i].Schedule, list[i].Throttled = own, throttled
		}
	}
	name := algorithmName(config)
	if slices.ContainsFunc(list, func(a simulate.Algorithm) bool { return a.Name == name }) {
		return list, err
	}
	return append(list, simulate.Algorithm{Name: name, Schedule: own, Throttled: throttled}), err
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
	// ModelOCC has "none", too. Validate says why others cannot have that.
	of := slices.Concat(m.Algorithms(base, maxWait), simulate.ModelOCC.Algorithms(base, maxWait))
	for _, word := range named {
		i := slices.IndexFunc(of, func(a simulate.Algorithm) bool { return a.Name == word })
		if i < 0 {
			l.Fail("algorithm", argv.Usagef("%s is none of model %s", word, m))
			return nil
		}
		list = append(list, of[i])
	}
	return list
}

// algorithmName describes a schedule briefly: "exponential factor 1.5 full". One of
// the published algorithms keeps its name.
func algorithmName(c backoff.Config) string {
	plain := c.Strategy == backoff.StrategyExponential && c.Factor == backoff.DefaultFactor
	jittered := c.Jitter == backoff.JitterFull || c.Jitter == backoff.JitterEqual
	if c.Jitter == backoff.JitterDecorrelated || plain && jittered {
		return string(c.Jitter)
	}
	name := string(c.Strategy)
	switch {
	case c.Strategy == backoff.StrategyExponential && !plain:
		name += " factor " + words.Number(c.Factor)
	case c.Strategy == backoff.StrategyPolynomial && c.Power != backoff.DefaultPower:
		name += " power " + words.Number(c.Power)
	}
	if jittered {
		name += " " + string(c.Jitter)
	}
	return name
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
