// Package ask says how processes share an answer: package poll asks, and package fleet knows who
// makes the attempt.
package ask

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
	// Ask is true if this process makes the attempt, and calls Answered once it has. Unshared is
	// true if it has to because nothing is shared for now.
	Ask, Unshared bool
	// Answer is what another process was answered since the last Claim; nil if there is none.
	Answer []byte
	// Next is, with an Answer, when the next attempt is due. With neither Answer nor Ask it is
	// when to call Claim again: another process makes the attempt, or will.
	Next time.Time
}
