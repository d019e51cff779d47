package status

import (
	"net/http"
	"time"
)

// A Kind says what was probed.
type Kind uint8

// The kinds of probe.
const (
	Command Kind = iota + 1
	HTTP
	TCP
)

// An Observation is what one attempt saw: plain data, nothing decided yet.
type Observation struct {
	Kind Kind

	// Attempt counts from 1; Elapsed is the age of the run when the attempt
	// started. They are $attempt and $elapsed in an expression.
	Attempt int
	Elapsed time.Duration

	// Body is the answer: the response body, or the command's stdout.
	Body []byte
	// Size is the length of the whole answer in bytes. Where it is more than
	// len(Body), the answer was longer than the limit and Truncated is true.
	Size      int64
	Truncated bool

	// Exit is the exit code of a command that ended by itself, 128+n for one
	// that signal n ended. Nil for other probes, and when poll stopped it.
	Exit *int
	// Signal names the signal that ended the command by itself: "KILL".
	Signal string
	// Stderr is the end of the command's stderr (its last 64 KiB).
	Stderr []byte

	// Code and Header are the HTTP answer's. Nil for other probes, and when no
	// answer came.
	Code   *int
	Header http.Header

	// Failure says why there is no complete answer. Nil when there is one.
	Failure *Failure

	// Hint is the wait that the server asked for, nil if it asked for none.
	Hint *Hint
	// Exhausted is true when the answer's headers say that a rate limit is used up.
	Exhausted bool
	// ShouldRetry is what the server said of asking again at all
	// (Stripe-Should-Retry, X-Should-Retry), nil if it said nothing.
	ShouldRetry *bool

	// NotModified is true for a 304: everything above is then the answer that
	// it confirms.
	NotModified bool

	// Start is true for the answer to the request that started the operation.
	Start bool
	// Monitor says what kind of URL gave this answer.
	Monitor Monitor
	// Earlier is the last [Observation.Statement] of the answers before from where
	// the operation is followed, "" if none had any.
	Earlier string
	// Next is where the next attempt will look, as origin and path, when that is
	// another place than this answer came from; "" otherwise.
	Next string

	// NoLead says why there is no URL to follow in this answer, where it was to
	// hold one; "" otherwise. Unless it was to start the operation, the same request
	// is then to be made again.
	NoLead string
	// Untrusted is true where that is because the place that was named is of
	// another origin, or not behind https.
	Untrusted bool

	// Doubt says why a good answer may be none to what was asked, such as a page
	// that a redirect led to; "" for no doubt. A rule can decide nevertheless.
	Doubt string

	// Remarks are words for the curious: a header ignored as absurd, a URL
	// followed. They decide nothing.
	Remarks []string
}

// Good reports whether the attempt had a good answer: HTTP 2xx, exit code 0, or
// a connection made.
func (o *Observation) Good() bool {
	switch {
	case o.Failure != nil:
		return false
	case o.Code != nil:
		return *o.Code >= 200 && *o.Code <= 299
	case o.Exit != nil:
		return *o.Exit == 0
	}
	return o.Kind == TCP
}

// A Hint is a wait that the server asked for.
type Hint struct {
	Wait   time.Duration // never negative
	Source string        // what said so, e.g. "Retry-After"
}

// A Failure says why an attempt has no complete answer.
type Failure struct {
	Kind   FailureKind
	Reason string // in words, free of secrets: "connection refused"
	Err    error  // the cause, nil if the reason is all there is
}

// Error returns the reason.
func (f *Failure) Error() string { return f.Reason }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// A FailureKind says what a failure means for the attempts to come.
type FailureKind uint8

// The kinds of failure.
const (
	// Transient failures may pass: refused, reset, timed out, name not found,
	// could not be started. They are NOT_READY.
	Transient FailureKind = iota
	// Hopeless failures cannot pass: certificate not trusted, redirect loop.
	// They are ERROR whatever the rules say.
	Hopeless
	// NotFound and NotExecutable mean that the program cannot be run: ERROR,
	// and the run ends without that attempt having counted.
	NotFound
	NotExecutable
	// MayHaveStarted means that the answer to the request that starts the
	// operation was lost. It is ERROR: sending it again might start a second.
	MayHaveStarted
	// Busy means that a proxy refused to connect for load: THROTTLED, unless a
	// rule says otherwise.
	Busy
	// Stopped means that the attempt was ended from outside (deadline, signal)
	// before it had an answer. It decides nothing.
	Stopped
)

// A Monitor says what kind of URL is being polled.
type Monitor uint8

// The kinds of URL. The zero value is the one the user gave.
const (
	Given         Monitor = iota
	Location              // Location of a 201, 202 or 303: 202 while running, then the answer
	AzureLRO              // Azure-AsyncOperation or Operation-Location: a status document
	FollowedByURL         // built by --follow from the body of the start
	Result                // where the status of an operation that is done says its result is
)

// ofOperation reports whether the document of an operation can be there.
func (m Monitor) ofOperation() bool { return m == Location || m == AzureLRO || m == FollowedByURL }
