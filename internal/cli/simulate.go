package cli

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff/simulate"
	"github.com/pollcli/poll/internal/chart"
)

func simulateCommand() *command {
	return &command{
		name:    "simulate",
		summary: "what jitter does to a contended service",
		about: "poll simulate lets clients contend for a service, in virtual time, and counts\n" +
			"how long it takes until all are done and how much work that makes. Model queue:\n" +
			"the service takes one client at a time, who finds it busy waits and asks again.\n" +
			"Model occ: clients write to one row under optimistic concurrency. Both are about\n" +
			"contention; how late one poller sees a completion, poll schedule tells.",
		examples: []example{
			{"poll simulate", ""},
			{"poll simulate --clients 50 --algorithm full,decorrelated --service 1s", ""},
			{"poll simulate --model occ --clients $(seq -s, 10 10 190) --svg occ.svg", "the published sweep"},
		},
		flags: simulateFlags(),
		run:   (*invocation).runSimulate,
	}
}

func offeredAlgorithms() []candidate { return candidates(names(simulate.ModelOCC.Algorithms())...) }

func simulateFlags() flags {
	models := simulate.Models()
	return flags{
		{name: "model", value: "M", def: string(models[0]), words: names(models), usage: "or occ"},
		{name: "clients", value: "LIST", def: "10,50,100", usage: "numbers of clients"},
		{name: "algorithm", value: "LIST", offers: offeredAlgorithms, def: "all", usage: "exponential, full, equal, decorrelated, none"},
		{name: "trials", value: "N", def: "100", usage: "how often each is tried"},
		{name: "base", value: "D", def: "10ms, occ 5ms", usage: "of the algorithms"},
		{name: "max-wait", value: "D", def: "0 = no cap, occ 2s", usage: "no wait is longer"},
		{name: "service", value: "D-D", def: "8ms-12ms", usage: "what the queue takes for one client"},
		{name: "seed", value: "N", def: "0", usage: "another one gives other chances"},
		formatFlag(formatTable, formatCSV, formatJSON),
		{name: "svg", value: "FILE", usage: "write a chart of work and one of time"},
		helpFlag(),
	}
}

func (in *invocation) runSimulate() error {
	if err := in.takesNoOperand(); err != nil {
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
		text += in.sketch(s.plots()...)
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
	c.Base = v.duration("base", c.Base)
	c.MaxWait = v.duration("max-wait", c.MaxWait)
	if in.split.has("clients") {
		c.Clients = in.clients()
	}
	if in.split.has("algorithm") {
		c.Algorithms = in.algorithms(model)
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

// algorithms reads the list of those; "all" is all that the model has.
func (in *invocation) algorithms(m simulate.Model) []simulate.Algorithm {
	const all = "all"
	words := append([]simulate.Algorithm{all}, simulate.ModelOCC.Algorithms()...) // none is refused in better words, if it must be
	list := listed(in.values, "algorithm", words)
	for _, a := range list {
		if a == all {
			return m.Algorithms()
		}
	}
	return list
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
