// Package simulate shows what a way of waiting does to a service that many
// clients contend for. It runs them in virtual time, so a wait of an hour costs
// no more than one of a millisecond.
//
// Two models are known from the literature. In [ModelQueue] a service takes one
// client at a time and the others come back later. In [ModelOCC] clients write to
// one row under optimistic concurrency, over a network. Both ask how long it
// takes until all are done, and how much work that makes for the service. They
// say nothing about how soon one poller sees that an operation is done.
package simulate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
)

// A Model is a service that clients contend for.
type Model string

// The models.
const (
	// ModelQueue is a service that serves one client at a time, in Service.
	// A client that finds it busy waits and tries again; asking takes no time.
	// All clients start together.
	ModelQueue Model = "queue"
	// ModelOCC is a row in a store. Each client reads its version and then
	// writes, which succeeds if no other write came between; if one did, the
	// client waits and starts over. Each of the four messages takes |N(10, 2)|
	// ms; the store takes no time. The model and its numbers are those of
	// aws-samples/aws-arch-backoff-simulator.
	ModelOCC Model = "occ"
)

// Models returns every model.
func Models() []Model { return []Model{ModelQueue, ModelOCC} }

// Algorithms returns the algorithms that the model has. A queue whose clients do
// not wait would never see time pass, so it has no None.
func (m Model) Algorithms() []Algorithm {
	if m == ModelQueue {
		return []Algorithm{Exponential, Full, Equal, Decorrelated}
	}
	return []Algorithm{None, Exponential, Full, Equal, Decorrelated}
}

// An Algorithm is a rule for the wait of a client that was turned away for the
// n-th time, with v = min(MaxWait, Base * 2^n) and n counted from 0 in ModelQueue
// and from 1 in ModelOCC.
type Algorithm string

// The algorithms.
const (
	None         Algorithm = "none"         // no wait
	Exponential  Algorithm = "exponential"  // v
	Full         Algorithm = "full"         // U(0, v)
	Equal        Algorithm = "equal"        // v/2 + U(0, v/2)
	Decorrelated Algorithm = "decorrelated" // min(MaxWait, U(Base, 3 * previous)), at first previous = Base
)

// Config says what to simulate. Start from [Defaults].
type Config struct {
	// Model is the service.
	Model Model
	// Algorithms are the ways of waiting to compare, of those the model has.
	Algorithms []Algorithm
	// Clients are the numbers of clients to simulate, each at least 1.
	Clients []int
	// Trials is how often each pair of clients and algorithm is simulated, at
	// least 1.
	Trials int
	// Base is the base of the algorithms, above 0.
	Base time.Duration
	// MaxWait is the longest wait. 0 means no bound.
	MaxWait time.Duration
	// ServiceMin and ServiceMax bound the time, evenly spread, that ModelQueue
	// takes for one client. ModelOCC has no use for them.
	ServiceMin, ServiceMax time.Duration
	// Seed makes a simulation repeatable. A result depends on the seed, the
	// algorithm, the number of clients and the trials, and neither on the
	// number of processors nor on what else is simulated.
	Seed uint64
	// Workers is how many trials run at a time. 0 means one for each processor.
	Workers int
	// Progress, if not nil, is called now and then with the number of trials
	// done and of all, from one goroutine at a time.
	Progress func(done, total int)
}

// Defaults returns the published numbers of the model: for ModelQueue a base of
// 10 ms without bound and a service of 8 to 12 ms; for ModelOCC a base of 5 ms
// bounded by 2 s. All algorithms, 10 to 190 clients by 10, 100 trials.
func Defaults(m Model) Config {
	c := Config{Model: m, Algorithms: m.Algorithms(), Trials: 100}
	for n := 10; n <= 190; n += 10 {
		c.Clients = append(c.Clients, n)
	}
	if m == ModelOCC {
		c.Base, c.MaxWait = 5*time.Millisecond, 2*time.Second
	} else {
		c.Base = 10 * time.Millisecond
		c.ServiceMin, c.ServiceMax = 8*time.Millisecond, 12*time.Millisecond
	}
	return c
}

// Validate returns nil if c can be simulated, else a [backoff.ParameterError]
// about the model, algorithm, clients, trials, base, max-wait or service.
func (c Config) Validate() error {
	if !slices.Contains(Models(), c.Model) {
		return unknown("model", c.Model, Models())
	}
	if err := c.validateAlgorithms(); err != nil {
		return err
	}
	if err := c.validateClients(); err != nil {
		return err
	}
	switch {
	case c.Base <= 0:
		return problem("base", "%v is not above 0", c.Base)
	case c.MaxWait < 0:
		return problem("max-wait", "%v is negative", c.MaxWait)
	case c.ServiceMin < 0:
		return problem("service", "%v is negative", c.ServiceMin)
	case c.ServiceMax < c.ServiceMin:
		return problem("service", "%v to %v ends before it begins", c.ServiceMin, c.ServiceMax)
	}
	return nil
}

func (c Config) validateAlgorithms() error {
	if len(c.Algorithms) == 0 {
		return problem("algorithm", "none given, there are %s", list(c.Model.Algorithms()))
	}
	for _, a := range c.Algorithms {
		if a == None && c.Model == ModelQueue {
			return problem("algorithm", "clients of a queue that do not wait would ask for ever; there are %s", list(c.Model.Algorithms()))
		}
		if !slices.Contains(c.Model.Algorithms(), a) {
			return unknown("algorithm", a, c.Model.Algorithms())
		}
	}
	return nil
}

// Bounds that keep a slip of the finger from filling the memory.
const (
	maxClients = 1_000_000
	maxRuns    = 10_000_000
)

func (c Config) validateClients() error {
	if len(c.Clients) == 0 {
		return problem("clients", "no number given")
	}
	for _, n := range c.Clients {
		if n < 1 || n > maxClients {
			return problem("clients", "%d is not from 1 to %d", n, maxClients)
		}
	}
	if c.Trials < 1 {
		return problem("trials", "%d is below 1", c.Trials)
	}
	if c.Trials > maxRuns/c.cells() {
		return problem("trials", "%d of each are more than %d in all", c.Trials, maxRuns)
	}
	return nil
}

func unknown[T ~string](parameter string, name T, names []T) error {
	return problem(parameter, "%q is none of %s", string(name), list(names))
}

func problem(parameter, format string, args ...any) error {
	return &backoff.ParameterError{Parameter: parameter, Problem: fmt.Sprintf(format, args...)}
}

func list[T ~string](names []T) string {
	words := make([]string, len(names))
	for i, n := range names {
		words[i] = string(n)
	}
	return strings.Join(words, ", ")
}
