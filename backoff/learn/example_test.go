package learn_test

import (
	"fmt"
	"time"

	"github.com/pollcli/poll/backoff/learn"
)

func ExampleFit() {
	// Three builds, each seen between two polls.
	past := []learn.Run{
		{Lo: 4 * time.Minute, Hi: 5 * time.Minute},
		{Lo: 5 * time.Minute, Hi: 5*time.Minute + 30*time.Second},
		{Lo: 4 * time.Minute, Hi: 4*time.Minute + 20*time.Second},
	}
	model, err := learn.Fit(past, learn.Options{Cost: learn.Cost{Share: 0.05}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("usually", model.Quantile(0.5).Round(time.Second))
	for poll := range model.Polls() {
		fmt.Printf("poll at %v sees the end with chance %.0f%%\n", poll.Age.Round(time.Second), 100*poll.Sees)
		if model.Done(poll.Age) > 0.9 {
			break
		}
	}
	// Output:
	// usually 4m36s
	// poll at 3m58s sees the end with chance 22%
	// poll at 4m45s sees the end with chance 34%
	// poll at 5m24s sees the end with chance 22%
	// poll at 6m2s sees the end with chance 11%
	// poll at 6m47s sees the end with chance 5%
}
