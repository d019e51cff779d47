// Package simulate shows how a schedule affects a service that many clients compete for. It runs in virtual time:
// to simulate a wait of an hour takes no longer than to simulate a wait of a millisecond.
//
// There are two models, both of which were published. In [ModelQueue], a service handles one client at a time, and
// the other clients have to come back later. In [ModelOCC], clients write to the same row under optimistic
// concurrency control, over a network. For each schedule, [Run] returns how long it takes until all clients are
// done, and how many requests the service receives:
//
//	results, err := simulate.Run(ctx, simulate.Defaults(simulate.ModelOCC))
//
// The package does not show how soon a client notices the end of an operation. That depends on the waits of its
// schedule, which [backoff.Waits] returns.
package simulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pollcli/poll/backoff"
)

// A Model is the name of a simulated service that clients compete for.
type Model string

// The models.
const (
	// ModelQueue is a service that handles one client at a time. A client that finds the service busy waits, and
	// then sends another request. Requests take no time. All clients start at the same moment.
	ModelQueue Model = "queue"
	// ModelOCC is a row in a store. Each client reads the version of the row, and then writes to the row. The
	// write succeeds unless another client has written since the read. Otherwise, the client waits and then starts
	// over with a read. Each of the four messages takes |N(10, 2)| ms, the absolute value of a normal random
	// variable. The store takes no time. The model and its numbers come from
	// github.com/aws-samples/aws-arch-backoff-simulator.
	ModelOCC Model = "occ"
)

// Published returns the base and the longest wait from the publication of the model. They are 10 ms and -1 (no
// limit) for ModelQueue, and 5 ms and 2 s for ModelOCC.
func (m Model) Published() (base, maxWait time.Duration) {
	if m == ModelOCC {
		return 5 * time.Millisecond, 2 * time.Second
	}
	return 10 * time.Millisecond, -1
}

// Algorithms returns the published algorithms of the model, with the given base and longest wait. A value of 0
// means the published value. A negative maxWait means no limit.
//
// The algorithms are "exponential", "full", "equal" and "decorrelated". ModelOCC also has "none", which does not
// wait. ModelQueue lacks "none", because clients that do not wait would send requests forever while no time
// passes.
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

// An Algorithm is a named schedule for clients that were turned away. As published, the first wait of a client is
// the wait at step 0 in ModelQueue, and the wait at step 1 in ModelOCC.
type Algorithm struct {
	// Name identifies the algorithm in the results. It also affects the seed of the random numbers.
	Name string
	// Schedule computes the waits. Nil means backoff.Exponential{}.
	Schedule backoff.Schedule
}

// A Config describes a simulation. [Defaults] returns a Config to start from.
type Config struct {
	// Model is the model of the service.
	Model Model
	// Algorithms are the algorithms to compare. There must be at least one.
	Algorithms []Algorithm
	// Clients are the numbers of clients to simulate, each from 1 to 1,000,000. There must be at least one number.
	Clients []int
	// Trials is the number of trials for each combination of a number of clients with an algorithm. It must be at
	// least 1. The total number of trials must not exceed 10 million.
	Trials int
	// ServiceMin and ServiceMax are the limits of the time that the service in ModelQueue needs for a client. The
	// time is drawn evenly between these limits. ModelOCC ignores both fields.
	ServiceMin, ServiceMax time.Duration
	// Seed makes a simulation repeatable. A result depends on the seed, the algorithm and its name, the number of
	// clients and the number of trials. It does not depend on the number of processors, or on other results of the
	// same simulation.
	Seed uint64
}

// Defaults returns the published configuration of m: its algorithms with 10 to 190 clients in steps of 10, and 100
// trials for each combination. In ModelQueue, the service needs 8 to 12 ms for a client.
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

// The limits of a simulation. They prevent a mistyped number from using up all memory.
const (
	maxClients = 1_000_000
	maxTrials  = 10_000_000
	maxAtOnce  = 4 * maxClients // the total number of clients in trials that run at the same time
)

// validate returns an error in the form that [Run] describes if c is invalid.
func (c Config) validate() error {
	invalid := slices.IndexFunc(c.Clients, func(n int) bool { return n < 1 || n > maxClients })
	switch {
	case c.Model != ModelQueue && c.Model != ModelOCC:
		return fmt.Errorf("model: %q is neither queue nor occ", string(c.Model))
	case len(c.Algorithms) == 0:
		return fmt.Errorf("algorithm: none given; choose from %s", c.Model.published())
	case c.Model == ModelQueue && slices.ContainsFunc(c.Algorithms, Algorithm.neverWaits):
		return fmt.Errorf("algorithm: clients of model queue that do not wait would never end; choose from %s",
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

// A Result summarizes all trials of one algorithm with one number of clients. Times are in milliseconds, because
// they may exceed the range of a [time.Duration].
//
// A trial is stopped, and its time is +Inf, in two cases: every remaining client is waiting for more than 292
// years, the longest Duration, or the virtual time exceeds 31,000 years.
type Result struct {
	Algorithm string // the name of the algorithm
	// Clients is the number of clients in each trial, and Trials is the number of trials.
	Clients, Trials int
	// Time is the mean time until all clients were done. TimeP95 is the 95th percentile: 95% of the trials took no
	// longer. Either value is +Inf if it includes a trial that was stopped.
	Time, TimeP95 float64
	// Calls is the mean number of requests that the service received in a trial. In ModelOCC, only writes count as
	// requests. TurnedAway is the mean number of requests that were in vain, which are all requests of a client
	// except its last. For a trial that was stopped, the requests before the stop count.
	Calls, TurnedAway float64
}

// horizon is the virtual time, in milliseconds, after which a trial is stopped.
const horizon = 1e15

// Run simulates c. It returns a result for each number of clients and, within that, for each algorithm, in the
// order of c.Clients and c.Algorithms. If c is invalid, the error starts with the parameter that is wrong:
// "model", "algorithm", "clients", "trials" or "service". If ctx is done before the simulation ends, the error
// wraps the cause of ctx.
func Run(ctx context.Context, c Config) ([]Result, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	outcomes, err := c.runTrials(ctx)
	if err != nil {
		return nil, err
	}
	results := make([]Result, c.cells())
	for i := range results {
		algorithm, clients := c.cell(i)
		results[i] = summarize(outcomes[i*c.Trials : (i+1)*c.Trials])
		results[i].Algorithm, results[i].Clients = algorithm.Name, clients
	}
	return results, nil
}

// cells returns the number of cells. A cell is a combination of a number of clients with an algorithm, and has one
// result.
func (c Config) cells() int { return len(c.Clients) * len(c.Algorithms) }

// cell returns the algorithm and the number of clients of cell i.
func (c Config) cell(i int) (Algorithm, int) {
	return c.Algorithms[i%len(c.Algorithms)], c.Clients[i/len(c.Algorithms)]
}

// runTrials runs all trials of all cells, and returns their outcomes: the trials of the first cell, then those of
// the second cell, and so on. Several workers run trials concurrently. A large number of clients reduces the
// number of workers, so that memory does not run out.
func (c Config) runTrials(ctx context.Context) ([]outcome, error) {
	outcomes := make([]outcome, c.cells()*c.Trials)
	var next atomic.Int64
	var workers sync.WaitGroup
	atOnce := maxAtOnce / slices.Max(c.Clients)
	for range min(atOnce, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			w := newWorker(ctx, c)
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(outcomes) {
					return
				}
				algorithm, clients := c.cell(i / c.Trials)
				outcomes[i] = w.run(algorithm, clients, i%c.Trials)
			}
		})
	}
	workers.Wait()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("simulate: %w", context.Cause(ctx))
	}
	return outcomes, nil
}

// summarize returns the result of a cell from the outcomes of its trials. It does not set the fields Algorithm and
// Clients. outcomes must not be empty.
func summarize(outcomes []outcome) Result {
	r := Result{Trials: len(outcomes)}
	times := make([]float64, len(outcomes))
	n := float64(len(outcomes))
	for i, o := range outcomes {
		times[i] = o.time
		r.Time += o.time / n
		r.Calls += float64(o.calls) / n
		r.TurnedAway += float64(o.turnedAway) / n
	}
	slices.Sort(times)
	r.TimeP95 = times[int(math.Ceil(0.95*n))-1]
	return r
}
