// Package share has the protocol by which processes share the answers to equal questions.
package share

import "time"

// A Question is what one wait asks. Its methods are called one at a time, on
// any goroutine. None fails, and each takes a bounded time.
type Question interface {
	// Claim says who makes the attempt that is due.
	Claim(now time.Time) Turn
	// Answered shares the answer to the attempt that Claim gave to this process; nil if there
	// is none to share. It returns when the next attempt is due.
	Answered(answer []byte) (next time.Time)
	// Close is called once the wait is over, or asks something else.
	Close()
}

// A Turn says who makes an attempt.
type Turn struct {
	// Ask is true if this process makes the attempt, and calls Answered once it has. Alone is
	// true if it has to because nothing is shared for now.
	Ask, Alone bool
	// Answer is what another process was answered since the last Claim; nil if there is none.
	Answer []byte
	// Next is when the next attempt is due, with an Answer; without one and without Ask, when
	// to claim again: another process asks, or will.
	Next time.Time
}
