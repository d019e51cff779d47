package poll

import (
	"time"
)

// A Limiter says when requests may go to a place, so that all its clients stay within its
// limit: the targets of a [Group], and other processes if the Limiter is shared with them. It
// may be used from several goroutines.
//
// No call fails. A Limiter that has to ask elsewhere takes as long as that takes, within
// bounds of its own, and goes on alone where it gets no answer.
type Limiter interface {
	// Next returns when the next request may go to a place: now, or later. had is the time
	// that Next returned for this same request before, zero for none. Next returns had again if it is
	// still valid, and a later time if not. closed says in words why nothing may go until then,
	// if the place has asked for that; "" means that it is only the turn of others.
	Next(place string, had time.Time) (at time.Time, closed string)
	// Done reports the outcome of a request, if it was refused or its answer says what
	// remains.
	Done(place string, f Feedback)
}

// A Feedback is the outcome of a request, as a [Limiter] needs it.
type Feedback struct {
	Sent    time.Time     // when it was sent: one from before the last refusal says nothing new
	Refused bool          // for load
	Wait    time.Duration // that the answer asks for, 0 = none
	Reason  string        // what asks for it, in words
	// Remaining requests are allowed until Reset has passed, if Reset is not 0.
	Remaining int
	Reset     time.Duration
}
