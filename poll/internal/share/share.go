// Package share says how processes that would ask the same thing share what was answered.
package share

import "time"

// Answers has processes that would ask the same thing share what was answered: whoever's time
// comes first asks, and the others judge that answer, each by their own rules. It may be used
// from several goroutines.
type Answers interface {
	// Question begins a wait. identity is all that makes the attempt, credentials too. Only
	// what was asked for after since counts. schedule returns the wait before attempt step+1;
	// u in [0,1) is its jitter: equal for all who share the question.
	Question(identity []byte, since time.Time, schedule func(step int, u float64) time.Duration) Question
}

// A Question is what one wait has of its [Answers]. Its methods are called one at a time, from
// any goroutine. None fails, and each takes a bounded time.
type Question interface {
	// Claim is called when an attempt is due.
	Claim(now time.Time) Turn
	// Answered shares the answer to the attempt that Claim gave to this process; nil if there
	// is none to share: the attempt was cut off, or failed. It returns when the next attempt is
	// due.
	Answered(answer []byte) (next time.Time)
	// Close ends the wait.
	Close()
}

// A Turn says who makes an attempt.
type Turn struct {
	Ask    bool      // this process makes it, and calls Answered afterwards
	Alone  bool      // it has to, because nothing is shared for now
	Answer []byte    // or: what another process was answered since the last Claim
	Next   time.Time // with Answer: when the next attempt is due; with neither: when to Claim again
}
