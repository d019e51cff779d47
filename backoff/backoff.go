// Package backoff computes how long to wait before each attempt.
//
// A [Schedule] is a pure function: it keeps no state, so it can be tabulated,
// resumed at any age, shared by goroutines and tested as a table of numbers.
package backoff

import (
	"math/rand/v2"
	"time"
)

// A Step is what is known when a wait is asked for.
type Step struct {
	// N counts the waits that came before, so it is 0 before the first attempt.
	N int
	// Elapsed is the time since the start of the run.
	Elapsed time.Duration
	// Previous is the wait before this one, 0 if there was none.
	Previous time.Duration
}

// A Schedule is a rule for the wait before each attempt.
type Schedule interface {
	// Wait returns the wait at step s, never negative. A schedule without
	// chance in it does not touch r, which may then be nil.
	Wait(s Step, r *rand.Rand) time.Duration
}
