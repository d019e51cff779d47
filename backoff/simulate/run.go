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

// A Result is what the trials of one algorithm with one number of clients came
// to. Times are in milliseconds, since they go far beyond what a time.Duration
// holds.
type Result struct {
	Model     Model
	Algorithm Algorithm
	Clients   int
	Trials    int
	// Time is the mean time until all clients were done, and TimeP95 the time
	// that 95% of the trials do not exceed. +Inf if it is, or includes, a trial
	// that was stopped because it went on for longer than [Horizon].
	Time, TimeP95 float64
	// Calls is the mean number of requests that the service received, writes
	// only in ModelOCC. Retries are those beyond the first of each client. Of a
	// trial that was stopped they count what there was until then.
	Calls, Retries float64
}

// Horizon is the virtual time in milliseconds, more than 31,000 years, at which
// a trial is stopped.
const Horizon = 1e15

// Run simulates what c describes and returns a result for each number of
// clients and each algorithm, in that order. It fails if c is not valid, or with
// the cause of ctx if that ends first.
func Run(ctx context.Context, c Config) ([]Result, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	outcomes, err := c.runTrials(ctx)
	if err != nil {
		return nil, err
	}
	results := make([]Result, c.cells())
	for i := range results {
		algorithm, clients := c.cell(i)
		r := summarize(clients, outcomes[i*c.Trials:(i+1)*c.Trials])
		r.Model, r.Algorithm = c.Model, algorithm
		results[i] = r
	}
	return results, nil
}

// cells returns the number of pairs of clients and algorithm.
func (c Config) cells() int { return len(c.Clients) * len(c.Algorithms) }

func (c Config) cell(i int) (Algorithm, int) {
	return c.Algorithms[i%len(c.Algorithms)], c.Clients[i/len(c.Algorithms)]
}

// runTrials runs every trial of every cell. Its outcomes are sorted by cell and
// trial, whoever ran them.
func (c Config) runTrials(ctx context.Context) ([]outcome, error) {
	outcomes := make([]outcome, c.cells()*c.Trials)
	progress := newProgress(c.Progress, len(outcomes))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range c.workers() {
		workers.Go(func() {
			w := newWorker(ctx, c)
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(outcomes) {
					return
				}
				algorithm, clients := c.cell(i / c.Trials)
				outcomes[i] = w.run(algorithm, clients, i%c.Trials)
				progress.step()
			}
		})
	}
	workers.Wait()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("simulate: %w", context.Cause(ctx))
	}
	return outcomes, nil
}

func (c Config) workers() int {
	if c.Workers > 0 {
		return c.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// summarize takes the outcomes of all trials with so many clients together.
func summarize(clients int, outcomes []outcome) Result {
	r := Result{Clients: clients, Trials: len(outcomes)}
	times := make([]float64, len(outcomes))
	n := float64(len(outcomes))
	for i, o := range outcomes {
		times[i] = o.time
		r.Time += o.time / n
		r.Calls += float64(o.calls) / n
		r.Retries += float64(o.retries) / n
	}
	slices.Sort(times)
	r.TimeP95 = times[int(math.Ceil(0.95*n))-1]
	return r
}

// A progress reports about a hundred times how far the trials are.
type progress struct {
	mu     sync.Mutex
	report func(done, total int)
	done   int
	total  int
}

func newProgress(report func(done, total int), total int) *progress {
	return &progress{report: report, total: total}
}

func (p *progress) step() {
	if p.report == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	if p.done%max(1, p.total/100) == 0 || p.done == p.total {
		p.report(p.done, p.total)
	}
}
