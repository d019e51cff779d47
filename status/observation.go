package status

import (
	"net/http"
	"time"

	"github.com/pollcli/poll/status/expr"
)

// A Kind is the kind of a probe.
type Kind uint8

// The kinds of probe.
const (
	KindCustom  Kind = iota // a custom probe
	KindCommand             // a program
	KindHTTP                // a URL
	KindTCP                 // an address
)

// String returns the kind in words: "a URL".
func (k Kind) String() string {
	return map[Kind]string{KindHTTP: "a URL", KindCommand: "a command", KindTCP: "a TCP address", KindCustom: "this probe"}[k]
}

// An Observation is the response to one attempt, or the failure of the attempt. It is plain data.
//
// A custom probe sets Body, the document that the rules read, or Failure. It sets no Kind.
type Observation struct {
	Kind Kind

	// Attempt counts from 1; Elapsed is the age of the run when the attempt
	// started. The run sets both. An expression calls them $attempt and $elapsed.
	Attempt int
	Elapsed time.Duration
	// Unchanged is the time in whole milliseconds since the first of the last responses that are equal. The run sets
	// it, too; an expression calls it $unchanged.
	Unchanged time.Duration
	// Target is the name of the target, which the run sets, too. An expression calls it
	// $name.
	Target string

	// Body is the body of the response, or the command's stdout.
	Body []byte
	// Size is the length of the whole body in bytes, as far as the probe has read it. If Size is
	// more than len(Body), the body was longer than the limit and Truncated is true.
	Size      int64
	Truncated bool

	// Within is the document, or the page, with the list that has Body as an element. Nil means that
	// Body is the whole document. An expression calls Within $json, the text of Within $body, and Body
	// "."; Body is then the JSON that [expr.Each] returns.
	Within *expr.Doc
	// Exit is the exit code of a command that ended by itself, 128+n if signal n
	// ended it; nil if the run ended it, and for other probes.
	Exit *int
	// Signal names the signal that ended the command: "KILL".
	Signal string
	// Stderr is the end of the command's stderr, at most 64 KiB.
	Stderr []byte
	// Output is both outputs of the command in order of arrival, as far as a pipe for each output
	// shows the order. Nil means that nothing came on stderr: Body is the output then.
	Output []byte

	// Code and Header are the status code and the header of an HTTP response, nil without a response.
	Code   *int
	Header http.Header

	// Event is the name of a server-sent event, "" for anything else. An expression calls it $event.
	Event string

	// Failure is the reason why there is no complete response, nil for a complete response.
	Failure *Failure

	// Hint is the wait that the server asked for, nil if it asked for none.
	Hint *Hint
	// Quota is the rest of a rate limit by the header of the response, nil if the header has none.
	Quota *Quota

	// Remarks are details that decide nothing, such as an absurd header that the probe has
	// ignored or a URL that it has followed.
	Remarks []string

	// Protocol knows the meaning of the response; nil for a custom probe.
	Protocol Protocol

	// Pages are the further pages of a list. Body is the first page.
	Pages [][]byte
	// LeftOut is true if a function around the probe has left out the further pages.
	LeftOut bool
	// Page is the number, from 1, of the page that failed; 0 if no page failed. The whole response has then failed, and
	// the other fields are about that page.
	Page int
	// Complete is true if the last page has no elements and names itself as the next page.
	Complete bool
	// Presence tells whether the element is in the response. If it is not Present, there is no Body.
	Presence Presence

	// StderrCut is true if there was more on stderr.
	StderrCut bool
	// StdoutOpen is true if poll stopped a writer of stdout: the end of stdout is not known. StderrOpen is
	// the same for stderr.
	StdoutOpen, StderrOpen bool
	// OutputCut is true if Output is only the beginning of both outputs.
	OutputCut bool

	// Message is true for a message of a stream. Ended is true for the end of a stream:
	// a failure, or the exit code of a command with the last line as Body.
	Message, Ended bool
	// Part is true for a line of a document that was cut: as a text it counts, and as JSON it does not.
	Part bool

	// Doubt is the reason why a successful response may not be the requested document, such as a page after a
	// redirect; "" for no doubt. A rule can still decide.
	Doubt string

	// Start is true for the response to the request that starts the operation. Result is true for the result of
	// an operation whose status was in another document.
	Start, Result bool
	// Next is the origin and path of the next request, if the response led to another URL; "" otherwise.
	Next string
	// Advice is a remedy for a mistake in the request, for each verdict.
	Advice Advice

	// Accept are the codes of a successful response; nil means those of the protocol. [Rules.Classify] sets them.
	Accept []int
	// Matched are the rules for NOT_READY that matched an earlier response: true for a rule that
	// matched a successful response. The fields that another rule reads may exist in other
	// responses only. The run sets it.
	Matched map[string]bool
}

// A Presence tells whether an element is in a response.
type Presence uint8

// The presences.
const (
	Present         Presence = iota // it is, or the observation is not about an element
	Missing                         // it is not: no response has shown it, or not for long
	Gone                            // an earlier response has shown it, and two complete responses in a row do not; $gone is true
	UnknownPresence                 // the response holds no list, so no path from "." can be followed
)

// Gap returns the reason why the response is not whole, for an observation that is truncated.
func (o *Observation) Gap() string {
	if o.StdoutOpen {
		return "the end of the output is missing"
	}
	return "the answer is longer than the part of it that poll keeps"
}

// absence returns the reason for NOT_READY of an element that is not in the response, "" if the element is in the
// response, or if the observation is not about an element.
func (o *Observation) absence() string {
	if o.Within == nil || o.Failure != nil {
		return ""
	}
	return map[Presence]string{Gone: "it is no longer in the answer", Missing: "it is not in the answer"}[o.Presence]
}

// element returns the element as a document.
func (o *Observation) element() *expr.Doc {
	why := o.absence()
	if o.Presence == UnknownPresence {
		why = "the answer holds no list"
	}
	if why != "" {
		return expr.Unreadable(why)
	}
	return expr.NewDoc(o.Body)
}

// Good reports whether the response is successful, as its protocol or [Rules.Accept] has it: HTTP 2xx, exit code 0, a
// connection; or a custom probe without a failure. A response of no known protocol is not.
func (o *Observation) Good() bool {
	switch {
	case o.Failure != nil:
		return false
	case o.Protocol != nil:
		return o.Protocol.Succeeded(o)
	}
	return o.Kind == KindCustom && o.Code == nil && o.Exit == nil
}

// Stopped reports whether the attempt was ended from outside before it had an
// answer. Such an attempt decides nothing.
func (o *Observation) Stopped() bool {
	return o.Failure != nil && o.Failure.Kind == FailureStopped
}

// A Hint is a wait that the server asked for.
type Hint struct {
	Wait   time.Duration `json:"wait,omitempty"`   // never negative
	Source string        `json:"source,omitempty"` // what asked for it: "Retry-After"
}

// A Quota is what is left of a rate limit.
type Quota struct {
	Remaining int           // attempts; never negative
	Reset     time.Duration // until there are more; more than 0
}

// A Failure says why an attempt has no complete answer.
type Failure struct {
	Kind FailureKind
	// Class is what happened: "refused" (nothing listens at any address of the host, or there is no such
	// socket), "timeout" (a connection, an answer, or the end of a command took too long), "dns" (the
	// responses to all queries of the resolver report that there is no such host),
	// "tls" (a certificate that is not trusted, no TLS on that port), "reset" (the connection was closed
	// before the answer was complete); "" for anything else, which an expression calls "other". $error
	// is its name there.
	Class  string
	Reason string // in words, free of secrets: "connection refused"
	Err    error  // the cause, nil if the reason says it all
	Advice Advice // what can be done about it
}

// Error returns the reason.
func (f *Failure) Error() string { return f.Reason }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// A FailureKind says what a failure means for the attempts to come.
type FailureKind uint8

// The classes of failure, which an expression calls $error.
const (
	ClassRefused = "refused"
	ClassTimeout = "timeout" // or a lookup that failed
	ClassDNS     = "dns"
	ClassTLS     = "tls"
	ClassReset   = "reset"
)

// The kinds of failure.
const (
	// FailureTransient may pass: refused, reset, timed out, name not found, not
	// done yet. It is NOT_READY.
	FailureTransient FailureKind = iota
	// FailureThrottled means that the operation was asked about too often, or that a
	// proxy refused to connect because of load. It is THROTTLED unless a rule says
	// otherwise.
	FailureThrottled
	// FailureHopeless will not pass: certificate not trusted, redirect loop. It is ERROR
	// unless a rule that names $error says otherwise.
	FailureHopeless
	// FailureNotFound and FailureNotExecutable mean that the program cannot be
	// run. They are ERROR, and the run ends without counting that attempt.
	FailureNotFound
	FailureNotExecutable
	// FailureMayHaveStarted means that the answer to the request that starts the
	// operation was lost. It is ERROR: sending it again might start a second one.
	FailureMayHaveStarted
	// FailureStopped means that the attempt was ended from outside (deadline,
	// signal) before it had an answer. It decides nothing.
	FailureStopped
)
