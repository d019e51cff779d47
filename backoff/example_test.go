package backoff_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/pollcli/poll/backoff"
)

// show prints the first n waits of s.
func show(s backoff.Schedule, r *rand.Rand, n int) {
	var waits []time.Duration
	for wait := range backoff.Waits(s, r) {
		if waits = append(waits, wait); len(waits) == n {
			break
		}
	}
	fmt.Println(waits)
}

func ExampleExponential() {
	show(backoff.Exponential{}, nil, 10)
	show(backoff.Exponential{Base: 2 * time.Second}, nil, 10)
	show(backoff.Exponential{Base: time.Second, Factor: 1.1}, nil, 4)
	// Output:
	// [100ms 200ms 400ms 800ms 1.6s 3.2s 6.4s 12.8s 25.6s 51.2s]
	// [2s 4s 8s 16s 32s 1m4s 2m8s 4m16s 8m32s 17m4s]
	// [1s 1.1s 1.21s 1.331s]
}

func ExamplePolynomial() {
	show(backoff.Polynomial{Base: time.Second}, nil, 5)
	// Output: [3s 18s 1m23s 4m18s 10m27s]
}

func ExampleCap() {
	show(backoff.Cap(backoff.Exponential{Base: 2 * time.Second}, 100*time.Second), nil, 8)
	// Output: [2s 4s 8s 16s 32s 1m4s 1m40s 1m40s]
}

// The documentation of an API may ask for a pace that changes with time.
func ExampleScheduleFunc() {
	pace := backoff.ScheduleFunc(func(s backoff.Step, _ *rand.Rand) time.Duration {
		if s.Elapsed < 10*time.Second {
			return 5 * time.Second
		}
		return 30*time.Second - time.Duration(s.N)*10*time.Second
	})
	show(pace, nil, 5)
	// Output: [5s 5s 10s 0s 0s]
}

// The same seed gives the same waits.
func ExampleFull() {
	full := backoff.Full(backoff.Cap(nil, 300*time.Millisecond))
	a := full.Wait(backoff.Step{N: 2}, rand.New(rand.NewPCG(1, 2)))
	b := full.Wait(backoff.Step{N: 2}, rand.New(rand.NewPCG(1, 2)))
	fmt.Println(a == b, a < 300*time.Millisecond)
	// Output: true true
}

func ExampleWaits() {
	var total time.Duration
	for wait := range backoff.Waits(backoff.Cap(nil, backoff.DefaultMaxWait), nil) {
		if total+wait > 5*time.Second {
			break
		}
		total += wait
		fmt.Println("attempt at", total)
	}
	// Output:
	// attempt at 100ms
	// attempt at 300ms
	// attempt at 700ms
	// attempt at 1.5s
	// attempt at 3.1s
}
