// Package simulate shows how a schedule affects a service that many clients contend for. It runs in virtual
// time: a wait of an hour takes no longer to simulate than a wait of a millisecond.
//
// There are two published models. In [ModelQueue] a service takes one client at a time, and other clients come
// back later. In [ModelOCC] clients write to one row under optimistic concurrency, over a network. For each
// schedule, [Run] returns how long it takes until all clients are done, and how many requests the service
// receives:
//
//	results, err := simulate.Run(ctx, simulate.Defaults(simulate.ModelOCC))
//
// How soon a client notices the end of an operation is a different question. The waits of its schedule answer
// that question: see [backoff.Waits].
package simulate

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
)

// A Model is a service that clients contend for.
type Model string

// The models.
const (
	// ModelQueue is a service that serves one client at a time. A client that finds the service busy waits and
	// then sends another request. Requests take no time. All clients start at the same moment.
	ModelQueue Model = "queue"
	// ModelOCC is a row in a store. Each client reads the version of the row and then writes to the row. The
	// write succeeds unless another client has written since the read. Otherwise the client waits and starts
	// over. Each of the four messages takes |N(10, 2)| ms, and the store takes no time. The model and its
	// numbers come from github.com/aws-samples/aws-arch-backoff-simulator.
	ModelOCC Model = "occ"
)

// Published returns the published base and longest wait of the model. They are 10 ms and -1, which means no
// limit, for ModelQueue. They are 5 ms and 2 s for ModelOCC.
func (m Model) Published() (base, maxWait time.Duration) {
	if m == ModelOCC {
		return 5 * time.Millisecond, 2 * time.Second
	}
	return 10 * time.Millisecond, -1
}

// Algorithms returns the published algorithms of the model, with the given base and longest wait. A value of 0
// means the published value. A negative maxWait means no limit. The algorithms are called "exponential", "full",
// "equal" and "decorrelated". ModelOCC also has "none", which does not wait. Clients of ModelQueue that do not
// wait would send requests for ever.
func (m Model) Algorithms(base, maxWait time.Duration) []Algorithm {
	publishedBase, publishedMax := m.Published()
	base, maxWait = cmp.Or(base, publishedBase), cmp.Or(maxWait, publishedMax)
	exponential := backoff.Cap(backoff.Exponential{Base: base}, maxWait)
	algorithms := []Algorithm{
		{Name: "none", Schedule: backoff.Fixed(0)},
		{Name: "exponential", Schedule: exponential},
		{Name: "full", Schedule: backoff.Full(exponential)},
		{Name: "equal", Schedule: backoff.Equal(exponential)},
		{Name: "decorrelated", Schedule: backoff.Cap(backoff.Decorrelated{Base: base}, maxWait)},
	}
	if m == ModelOCC {
		return algorithms
	}
	return algorithms[1:]
}

// An Algorithm is a named schedule for clients that were turned away. As published, the first wait of a client
// has step 0 in ModelQueue and step 1 in ModelOCC.
type Algorithm struct {
	// Name identifies the algorithm in the results, and is part of the seed of
	// its random numbers.
	Name string
	// Schedule returns the waits. nil means backoff.Exponential{}.
	Schedule backoff.Schedule
}

// Config describes a simulation. Start from [Defaults].
type Config struct {
	// Model is the service.
	Model Model
	// Algorithms are the algorithms to compare. The list must not be empty.
	Algorithms []Algorithm
	// Clients are the numbers of clients to simulate, each from 1 to a million. The list must not be empty.
	Clients []int
	// Trials is the number of trials for each pair of a number of clients and an algorithm. It is at least 1.
	// There are at most 10 million trials in all.
	Trials int
	// ServiceMin and ServiceMax are the limits of the time that ModelQueue serves a client. The time is drawn
	// evenly. ModelOCC ignores these fields.
	ServiceMin, ServiceMax time.Duration
	// Seed makes a simulation repeatable. A result depends on the seed, the algorithm and its name, the number
	// of clients and the number of trials. It depends neither on the number of processors nor on other results
	// of the same simulation.
	Seed uint64
}

// Defaults returns the published configuration of m: its algorithms for 10 to 190 clients in steps of 10, with
// 100 trials each. ModelQueue serves a client in 8 to 12 ms.
func Defaults(m Model) Config {
	c := Config{Model: m, Algorithms: m.Algorithms(0, 0), Trials: 100}
	if m == ModelQueue {
		c.ServiceMin, c.ServiceMax = 8*time.Millisecond, 12*time.Millisecond
	}
	for n := 10; n <= 190; n += 10 {
		c.Clients = append(c.Clients, n)
	}
	return c
}

// The limits of a simulation. They keep typing errors from using up the memory.
const (
	maxClients = 1_000_000
	maxTrials  = 10_000_000
	maxAtOnce  = 4 * maxClients // clients of all trials that run at once
)

// validate returns an error, as described at [Run], if c cannot be simulated.
func (c Config) validate() error {
	invalid := slices.IndexFunc(c.Clients, func(n int) bool { return n < 1 || n > maxClients })
	switch {
	case c.Model != ModelQueue && c.Model != ModelOCC:
		return fmt.Errorf("model: %q is neither queue nor occ", string(c.Model))
	case len(c.Algorithms) == 0:
		return fmt.Errorf("algorithm: none given; choose from %s", c.Model.published())
	case c.Model == ModelQueue && slices.ContainsFunc(c.Algorithms, Algorithm.neverWaits):
		return fmt.Errorf("algorithm: clients of model queue that do not wait would ask for ever; choose from %s",
			c.Model.published())
	case len(c.Clients) == 0:
		return errors.New("clients: no number given")
	case invalid >= 0:
		return fmt.Errorf("clients: %d is not from 1 to %d", c.Clients[invalid], maxClients)
	case c.Trials < 1:
		return fmt.Errorf("trials: %d is below 1", c.Trials)
	case c.Trials > maxTrials/c.cells():
		return fmt.Errorf("trials: %d of each are more than %d in all", c.Trials, maxTrials)
	case c.ServiceMin < 0:
		return fmt.Errorf("service: %v is negative", c.ServiceMin)
	case c.ServiceMax < c.ServiceMin:
		return fmt.Errorf("service: %v to %v ends before it begins", c.ServiceMin, c.ServiceMax)
	}
	return nil
}

// published returns the names of the published algorithms, separated by commas.
func (m Model) published() string {
	var names []string
	for _, a := range m.Algorithms(0, 0) {
		names = append(names, a.Name)
	}
	return strings.Join(names, ", ")
}

// neverWaits reports whether the first ten waits of a are all zero.
func (a Algorithm) neverWaits() bool {
	n := 0
	for wait := range backoff.Waits(a.Schedule, rand.New(rand.NewPCG(0, 0))) {
		if n++; wait > 0 || n == 10 {
			return wait == 0
		}
	}
	return true
}
