package backoff_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pollcli/poll/backoff"
)

// BenchmarkWaits computes one wait of a long run.
func BenchmarkWaits(b *testing.B) {
	for _, schedule := range []backoff.Schedule{
		backoff.Exponential{}, backoff.Fixed(time.Second), backoff.Linear{}, backoff.Fibonacci{}, backoff.Polynomial{},
		backoff.Full{}, backoff.Decorrelated{},
	} {
		b.Run(fmt.Sprintf("%T", schedule), func(b *testing.B) {
			random := rand.New(rand.NewPCG(1, 2))
			n := 0
			for range backoff.Waits(schedule, random) {
				if n++; n >= b.N {
					return
				}
			}
		})
	}
}
