package plan

import (
	"cmp"
	"context"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/backoff/simulate"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/chart"
	"github.com/pollcli/poll/internal/table"
	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/internal/words"
)

// SimulateCommand lets clients contend in virtual time.
func SimulateCommand(s *term.Streams) *argv.Command {
	return &argv.Command{
		Name:    "simulate",
		Summary: "what jitter does to a contended service",
		About: "poll simulate lets clients contend for a service, in virtual time, and counts\n" +
			"how long it takes until all are done and how much work that makes. Model queue:\n" +
			"the service takes one client at a time, who finds it busy waits and asks again.\n" +
			"Model occ: clients write to one row under optimistic concurrency. Both are about\n" +
			"contention; how late one poller sees a completion, poll schedule tells.\n" +
			"--strategy, --factor, --power or --jitter ask for a schedule of your own.",
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

// algorithmNames are those of all models.
func algorithmNames() []string {
	var list []string
	for _, a := range simulate.ModelOCC.Algorithms(0, 0) {
		list = append(list, a.Name)
	}
	return list
}

func offeredAlgorithms() []argv.Candidate { return argv.Candidates(algorithmNames()...) }

func simulateFlags() argv.Flags {
	models := simulate.Models()
	all := argv.Flags{
		{Name: "model", Value: "M", Default: string(models[0]), Words: argv.Texts(models), Usage: "or occ"},
		{Name: "clients", Value: "LIST", Default: "10,50,100", Usage: "numbers of clients"},
		{Name: "algorithm", Value: "LIST", Offers: offeredAlgorithms, Default: "all", Usage: "exponential, full, equal, decorrelated, none"},
	}
	all = append(all, Flags("").Only(shapes()...)...)
	return append(all, argv.Flags{
		{Name: "trials", Value: "N", Default: "100", Usage: "how often each is tried"},
		{Name: "base", Value: "D", Default: "10ms, occ 5ms", Usage: "of the algorithms"},
		{Name: "max-wait", Value: "D", Default: "0 = no cap, occ 2s", Usage: "no wait is longer"},
		{Name: "service", Value: "D-D", Default: "8ms-12ms", Usage: "what the queue takes for one client"},
		{Name: "seed", Value: "N", Default: "0", Usage: "another one gives other chances"},
		formatFlag(table.Text, table.CSV, table.JSON),
		{Name: "svg", Value: "FILE", Usage: "write a chart of work and one of time"},
		argv.HelpFlag(),
	}...)
}

// shapes are the flags that ask for a schedule other than the algorithms.
func shapes() []string { return []string{"strategy", "factor", "power", "jitter"} }

func runSimulation(ctx context.Context, l *argv.Line, s *term.Streams) error {
	o, err := readSimulation(l)
	if err != nil {
		return err
	}
	var found simulated
	svg := chartFile{"svg", func(w io.Writer) error { return chart.SVG(w, found.plots()...) }}
	if err := checkFiles(l, svg); err != nil {
		return err
	}
	meter := newMeter(s, "simulating")
	o.config.Progress = meter.show
	found.results, err = simulate.Run(ctx, o.config)
	meter.clear()
	if err != nil {
		return err
	}
	return put(ctx, l, found, o.format, func() string { return chart.Screen(s, found.plots()...) }, svg)
}

// simulateOptions are what the flags ask for.
type simulateOptions struct {
	config simulate.Config
	format string
}

func readSimulation(l *argv.Line) (o simulateOptions, err error) {
	model := simulate.Model(l.Choice("model"))
	c := simulate.Defaults(model)
	c.Clients = []int{10, 50, 100}
	c.Trials = l.Count("trials", 1, c.Trials)
	if l.Has("clients") {
		c.Clients = readClients(l)
	}
	if c.Algorithms, err = readAlgorithms(l, model); err != nil {
		return o, err
	}
	if l.Has("service") {
		if model != simulate.ModelQueue {
			return o, argv.Usagef("--service is for --model queue: the store of %s takes no time", model)
		}
		c.ServiceMin, c.ServiceMax = readService(l)
	}
	c.Seed = l.Uint64("seed")
	if l.Err() != nil {
		return o, l.Err()
	}
	if err := c.Validate(); err != nil {
		return o, badParameter(l, err)
	}
	o = simulateOptions{c, l.Choice("format")}
	return o, l.Err()
}

// readAlgorithms returns those that --algorithm names, and the schedule that the other
// flags describe. Without either it returns all of the model.
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
	name := algorithmName(config)
	if l.Err() != nil || !described || slices.ContainsFunc(list, func(a simulate.Algorithm) bool { return a.Name == name }) {
		return list, l.Err()
	}
	own, _, err := Schedules(l, config)
	return append(list, simulate.Algorithm{Name: name, Schedule: own}), err
}

// namedAlgorithms reads --algorithm, by default "all" that the model has.
func namedAlgorithms(l *argv.Line, m simulate.Model, base, maxWait time.Duration) []simulate.Algorithm {
	const all = "all"
	var named []string
	if l.Has("algorithm") {
		named = argv.List(l, "algorithm", append([]string{all}, algorithmNames()...))
	}
	if named == nil || slices.Contains(named, all) {
		return m.Algorithms(base, maxWait)
	}
	// Those of ModelOCC include "none". Validate says why a queue cannot have it.
	offered := simulate.ModelOCC.Algorithms(base, maxWait)
	var list []simulate.Algorithm
	for _, word := range named {
		i := slices.IndexFunc(offered, func(a simulate.Algorithm) bool { return a.Name == word })
		list = append(list, offered[i])
	}
	return list
}

// algorithmName describes a schedule in few words: "exponential factor 1.5 full".
// A schedule that is one of the published algorithms has the name of that.
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

// readClients reads the numbers of clients, each once.
func readClients(l *argv.Line) []int {
	var list []int
	seen := map[int]bool{}
	for word := range strings.SplitSeq(l.String("clients"), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil {
			l.Fail("clients", argv.Usagef("%q is not a whole number; a list is 10,50,100", word))
		}
		if !seen[n] {
			list = append(list, n)
		}
		seen[n] = true
	}
	return list
}

// readService reads a time, or the shortest and the longest.
func readService(l *argv.Line) (shortest, longest time.Duration) {
	from, to, isRange := strings.Cut(l.String("service"), "-")
	if !isRange {
		to = from
	}
	var ends [2]time.Duration
	for i, word := range []string{from, to} {
		d, err := argv.ParseDuration(word)
		if err != nil {
			l.Fail("service", err)
		}
		ends[i] = d
	}
	return ends[0], ends[1]
}

// simulated is what a simulation found.
type simulated struct{ results []simulate.Result }

// In sets the results in a format.
func (s simulated) In(format string) (string, error) {
	text, err := table.Table[simulate.Result]{Columns: resultColumns(), Rows: s.results}.In(format)
	stopped := func(r simulate.Result) bool { return math.IsInf(r.Time, 0) }
	if format == table.Text && slices.ContainsFunc(s.results, stopped) {
		text += "\na trial is stopped at a wait beyond 292 years; calls and retries are those until then\n"
	}
	return text, err
}

// resultColumns describe a result. Times are in milliseconds, and missing if a
// trial was stopped.
func resultColumns() []table.Column[simulate.Result] {
	number := func(name, head string, of func(simulate.Result) float64) table.Column[simulate.Result] {
		return table.Column[simulate.Result]{
			Name: name, Value: func(r simulate.Result) any { return finite(of(r)) },
			Head: head, Text: func(r simulate.Result) string { return tenths(of(r)) },
		}
	}
	clients := func(r simulate.Result) any { return r.Clients }
	return []table.Column[simulate.Result]{
		{Name: "model", Value: func(r simulate.Result) any { return r.Model }},
		{Head: "clients", Value: clients},
		{Name: "algorithm", Head: "algorithm", Value: func(r simulate.Result) any { return r.Algorithm }},
		{Name: "clients", Value: clients},
		{Name: "trials", Value: func(r simulate.Result) any { return r.Trials }},
		number("time_ms", "time_ms", func(r simulate.Result) float64 { return r.Time }),
		number("time_p95_ms", "p95", func(r simulate.Result) float64 { return r.TimeP95 }),
		number("calls", "calls", func(r simulate.Result) float64 { return r.Calls }),
		number("retries", "retries", func(r simulate.Result) float64 { return r.TurnedAway }),
	}
}

// finite leaves three decimals: of milliseconds that is a microsecond.
func finite(n float64) *float64 {
	if math.IsInf(n, 0) {
		return nil
	}
	return new(math.Round(n*1000) / 1000)
}

func tenths(n float64) string {
	if math.IsInf(n, 0) {
		return ">292 years"
	}
	return strconv.FormatFloat(n, 'f', 1, 64)
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
