package status

import (
	"cmp"
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

// String returns the kind with an article: "a URL".
func (k Kind) String() string {
	return map[Kind]string{KindHTTP: "a URL", KindCommand: "a command", KindTCP: "a TCP address", KindCustom: "this probe"}[k]
}

// An Observation is the response to one attempt, or the failure of the attempt. It has no methods that send
// requests.
//
// A custom probe sets Body, which is the document of the rules, or Failure. It leaves Kind at [KindCustom].
type Observation struct {
	Kind Kind

	// Attempt is the number of the attempt, from 1. Elapsed is the age of the run when the attempt started. The run
	// sets both. In an expression the names are $attempt and $elapsed.
	Attempt int
	Elapsed time.Duration
	// Unchanged is how long consecutive responses have been equal, in whole milliseconds. The run sets it. In an
	// expression its name is $unchanged.
	Unchanged time.Duration
	// Target is the name of the target. The run sets it. In an expression its name is $name.
	Target string

	// Body is the body of the response, or the command's stdout.
	Body []byte
	// Size is the length of the whole body in bytes, as far as the probe has read the body. If Size is more than
	// len(Body), the body was longer than the limit, and Truncated is true.
	Size      int64
	Truncated bool

	// Within is the document, or the page, with the list that has Body as an element. Body is then the JSON that
	// [expr.Each] returns. In an expression Within is $json, its text is $body, and Body is ".". Nil means that
	// Body is the whole document.
	Within *expr.Doc
	// Exit is the exit code of a command, or 128+n if signal n ended the command. It is nil if the run stopped the
	// command, and for other probes.
	Exit *int
	// Signal names the signal that ended the command: "KILL".
	Signal string
	// Stderr is the end of the command's stderr, at most 64 KiB.
	Stderr []byte
	// Output has both outputs of the command in their order of arrival, as far as two pipes can show the order. Nil
	// means that stderr was empty: Body is then the output.
	Output []byte

	// Code and Header are the status code and the header of an HTTP response; nil without a response.
	Code   *int
	Header http.Header

	// Event is the name of a server-sent event, "" for other responses. In an expression its name is $event.
	Event string

	// Failure is the reason why the response is incomplete or missing; nil for a complete response.
	Failure *Failure

	// Hint is the wait that the server requested; nil without a request.
	Hint *Hint
	// Quota is the rest of a rate limit, from the header of the response; nil if the header has no quota.
	Quota *Quota

	// Remarks are details that do not affect the verdict, such as an absurd header that the probe ignored, or a URL
	// that it followed.
	Remarks []string

	// Protocol gives the response a meaning. A run of package poll sets it, if the probe did not. Without a Protocol
	// no rule makes the observation SUCCESS: see poll.Recorded.
	Protocol Protocol

	// Pages are the further pages of a list. Body is the first page.
	Pages [][]byte
	// LeftOut is true if a wrapper of the probe returned fewer Pages than the probe.
	LeftOut bool
	// Page is the number, from 1, of the page that failed; 0 if no page failed. If a page failed, the whole
	// response failed, and the other fields describe this page.
	Page int
	// Complete is true if the last page has no elements and names itself as the next page.
	Complete bool
	// Presence reports whether the element is in the response. Body is empty unless it is Present.
	Presence Presence

	// StderrCut is true if there was more on stderr.
	StderrCut bool
	// StdoutOpen is true if poll stopped a process that still had stdout open: the end of stdout is then unknown.
	// StderrOpen is the same for stderr.
	StdoutOpen, StderrOpen bool
	// OutputCut is true if Output is only the beginning of both outputs.
	OutputCut bool

	// Message is true for a message of a stream. Ended is true for the end of a stream:
	// a failure, or the exit code of a command with the last line as Body.
	Message, Ended bool
	// Part is true for a line of a truncated document. Rules may read the line as text, but not as JSON.
	Part bool

	// Doubt is the reason why a successful response may not be the requested document, such as a page after a
	// redirect; "" without a doubt. Rules can decide despite a doubt.
	Doubt string

	// Start is true for the response to the request that starts the operation. Result is true for the result of
	// an operation whose status was in another document.
	Start, Result bool
	// Next is the origin and path of the next request, if the response led to another URL; "" otherwise.
	Next string
	// Advice is a remedy for a mistake in the request, for each verdict.
	Advice Advice

	// Accept are the codes of a successful response; nil means the codes of the protocol. [Rules.Classify] sets it.
	Accept []int
	// Matched has the rules for NOT_READY that matched an earlier response. The value is true for a rule that
	// matched a successful response. A rule that never matched may read fields of other responses. The run sets
	// Matched.
	Matched map[string]bool
}

// A Presence is whether an element is in a response.
type Presence uint8

// The presences.
const (
	Present         Presence = iota // the element is in the response, or the observation is not about an element
	Missing                         // the element is not in the response, and not Gone
	Gone                            // an earlier response held the element, and two complete responses in a row did not; $gone is true
	UnknownPresence                 // the response holds no list, so no path from "." can be followed
)

// Gap returns the reason why the response is incomplete. It has a meaning only for a truncated observation.
func (o *Observation) Gap() string {
	if o.StdoutOpen {
		return "the end of the output is missing"
	}
	return "the answer is longer than the part of it that poll keeps"
}

// absence returns the reason for NOT_READY if the element is not in the response. It returns "" if the element
// is in the response, and if the observation is not about an element.
func (o *Observation) absence() string {
	if o.Within == nil || o.Failure != nil {
		return ""
	}
	return map[Presence]string{Gone: "it is no longer in the answer", Missing: "it is not in the answer"}[o.Presence]
}

// element returns the element as a document. If there is no element, the document is unreadable and has the
// reason.
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

// Good reports whether the response is successful by its protocol or by [Rules.Accept]: HTTP 2xx, exit code 0,
// or a connection. The response of a custom probe is successful without a failure. An observation without a Protocol
// is not successful.
func (o *Observation) Good() bool {
	return o.Failure == nil && o.Protocol != nil && o.Protocol.Succeeded(o)
}

// Stopped reports whether the attempt was ended from outside before its response was complete. Such an attempt
// has no effect on the verdict.
func (o *Observation) Stopped() bool {
	return o.Failure != nil && o.Failure.Kind == FailureStopped
}

// A Hint is a wait that the server requested.
type Hint struct {
	Wait   time.Duration `json:"wait,omitempty"`   // never negative
	Source string        `json:"source,omitempty"` // the source of the request: "Retry-After"
}

// A Quota is the rest of a rate limit.
type Quota struct {
	Remaining int           // requests that are still allowed; never negative
	Reset     time.Duration // the time until further requests are allowed; more than 0
}

// A Failure is the reason why an attempt has no complete response.
type Failure struct {
	Kind FailureKind
	// Class is the kind of the event, and $error in expressions: "refused" (nothing listens at any address of the
	// host, or the socket does not exist), "timeout" (a connection, a response, or the end of a command took too
	// long), "dns" (all queries of the resolver report that the host does not exist), "tls" (a certificate that is
	// not trusted, or no TLS on the port), "reset" (the connection was closed before the response was complete).
	// For any other failure it is "", and $error is "other".
	Class  string
	Reason string // for people, without secrets: "connection refused"
	Err    error  // the cause, nil if the reason is complete
	Advice Advice // a remedy
}

// Error returns the reason.
func (f *Failure) Error() string { return f.Reason }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// A FailureKind is the consequence of a failure for later attempts.
type FailureKind uint8

// The classes of failure. In an expression the class is $error.
const (
	ClassRefused = "refused"
	ClassTimeout = "timeout" // or a lookup that failed
	ClassDNS     = "dns"
	ClassTLS     = "tls"
	ClassReset   = "reset"
)

// The kinds of failure.
const (
	// FailureTransient may pass: refused, reset, timed out, name not found, not done yet. It is NOT_READY.
	FailureTransient FailureKind = iota
	// FailureThrottled means that there were too many requests, or that a proxy refused to connect because of load.
	// It is THROTTLED unless a rule matches.
	FailureThrottled
	// FailureHopeless will not pass, such as a certificate that is not trusted, or a redirect loop. It is ERROR
	// unless a rule that reads $error matches.
	FailureHopeless
	// FailureNotFound and FailureNotExecutable mean that the program cannot be run. They are ERROR. The run ends,
	// and does not count the attempt.
	FailureNotFound
	FailureNotExecutable
	// FailureMayHaveStarted means that the response to the start request was lost. It is ERROR: a second start
	// request might start a second operation.
	FailureMayHaveStarted
	// FailureStopped means that a deadline or a signal ended the attempt before its response was complete. It has
	// no effect on the verdict.
	FailureStopped
)

// Environment returns the variables of an expression for o.
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
		env.Doc = expr.Unreadable("there was no answer (" + o.Failure.Reason + ")")
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
