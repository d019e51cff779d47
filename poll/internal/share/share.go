// Package share has the protocol by which processes share the answers to equal questions.
package share

import "time"

// Answers has processes that would ask the same thing share what was answered. It may be used
// from several goroutines.
type Answers interface {
	// Question begins a wait for what a place answers. identity is all that makes the attempt,
	// credentials, too. Only what was asked for after since counts. schedule returns the wait after so many steps; u,
	// from 0 to 1, is its jitter: the same for all who share the question, so that they agree on
	// the time.
	Question(place string, identity []byte, since time.Time, schedule func(step int, u float64) time.Duration) Question
}

// A Question is what one wait has of the [Answers]. Its methods are called one at a time, on
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
