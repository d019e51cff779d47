package simulate_test

import (
	"context"
	"fmt"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/backoff/simulate"
)

// A hundred clients contend for a service that takes one at a time. Decorrelated
// jitter has them done first, and makes the most calls.
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

// A schedule of one's own is compared with a published one: slower growth is done
// sooner, for more calls.
func ExampleAlgorithm() {
	c := simulate.Defaults(simulate.ModelOCC)
	c.Clients = []int{50}
	c.Algorithms = []simulate.Algorithm{
		{Name: "factor 2", Schedule: backoff.Full{Of: backoff.Exponential{Base: 5 * time.Millisecond}}},
		{Name: "factor 1.5", Schedule: backoff.Full{Of: backoff.Exponential{Base: 5 * time.Millisecond, Factor: 1.5}}},
	}
	results, err := simulate.Run(context.Background(), c)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range results {
		fmt.Printf("%-10s about %.0f s, %.0f0 calls\n", r.Algorithm, r.Time/1000, r.Calls/10)
	}
	// Output:
	// factor 2   about 3 s, 330 calls
	// factor 1.5 about 2 s, 430 calls
}
