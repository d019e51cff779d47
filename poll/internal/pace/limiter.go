// Package pace spaces requests to one place, so that all who ask there stay within what it
// allows. What is known of a place is a small [Record], and whatever happens there is a step
// from one record to the next. The steps take the time as an argument and keep nothing
// elsewhere: one limiter has its records in memory, another shares them with other processes.
package pace

import "time"

// A Limiter says when requests may go to a place, so that all that ask there stay within what
// it allows: the targets of one process, and other processes if the Limiter shares what it
// knows with them. A Limiter may be used from several goroutines. No call fails.
type Limiter interface {
	// Next returns when the next request may go to a place: now, or later. had is the time that
	// Next returned for this same request before, zero for none: if that still holds, Next
	// returns it, and otherwise another. closed says in words why nothing may go until then, if
	// the place has asked for that ("HTTP 429, Retry-After"); "" means that it is only the turn
	// of others.
	Next(place string, had time.Time) (at time.Time, closed string)
	// Done tells what came of a request.
	Done(place string, r Result)
}

// A Result is what came of a request, as far as it matters to a [Limiter].
type Result struct {
	Sent      time.Time     // when it was sent: a refusal of a request from before the last cut cuts nothing
	Refused   bool          // for load
	Wait      time.Duration // that the refusal asked for, 0 = none
	Reason    string        // what asked for Wait or Reset, in words
	Remaining int           // requests that are allowed until Reset has passed; counts only if Reset > 0
	Reset     time.Duration
}
