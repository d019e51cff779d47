// Command bench-learn measures what learning from past runs is worth on traces of
// real runs, by walking forward: the first k runs of a key teach when to poll run
// k+1. A trace is a CSV file with a heading and the columns key, start_or_seq and
// duration_s, one line per run in order of start.
//
//	go run ./scripts/bench-learn FILE...
//
// Costs are polls and delay together, in percent of the median run of each key, as
// means over the keys with at least 30 runs. A learner knows of a run once its wait has
// ended; where the column counts instead of telling the time, no two runs of a key overlap.
// "told" is told in seconds what a poll costs, "exact" how long runs took, too; "defaults" is the
// command line with --poll-cost only: its cost is a share of the runs that it has seen.
package main

import (
	"fmt"
	"io"
	"os"
)

// shares are the costs of a poll, as shares of the median.
var shares = []float64{0.01, 0.05}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: bench-learn FILE...")
		os.Exit(2)
	}
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench-learn:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, paths []string) error {
	var traces []trace
	for _, path := range paths {
		t, err := openTrace(path)
		if err != nil {
			return err
		}
		traces = append(traces, t)
	}
	fmt.Fprintln(w, "| trace | keys | poll | aws | f1.1 | best fixed | exact | told | defaults | optimum | polls | delay |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|---|---|")
	for _, share := range shares {
		var mean result
		keys := 0
		for _, t := range traces {
			r, err := evaluate(t, share)
			if err != nil {
				return err
			}
			printRow(w, t.name, len(t.keys), share, r)
			mean = mean.plus(r, 1/float64(len(traces)))
			keys += len(t.keys)
		}
		if len(traces) > 1 {
			printRow(w, "mean of traces", keys, share, mean)
		}
	}
	return nil
}

func printRow(w io.Writer, name string, keys int, share float64, r result) {
	fmt.Fprintf(w, "| %s | %d | %g%% | %.1f | %.1f | %.1f | %.2f | %.2f | **%.2f** | %.1f | %.2f | %.2f |\n",
		name, keys, 100*share, r.aws, r.geometric, r.fixed, r.exact, r.told, r.defaults, r.optimum, r.polls, r.delay)
}
