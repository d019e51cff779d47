package status

import (
	"cmp"
	"net/http"
	"time"

	"github.com/pollcli/poll/status/expr"
)

// A Kind is a kind of probe.
type Kind uint8

// The kinds of probe.
const (
	KindCustom  Kind = iota // a probe that is not part of package poll
	KindCommand             // a command
	KindHTTP                // an HTTP request
	KindTCP                 // a TCP connection
)

// String returns a description of the kind with an article, for messages: "a URL", "a command", "a TCP address" or
// "this probe".
func (k Kind) String() string {
	return map[Kind]string{KindHTTP: "a URL", KindCommand: "a command", KindTCP: "a TCP address", KindCustom: "this probe"}[k]
}

// An Observation is the response that one attempt received, or the reason why the attempt received no complete
// response. Its methods send no requests.
//
// A custom probe sets either Body, which is the document that rules read, or Failure. It leaves Kind at its zero
// value, [KindCustom].
type Observation struct {
	Kind Kind

	// Attempt is the number of the attempt, starting at 1. Elapsed is the time from the start of the run to the
	// start of the attempt. The run sets these fields. Expressions read them as $attempt and $elapsed.
	Attempt int
	Elapsed time.Duration
	// Unchanged is the time since the response last changed, in whole milliseconds. The run sets it. Expressions
	// read it as $unchanged.
	Unchanged time.Duration
	// Target is the name of the target, such as a URL or a name that the user chose. The run sets it. Expressions
	// read it as $name.
	Target string

	// Body is the body of the response, or the command's stdout.
	Body []byte
	// Size is the number of bytes of the body that the probe has read. If the body was longer than the probe's
	// limit, Truncated is true, and Size is more than len(Body).
	Size      int64
	Truncated bool

	// Within is set if Body is one element of a list: it is the document, or the page, that contains the list.
	// Body is then the JSON text of the element, as [expr.Each] returns it. Expressions read the element as ".",
	// the document as $json, and the document's text as $body. A nil Within means that Body is the whole document.
	Within *expr.Doc
	// Exit is the exit code of a command, or 128+n if signal n ended the command. It is nil if the run stopped the
	// command, and for every other kind of probe.
	Exit *int
	// Signal is the name of the signal that ended the command, without "SIG", such as "KILL". It is "" if no
	// signal ended the command.
	Signal string
	// Stderr is the end of the command's stderr, at most 64 KiB.
	Stderr []byte
	// Output is the command's stdout and stderr together, in order of arrival, as far as two pipes can preserve
	// that order. It is nil if stderr was empty: Body is then the whole output.
	Output []byte

	// Code is the status code of an HTTP response, and Header is its header. Without a response, both fields are
	// nil.
	Code   *int
	Header http.Header

	// Event is the name of a server-sent event, and "" for every other response. Expressions read it as $event.
	Event string

	// Failure explains why the response is missing or incomplete. It is nil if the response is complete.
	Failure *Failure

	// RetryAfter is the wait before the next attempt that the server requested. It is nil if the server requested
	// no wait.
	RetryAfter *RetryAfter
	// Quota is the remaining part of a rate limit, as the response header reports it. It is nil if the header
	// reports no rate limit.
	Quota *Quota

	// Hints are advice about the attempt for the user, such as notes about an invalid header that the probe
	// ignored, or about a URL that the probe followed.
	Hints []Hint

	// Protocol interprets the response. A run of package poll sets it unless the probe has set it. Without a
	// Protocol, no rule can make the observation SUCCESS. The function poll.Recorded sets it for observations that
	// were recorded or made by hand.
	Protocol Protocol

	// Pages are the bodies of the further pages of a list, in order. Body is the first page.
	Pages [][]byte
	// LeftOut is true if a wrapper of the probe returned fewer Pages than the probe read.
	LeftOut bool
	// Page is the number of the page that could not be read, where Body is page 1. It is 0 if every page was read.
	// If a page could not be read, the whole response counts as failed, and the other fields describe the response
	// for that page.
	Page int
	// Complete is true if the last page is an empty list that names itself as the next page, which shows that there
	// are no more elements.
	Complete bool
	// Presence states whether the response contains the element that the observation is about. If the element is
	// not [Present], Body is empty.
	Presence Presence

	// StderrCut is true if the command wrote more to stderr than Stderr contains.
	StderrCut bool
	// StdoutOpen is true if poll stopped a process that still had stdout open. The end of stdout is then unknown.
	// StderrOpen is the same for stderr.
	StdoutOpen, StderrOpen bool
	// OutputCut is true if Output contains only the beginning of the command's output.
	OutputCut bool

	// Message is true if the observation is one message of a stream, such as a line of a command or a server-sent
	// event. Ended is true if the observation is the end of a stream: either a failure, or the exit code of a
	// command, with its last line as Body.
	Message, Ended bool
	// Part is true if the observation is a line from a JSON document that was truncated. Rules may read the line
	// as text, but not as JSON.
	Part bool

	// Doubt explains why a successful response may not be the document that was requested, for example because of
	// a redirect to another page. It is "" if there is no such doubt. A rule may still decide about a doubtful
	// response.
	Doubt string

	// Start is true if this is the response to the request that started the operation. Result is true if this is
	// the result of an operation whose status was in another document.
	Start, Result bool
	// Next is the origin and the path of the next attempt's request, if the response named another URL to check.
	// Otherwise, it is "".
	Next string

	// Accept lists the status codes or exit codes of successful responses. Nil means the codes that the Protocol
	// regards as successful. [Rules.Classify] sets Accept.
	Accept []int
	// The keys of Matched are the rules for NOT_READY, in the form of [Rule.String], that matched an earlier response
	// in this run. The value is true if the rule matched a successful response. A rule that has matched only
	// unsuccessful responses need not find its fields in a successful response. The run sets Matched.
	Matched map[string]bool
}

// A Presence states whether a response contains the element that an observation is about.
type Presence uint8

// The values of a [Presence].
const (
	Present         Presence = iota // the response contains the element, or the observation is not about an element
	Missing                         // the response does not contain the element, and the element is not Gone
	Gone                            // two complete responses in a row lacked the element, which an earlier response contained; $gone is true
	UnknownPresence                 // the response contains no list, so paths that start at "." are unknown
)

// Gap returns a sentence that explains why a truncated response is incomplete. The result is meaningless if
// o.Truncated is false.
func (o *Observation) Gap() string {
	if o.StdoutOpen {
		return "the end of the output is missing"
	}
	return "the response is longer than the part that poll keeps"
}

// absence returns a sentence stating that the element is not in the response. It returns "" if the element is in the
// response, if its presence is unknown, or if o is not about an element.
func (o *Observation) absence() string {
	if o.Within == nil || o.Failure != nil {
		return ""
	}
	return map[Presence]string{Gone: "the element is no longer in the response", Missing: "the element is not in the response"}[o.Presence]
}

// element returns the element that o is about, as a document. If the response does not contain the element, or
// contains no list, every path in the document is unknown, and the document states this reason.
func (o *Observation) element() *expr.Doc {
	why := o.absence()
	if o.Presence >= UnknownPresence { // a value without a meaning counts as unknown
		why = "the response holds no list"
	}
	if why != "" {
		return expr.Unreadable(why)
	}
	return expr.NewDoc(o.Body)
}

// Good reports whether the response is successful. A response to an HTTP request or a command is successful if its
// code is one of [Rules.Accept], which are HTTP 2xx and exit code 0 by default. A connection, and the response of
// a custom probe, are successful unless there is a Failure. An observation without a Protocol is never successful.
func (o *Observation) Good() bool {
	return o.Failure == nil && o.Protocol != nil && o.Protocol.Succeeded(o)
}

// Stopped reports whether the run or its caller ended the attempt before the response was complete. Such an
// attempt has no effect on the verdict.
func (o *Observation) Stopped() bool {
	return o.Failure != nil && o.Failure.Kind == FailureStopped
}

// A RetryAfter is a wait before the next attempt that the server requested, for example with the header field
// Retry-After.
type RetryAfter struct {
	Wait   time.Duration `json:"wait,omitempty"`   // never negative
	Source string        `json:"source,omitempty"` // where the server requested the wait, such as "Retry-After"
}

// A Quota is the remaining part of a rate limit.
type Quota struct {
	Remaining int           // the number of requests that are still allowed; never negative
	Reset     time.Duration // the time until the quota is renewed; more than 0
}

// A Failure explains why an attempt received no complete response.
type Failure struct {
	Kind FailureKind
	// Class is the kind of event that caused the failure, or "" for an event without a class. Expressions read it
	// as $error, where "" becomes "other". The classes are:
	//
	//   - "refused": nothing accepts connections at any address of the host, or the socket does not exist.
	//   - "timeout": a connection, a response or the end of a command took too long.
	//   - "dns": every query of the resolver reported that the host does not exist.
	//   - "tls": the certificate is not trusted, or the port does not use TLS.
	//   - "reset": the connection was closed before the response was complete.
	Class  string
	Reason string // for people, without secrets, such as "connection refused"
	Err    error  // the underlying error; may be nil
	Hints  []Hint // remedies for the failure
}

// Error returns f.Reason.
func (f *Failure) Error() string { return f.Reason }

// Unwrap returns f.Err.
func (f *Failure) Unwrap() error { return f.Err }

// A FailureKind determines the verdict on a failure, and whether further attempts make sense.
type FailureKind uint8

// The values of [Failure].Class.
const (
	ClassRefused = "refused"
	ClassTimeout = "timeout" // also for a DNS lookup that timed out
	ClassDNS     = "dns"
	ClassTLS     = "tls"
	ClassReset   = "reset"
)

// The kinds of failure.
const (
	// FailureTransient is a failure that may pass, such as a refused connection, a timeout, or an unknown host
	// name. The verdict is NOT_READY unless a rule matches.
	FailureTransient FailureKind = iota
	// FailureThrottled means that the client sent too many requests, or that a proxy refused a connection because
	// of load. The verdict is THROTTLED unless a rule matches.
	FailureThrottled
	// FailureHopeless is a failure that will not pass, such as an untrusted certificate or a redirect loop. The
	// verdict is ERROR unless a rule that reads $error matches.
	FailureHopeless
	// FailureNotFound and FailureNotExecutable mean that the program of a command does not exist or cannot be run.
	// The verdict is ERROR. The run ends, and does not count the attempt.
	FailureNotFound
	FailureNotExecutable
	// FailureMayHaveStarted means that a request to start an operation was sent, but its response was lost. The
	// verdict is ERROR, because sending the request again might start a second operation.
	FailureMayHaveStarted
	// FailureStopped means that a deadline or a signal ended the attempt before the response was complete. Such an
	// attempt has no effect on the verdict.
	FailureStopped
)

// Environment returns the variables that an expression evaluated on o can read.
func Environment(o *Observation) *expr.Env {
	env := &expr.Env{
		Exit:    o.Exit,
		Status:  o.Code,
		Header:  o.Header,
		Body:    o.Body,
		Stderr:  o.Stderr,
		Output:  o.Output,
		Event:   o.Event,
		Attempt: o.Attempt,
		Elapsed: o.Elapsed,
		Name:    o.Target,

		Unchanged: o.Unchanged,
	}
	switch {
	case o.Failure != nil:
		env.Error = cmp.Or(o.Failure.Class, "other")
		env.Doc = expr.Unreadable("there was no response (" + o.Failure.Reason + ")")
	case o.Truncated:
		env.Doc = expr.Unreadable(o.Gap())
	case o.Message && o.Body == nil && o.Stderr != nil:
		env.Doc = expr.Unreadable("the line is of stderr")
	case o.Part:
		env.Doc = expr.Unreadable("the line is part of a JSON document that was cut, or is too long")
	case o.Within != nil:
		env.Doc, env.Element, env.Gone = o.Within, o.element(), o.Presence == Gone
		env.Body = o.Within.Bytes()
	default:
		env.Doc = expr.NewDoc(o.Body)
	}
	env.BodyCut, env.OutputCut = o.Truncated, o.OutputCut
	env.StderrCut, env.StderrOpen = o.StderrCut, o.StderrOpen
	if o.Kind == KindCommand {
		env.Stdout = env.Body
	}
	return env
}
