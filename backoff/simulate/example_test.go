package simulate_test

import (
	"context"
	"fmt"

	"github.com/pollcli/poll/backoff/simulate"
)

// How much work do 100 clients make for a service that takes one at a time, and
// which jitter has them done first?
func ExampleRun() {
	c := simulate.Defaults(simulate.ModelQueue)
	c.Clients = []int{100}
	c.Algorithms = []simulate.Algorithm{simulate.Full, simulate.Equal, simulate.Decorrelated}
	results, err := simulate.Run(context.Background(), c)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range results {
		fmt.Printf("%-12s about %.0f s, %.0f00 retries\n", r.Algorithm, r.Time/1000, r.Retries/100)
	}
	// Output:
	// full         about 5 s, 700 retries
	// equal        about 6 s, 700 retries
	// decorrelated about 3 s, 700 retries
}
