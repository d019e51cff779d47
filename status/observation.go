package status

import (
	"cmp"
	"net/http"
	"time"

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
	// Target is what the run calls what is looked at; it sets this, too. An expression calls
	// it $name.
	Target string `json:"-"`

	// Body is the answer: the response body, or the command's stdout.
	Body []byte `json:"body,omitempty"`
	// Size is the length of the whole answer in bytes, as far as it was read. If it is
	// more than len(Body), the answer was longer than the limit and Truncated is true.
	Size      int64 `json:"size,omitempty"`
	Truncated bool  `json:"truncated,omitempty"`

	// Pages are the further pages of an answer that is a list on several, without Body,
	// which is the first.
	Pages [][]byte `json:"pages,omitempty"`
	// Page is the number, from 1, of the page that failed, and with which all of the answer
	// did: the other fields are about that page. It is 0 if none did.
	Page int `json:"page,omitempty"`
	// Within is the answer, or the page of it, that Body is an element of. Nil means that
	// Body is the answer itself. An expression calls Within $json, its text $body, and Body
	// "."; Body then is JSON, as [expr.Each] has it.
	Within *expr.Doc `json:"-"`
	// Presence says whether the element is in the answer. Unless it is Present, there is no
	// Body.
	Presence Presence `json:"-"`

	// Exit is the exit code of a command that ended by itself, 128+n if signal n
	// ended it; nil if the run ended it, and for other probes.
	Exit *int `json:"exit,omitempty"`
	// Signal names the signal that ended the command: "KILL".
	Signal string `json:"signal,omitempty"`
	// Stderr is the end of the command's stderr, at most 64 KiB. StderrCut is true if there
	// was more.
	Stderr    []byte `json:"stderr,omitempty"`
	StderrCut bool   `json:"stderr_cut,omitempty"`

	// Code and Header are the status code and the header of an HTTP answer, nil if
	// there was none.
	Code   *int        `json:"code,omitempty"`
	Header http.Header `json:"header,omitempty"`

	// Failure says why there is no complete answer, nil if there is one.
	Failure *Failure `json:"failure,omitempty"`

	// Hint is the wait that the server asked for, nil if it asked for none.
	Hint *Hint `json:"hint,omitempty"`
	// Exhausted is true if the answer's header says that a rate limit is used up.
	Exhausted bool `json:"exhausted,omitempty"`
	// Quota is what the answer's header says is left of a rate limit, nil if it says
	// nothing.
	Quota *Quota `json:"quota,omitempty"`
	// ShouldRetry is what the server said about asking again at all
	// (Stripe-Should-Retry, X-Should-Retry), nil if it said nothing.
	ShouldRetry *bool `json:"should_retry,omitempty"`

	// Renewed is true if the credentials that were refused with a 401 have been renewed
	// since, so that the next attempt may be let in.
	Renewed bool `json:"renewed,omitempty"`

	// NotModified is true for a 304. The fields above then hold the answer that it
	// confirms.
	NotModified bool `json:"not_modified,omitempty"`

	// Following places an HTTP answer in the life of an operation.
	Following Following `json:"following,omitzero"`

	// Doubt says why a good answer may not be about what was asked, such as a page that a
	// redirect led to; "" for no doubt. A rule can still decide.
	Doubt string `json:"doubt,omitempty"`

	// Elsewhere is true if another origin gave the answer, to which a redirect led. Redirect is
	// the place to which one led, such as /login, "" for none.
	Elsewhere bool   `json:"elsewhere,omitempty"`
	Redirect  string `json:"redirect,omitempty"`
	// Moved is true if a redirect led to another page: of another origin, or of another path,
	// but for a slash at its end. That the page is not there, or does not hold something, says
	// nothing of the one that was asked for.
	Moved bool `json:"moved,omitempty"`

	// Taken is true if another process made the attempt, and shared its answer.
	Taken bool `json:"-"`

	// Remarks are details that decide nothing, such as an absurd header that was
	// ignored or a URL that was followed.
	Remarks []string `json:"remarks,omitempty"`
}

// A Presence says whether an element is in an answer.
type Presence uint8

// The presences.
const (
	Present Presence = iota // it is, or what was looked at is no element
	Missing                 // it is not: it never was, or not for long
	Gone                    // it was, and is absent from two complete answers in a row; $gone is true
	Unknown                 // the answer holds no list, so no path from "." can be followed
)

// absence says in words that what is observed is an element that the answer does not hold, ""
// if it is none or the answer holds it.
func (o *Observation) absence() string {
	if o.Within == nil || o.Failure != nil {
		return ""
	}
	return map[Presence]string{Gone: "it is no longer in the answer", Missing: "it is not in the answer"}[o.Presence]
}

// element is the element as a document.
func (o *Observation) element() *expr.Doc {
	why := o.absence()
	if o.Presence == Unknown {
		why = "the answer holds no list"
	}
	if why != "" {
		return expr.Unreadable(why)
	}
	return expr.NewDoc(o.Body)
}

// Good reports whether the attempt had a good answer: HTTP 2xx, exit code 0, a
// connection, or a custom probe without a failure.
func (o *Observation) Good() bool {
	switch {
	case o.Failure != nil:
		return false
	case o.Code != nil:
		return *o.Code >= 200 && *o.Code <= 299
	case o.Exit != nil:
		return *o.Exit == 0
	}
	return o.Kind == KindTCP || o.Kind == KindCustom
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
	Kind   FailureKind  `json:"kind,omitempty"`
	Class  FailureClass `json:"class,omitempty"`
	Reason string       `json:"reason,omitempty"` // in words, free of secrets: "connection refused"
	Err    error        `json:"-"`                // the cause, nil if the reason says it all
	Advice Advice       `json:"advice,omitzero"`  // what can be done about it
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

// A FailureClass says what happened to an attempt without an answer. An expression calls
// its name $error.
type FailureClass string

// The classes of failure.
const (
	FailureOther   FailureClass = ""        // none of the others
	FailureRefused FailureClass = "refused" // nothing listens there: the connection was refused, or there is no such socket
	FailureTimeout FailureClass = "timeout" // a connection, an answer, or the end of a command took too long
	FailureDNS     FailureClass = "dns"     // there is no such host; a lookup that fails is FailureTimeout or FailureOther
	FailureTLS     FailureClass = "tls"     // no TLS connection: a certificate that is not trusted, no TLS on that port
	FailureReset   FailureClass = "reset"   // the connection was closed before the answer was complete
)

// String returns the name of the class: "refused", or "other".
func (c FailureClass) String() string { return cmp.Or(string(c), "other") }

// Following places an HTTP answer in the life of an operation that one request
// starts and others follow.
type Following struct {
	// Start is true for the answer to the request that starts the operation.
	Start bool `json:"start,omitempty"`
	// Monitor says what kind of URL gave the answer.
	Monitor Monitor `json:"monitor,omitempty"`
	// Next is the origin and path of the next request if it goes to another URL than the
	// one that gave this answer, or gets the one that was asked to start, otherwise "".
	Next string `json:"next,omitempty"`
	// Earlier is the last [Observation.Statement] of an earlier answer from the URLs that
	// were followed, "" if none had one.
	Earlier string `json:"earlier,omitempty"`
	// Missing says why an answer that should name a URL to follow names none; ""
	// otherwise. Unless the request was to start the operation, it is then repeated.
	Missing string `json:"missing,omitempty"`
	// Each is true if every element of the answer says where to look for it.
	Each bool `json:"each,omitempty"`
	// Untrusted is true if Missing is about another origin, or one without https.
	Untrusted bool `json:"untrusted,omitempty"`
	// Due is true while a request that changes something is still to be sent: this answer is
	// none to it. No rule then makes a SUCCESS of it.
	Due bool `json:"due,omitempty"`
	// Fresh is true for 10 s after the start was answered: what that names may not be there yet.
	// The run sets it.
	Fresh bool `json:"-"`
}

// A Monitor is a kind of URL that is polled.
type Monitor uint8

// The kinds of URL.
const (
	MonitorGiven    Monitor = iota // the probe's own
	MonitorLocation                // Location of a 202: 202 while running, then the answer
	MonitorAzure                   // Azure-AsyncOperation or Operation-Location: a status document
	MonitorBuilt                   // made from the document of the first answer
	MonitorResult                  // where a finished operation says its result is
	MonitorCreated                 // Location of a 201 or 303: what was created, or the result
)

// Advice is what can be done about a verdict, as data. The program that reports
// the verdict puts it into words.
type Advice struct {
	Code AdviceCode `json:"code,omitempty"`
	Path string     `json:"path,omitempty"` // of a member of the document, with AdviceFinalStates
}

// An AdviceCode says what to do.
type AdviceCode uint8

// The codes.
const (
	AdviceNone        AdviceCode = iota // nothing
	AdviceTrust                         // trust the authority of the server's certificate, or do not verify it
	AdviceFollow                        // say where to look after the start, or that the request starts nothing
	AdviceKey                           // say what names an element
	AdviceNext                          // say where the next page of the list is, or that there is none
	AdviceFinalStates                   // say by a rule which values of the member at Path are final
	AdviceDone                          // say by a rule which document means that the operation is done
	AdviceEach                          // look at all pages of the list
	AdviceExpect                        // say how many elements of a list are enough
)
