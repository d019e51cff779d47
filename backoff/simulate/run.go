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

// A Result is the summary of all trials of one algorithm with one number of clients. Times are in milliseconds,
// because they may exceed the range of a [time.Duration].
//
// A trial is stopped, and its time is +Inf, in two cases. All remaining clients wait for longer than the longest
// Duration, which is 292 years. Or the virtual time passes 31,000 years.
type Result struct {
	Algorithm string // the name of the algorithm
	// Clients is the number of clients. Trials is the number of trials.
	Clients, Trials int
	// Time is the mean time until all clients were done. TimeP95 is the time that 95% of the trials did not
	// exceed. Each value is +Inf if it includes a trial that was stopped.
	Time, TimeP95 float64
	// Calls is the mean number of requests that the service received. In ModelOCC only writes count. TurnedAway
	// is the mean number of requests in vain, which are all requests of a client except its last. A stopped
	// trial counts with its requests up to that moment.
	Calls, TurnedAway float64
}

// horizon is the virtual time, in milliseconds, that ends a trial.
const horizon = 1e15

// Run simulates c. It returns a result for each number of clients and each algorithm, in that order. If c cannot
// be simulated, the error starts with the parameter: "model", "algorithm", "clients", "trials" or "service". If
// ctx is done first, the error wraps the cause of ctx.
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

// cells returns the number of pairs of a number of clients and an algorithm.
func (c Config) cells() int { return len(c.Clients) * len(c.Algorithms) }

// cell returns the algorithm and the number of clients of pair i.
func (c Config) cell(i int) (Algorithm, int) {
	return c.Algorithms[i%len(c.Algorithms)], c.Clients[i/len(c.Algorithms)]
}

// runTrials runs all trials of all cells, and returns their outcomes in that order. Several workers run trials
// at once. The number of clients limits the number of workers, so that memory does not run out.
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

// summarize returns the result of a cell with the given outcomes, without its algorithm and its clients.
// outcomes must not be empty.
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
