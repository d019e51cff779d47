package simulate

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

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
