package simulate_test

import (
	"context"
	"fmt"

	"github.com/pollcli/poll/backoff/simulate"
)

// A hundred clients contend for a service that takes one at a time. Decorrelated
// jitter has them done first, and makes the most calls, as published.
func ExampleRun() {
	c := simulate.Defaults(simulate.ModelQueue)
	c.Clients = []int{100}
	c.Algorithms = simulate.ModelQueue.Algorithms(0, 0)[1:] // not exponential
	results, err := simulate.Run(context.Background(), c)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range results {
		fmt.Printf("%-12s about %.0f s, %.0f0 calls\n", r.Algorithm, r.Time/1000, r.Calls/10)
	}
	// Output:
	// full         about 5 s, 770 calls
	// equal        about 6 s, 760 calls
	// decorrelated about 3 s, 790 calls
}
