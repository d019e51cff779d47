package cli

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/backoff/simulate"
	"github.com/pollcli/poll/internal/chart"
	"github.com/pollcli/poll/internal/words"
)

func simulateCommand() *command {
	return &command{
		name:    "simulate",
		summary: "what jitter does to a contended service",
		about: "poll simulate lets clients contend for a service, in virtual time, and counts\n" +
			"how long it takes until all are done and how much work that makes. Model queue:\n" +
			"the service takes one client at a time, who finds it busy waits and asks again.\n" +
			"Model occ: clients write to one row under optimistic concurrency. Both are about\n" +
			"contention; how late one poller sees a completion, poll schedule tells.\n" +
			"--strategy, --factor, --power or --jitter ask for a schedule of your own.",
		examples: []example{
			{"poll simulate", ""},
			{"poll simulate --clients 50 --algorithm full,decorrelated --service 1s", ""},
			{"poll simulate --factor 1.5 --jitter full --algorithm full", "is a schedule of your own better?"},
			{"poll simulate --model occ --clients $(seq -s, 10 10 190) --svg occ.svg", "the published sweep"},
		},
		flags: simulateFlags(),
		run:   (*invocation).runSimulate,
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

func offeredAlgorithms() []candidate { return candidates(algorithmNames()...) }

func simulateFlags() flags {
	models := simulate.Models()
	all := flags{
		{name: "model", value: "M", def: string(models[0]), words: names(models), usage: "or occ"},
		{name: "clients", value: "LIST", def: "10,50,100", usage: "numbers of clients"},
		{name: "algorithm", value: "LIST", offers: offeredAlgorithms, def: "all", usage: "exponential, full, equal, decorrelated, none"},
	}
	all = append(all, mainFlags().only(scheduleWords()...)...)
	return append(all, flags{
		{name: "trials", value: "N", def: "100", usage: "how often each is tried"},
		{name: "base", value: "D", def: "10ms, occ 5ms", usage: "of the algorithms"},
		{name: "max-wait", value: "D", def: "0 = no cap, occ 2s", usage: "no wait is longer"},
		{name: "service", value: "D-D", def: "8ms-12ms", usage: "what the queue takes for one client"},
		{name: "seed", value: "N", def: "0", usage: "another one gives other chances"},
		formatFlag(formatTable, formatCSV, formatJSON),
		{name: "svg", value: "FILE", usage: "write a chart of work and one of time"},
		helpFlag(),
	}...)
}

// scheduleWords are the flags that ask for a schedule other than the algorithms.
func scheduleWords() []string { return []string{"strategy", "factor", "power", "jitter"} }

func (in *invocation) runSimulate() error {
	if err := in.takesNoOperand(); err != nil {
		return err
	}
	if err := in.split.resolve(conflicts()); err != nil {
		return err
	}
	config, err := in.simulation()
	if err != nil {
		return err
	}
	format := in.format()
	if in.values.err != nil {
		return in.values.err
	}
	var s simulated
	svg := picture{"svg", func(w io.Writer) error { return chart.StackSVG(w, s.plots()...) }}
	if err := in.checkPictures(svg); err != nil {
		return err
	}
	meter := in.newMeter("simulating")
	config.Progress = meter.show
	s.results, err = simulate.Run(in.ctx, config)
	meter.clear()
	if err != nil {
		return err
	}
	text, err := s.in(format)
	if err != nil {
		return err
	}
	if format == formatTable {
		text += chart.Screen(in.Streams, s.plots()...)
	}
	return errors.Join(in.writeOut(text), in.writePictures(svg))
}

// simulation reads the flags.
func (in *invocation) simulation() (simulate.Config, error) {
	v := in.values
	model := simulate.Model(v.word("model", in.self.flags.lookup("model").def, names(simulate.Models())))
	c := simulate.Defaults(model)
	c.Clients = []int{10, 50, 100}
	c.Trials = v.count("trials", 1, c.Trials)
	if in.split.has("clients") {
		c.Clients = in.clients()
	}
	var err error
	if c.Algorithms, err = in.algorithms(model); err != nil {
		return c, err
	}
	if in.split.has("service") {
		if model != simulate.ModelQueue {
			return c, usagef("--service is for --model queue: the store of %s takes no time", model)
		}
		c.ServiceMin, c.ServiceMax = in.service()
	}
	c.Seed = v.seed()
	if v.err != nil {
		return c, v.err
	}
	if err := c.Validate(); err != nil {
		return c, in.badParameter(err)
	}
	return c, nil
}

// algorithms returns those that --algorithm names, and the schedule that the other
// flags describe. Without either it returns all of the model.
func (in *invocation) algorithms(m simulate.Model) ([]simulate.Algorithm, error) {
	base, maxWait := m.Published()
	config, err := in.schedule(base, maxWait)
	if err != nil {
		return nil, err
	}
	if config.Base == backoff.NoWait {
		in.values.fail("base", usagef("0s is not above 0"))
	}
	maxWait = cmp.Or(in.values.duration("max-wait", maxWait), backoff.NoCap)
	described := slices.ContainsFunc(scheduleWords(), in.split.has)
	var list []simulate.Algorithm
	if in.split.has("algorithm") || !described {
		list = in.namedAlgorithms(m, config.Base, maxWait)
	}
	name := algorithmName(config)
	if in.values.err != nil || !described || slices.ContainsFunc(list, func(a simulate.Algorithm) bool { return a.Name == name }) {
		return list, in.values.err
	}
	own, err := in.scheduleOf(config)
	return append(list, simulate.Algorithm{Name: name, Schedule: own}), err
}

// namedAlgorithms reads --algorithm, by default "all" that the model has.
func (in *invocation) namedAlgorithms(m simulate.Model, base, maxWait time.Duration) []simulate.Algorithm {
	const all = "all"
	var words []string
	if in.split.has("algorithm") {
		words = listed(in.values, "algorithm", append([]string{all}, algorithmNames()...))
	}
	if words == nil || slices.Contains(words, all) {
		return m.Algorithms(base, maxWait)
	}
	// Those of ModelOCC include "none". Validate says why a queue cannot have it.
	offered := simulate.ModelOCC.Algorithms(base, maxWait)
	var list []simulate.Algorithm
	for _, word := range words {
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

// clients reads the numbers of clients, each once.
func (in *invocation) clients() []int {
	var list []int
	seen := map[int]bool{}
	for word := range strings.SplitSeq(in.values.String("clients"), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil {
			in.values.fail("clients", usagef("%q is not a whole number; a list is 10,50,100", word))
		}
		if !seen[n] {
			list = append(list, n)
		}
		seen[n] = true
	}
	return list
}

// service reads a time, or the shortest and the longest.
func (in *invocation) service() (shortest, longest time.Duration) {
	from, to, isRange := strings.Cut(in.values.String("service"), "-")
	if !isRange {
		to = from
	}
	var ends [2]time.Duration
	for i, word := range []string{from, to} {
		d, err := parseDuration(word)
		if err != nil {
			in.values.fail("service", err)
		}
		ends[i] = d
	}
	return ends[0], ends[1]
}
