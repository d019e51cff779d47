package learn_test

import (
	"fmt"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/backoff/learn"
)

// Three builds, which each ended between two attempts, plan the attempts for a fourth build.
func ExampleFit() {
	past := []learn.Run{
		{Lo: 4 * time.Minute, Hi: 5 * time.Minute},
		{Lo: 5 * time.Minute, Hi: 5*time.Minute + 30*time.Second},
		{Lo: 4 * time.Minute, Hi: 4*time.Minute + 20*time.Second},
	}
	model, err := learn.Fit(past, learn.Options{CostShare: 0.05})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("usually", model.Quantile(0.5).Round(time.Second))
	var at time.Duration
	for wait := range backoff.Waits(model, nil) {
		if at += wait; at > 7*time.Minute {
			break
		}
		fmt.Printf("attempt at %v: done with chance %.0f%%\n", at.Round(time.Second), 100*model.Done(at))
	}
	// Output:
	// usually 4m32s
	// attempt at 4m33s: done with chance 50%
	// attempt at 5m20s: done with chance 77%
	// attempt at 5m54s: done with chance 87%
	// attempt at 6m34s: done with chance 92%
}
