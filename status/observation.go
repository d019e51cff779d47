package status

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"github.com/pollcli/poll/internal/detail"
	"github.com/pollcli/poll/status/expr"
)

// A Kind says what was probed.
type Kind uint8

// The kinds of probe.
const (
	KindCustom  Kind = iota // whatever a custom probe looks at
	KindCommand             // a program
	KindHTTP                // a URL
	KindTCP                 // an address
)

// String names what is probed: "a URL".
func (k Kind) String() string {
	return map[Kind]string{KindHTTP: "a URL", KindCommand: "a command", KindTCP: "a TCP address", KindCustom: "this probe"}[k]
}

// An Observation is what one attempt saw: plain data, not yet judged.
//
// A custom probe sets Body, the document that the rules read, or Failure, and leaves Kind
// alone.
type Observation struct {
	Kind Kind `json:"kind,omitempty"`

	// Attempt counts from 1; Elapsed is the age of the run when the attempt
	// started. The run sets both. An expression calls them $attempt and $elapsed.
	Attempt int           `json:"-"`
	Elapsed time.Duration `json:"-"`
	// Unchanged is how long the answers have been the same, from the first that was so, in whole
	// milliseconds. The run sets it, too; an expression calls it $unchanged.
	Unchanged time.Duration `json:"-"`
	// Target is the name of the target, which the run sets, too. An expression calls it
	// $name.
	Target string `json:"-"`

	// Body is the answer: the response body, or the command's stdout.
	Body []byte `json:"body,omitempty"`
	// Size is the length of the whole answer in bytes, as far as it was read. If it is
	// more than len(Body), the answer was longer than the limit and Truncated is true.
	Size      int64 `json:"size,omitempty"`
	Truncated bool  `json:"truncated,omitempty"`

	// Within is the answer, or the page of it, that Body is an element of. Nil means that
	// Body is the answer itself. An expression calls Within $json, its text $body, and Body
	// "."; Body then is JSON, as [expr.Each] has it.
	Within *expr.Doc `json:"-"`
	// Exit is the exit code of a command that ended by itself, 128+n if signal n
	// ended it; nil if the run ended it, and for other probes.
	Exit *int `json:"exit,omitempty"`
	// Signal names the signal that ended the command: "KILL".
	Signal string `json:"signal,omitempty"`
	// Stderr is the end of the command's stderr, at most 64 KiB.
	Stderr []byte `json:"stderr,omitempty"`
	// Output is both outputs of the command in order of arrival, as far as a pipe for each output
	// shows the order. Nil means that nothing came on stderr: Body is the output then.
	Output []byte `json:"output,omitempty"`

	// Code and Header are the status code and the header of an HTTP answer, nil if
	// there was none.
	Code   *int        `json:"code,omitempty"`
	Header http.Header `json:"header,omitempty"`

	// Event is the name of a server-sent event, "" for anything else. An expression calls it $event.
	Event string `json:"-"`

	// Failure says why there is no complete answer, nil if there is one.
	Failure *Failure `json:"failure,omitempty"`

	// Hint is the wait that the server asked for, nil if it asked for none.
	Hint *Hint `json:"hint,omitempty"`
	// Quota is what the answer's header says is left of a rate limit, nil if it says
	// nothing.
	Quota *Quota `json:"quota,omitempty"`

	// Redirect is the place to which a redirect led, such as /login, "" for none.
	Redirect string `json:"redirect,omitempty"`

	// Remarks are details that decide nothing, such as an absurd header that was
	// ignored or a URL that was followed.
	Remarks []string `json:"remarks,omitempty"`

	// What poll's own probes and lists add. A custom probe leaves it alone.
	detail.Answer
}

// absence says in words that what is observed is an element that the answer does not hold, ""
// if it is none or the answer holds it.
func (o *Observation) absence() string {
	if o.Within == nil || o.Failure != nil {
		return ""
	}
	return map[detail.Presence]string{detail.Gone: "it is no longer in the answer", detail.Missing: "it is not in the answer"}[o.Presence]
}

// element is the element as a document.
func (o *Observation) element() *expr.Doc {
	why := o.absence()
	if o.Presence == detail.Unknown {
		why = "the answer holds no list"
	}
	if why != "" {
		return expr.Unreadable(why)
	}
	return expr.NewDoc(o.Body)
}

// Good reports whether the response is successful: HTTP 2xx, exit code 0 or, in place of these, a code of
// [Rules.Accept]; a connection; or a custom probe without a failure.
func (o *Observation) Good() bool {
	switch code := cmp.Or(o.Code, o.Exit); {
	case o.Failure != nil:
		return false
	case code != nil && o.Accept != nil:
		return slices.Contains(o.Accept, *code)
	case o.Code != nil:
		return *o.Code >= 200 && *o.Code <= 299
	case o.Exit != nil:
		return *o.Exit == 0
	}
	return o.Message || o.Kind == KindTCP || o.Kind == KindCustom
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
	Remaining int           `json:"remaining,omitempty"` // attempts; never negative
	Reset     time.Duration `json:"reset,omitempty"`     // until there are more; more than 0
}

// A Failure says why an attempt has no complete answer.
type Failure struct {
	Kind FailureKind `json:"kind,omitempty"`
	// Class is what happened: "refused" (nothing listens at any address of the host, or there is no such
	// socket), "timeout" (a connection, an answer, or the end of a command took too long), "dns" (the
	// responses to all queries of the resolver report that there is no such host),
	// "tls" (a certificate that is not trusted, no TLS on that port), "reset" (the connection was closed
	// before the answer was complete); "" for anything else, which an expression calls "other". $error
	// is its name there.
	Class  string        `json:"class,omitempty"`
	Reason string        `json:"reason,omitempty"` // in words, free of secrets: "connection refused"
	Err    error         `json:"-"`                // the cause, nil if the reason says it all
	Advice detail.Advice `json:"advice,omitzero"`  // what can be done about it
}

// Error returns the reason.
func (f *Failure) Error() string { return f.Reason }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// A FailureKind says what a failure means for the attempts to come.
type FailureKind uint8

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
