// Package detail has what poll's own probes, lists and outputs say to each other about an observation
// and a verdict, and what no custom probe has to know.
package detail

import "time"

// An Answer is part of an observation.
type Answer struct {
	// Pages are the further pages of an answer that is a list on several, without Body,
	// which is the first.
	Pages [][]byte `json:"pages,omitempty"`
	// LeftOut is true if a function around the probe has left out the further pages.
	LeftOut bool `json:"-"`
	// Page is the number, from 1, of the page that failed, and with which all of the answer
	// did: the other fields are about that page. It is 0 if none did.
	Page int `json:"page,omitempty"`
	// Complete is true if the last page has no elements and names itself as the next page.
	Complete bool `json:"complete,omitempty"`
	// Presence says whether the element is in the answer. Unless it is Present, there is no
	// Body.
	Presence Presence `json:"-"`

	// StderrCut is true if there was more on stderr.
	StderrCut bool `json:"stderr_cut,omitempty"`
	// StdoutOpen is true if poll stopped a writer of stdout: the end of stdout is not known. StderrOpen is
	// the same for stderr.
	StdoutOpen bool `json:"stdout_open,omitempty"`
	StderrOpen bool `json:"stderr_open,omitempty"`
	// OutputCut is true if Output is only the beginning of both outputs.
	OutputCut bool `json:"output_cut,omitempty"`

	// ShouldRetry is what the server said about asking again at all
	// (Stripe-Should-Retry, X-Should-Retry), nil if it said nothing.
	ShouldRetry *bool `json:"should_retry,omitempty"`
	// Exhausted is true if the answer's header says that a rate limit is used up.
	Exhausted bool `json:"exhausted,omitempty"`

	// Date is the time of the response by its server's clock, zero if the server sent none. Age is the time
	// since then, as a cache reports it; 0 if the response did not come from a cache.
	Date time.Time     `json:"-"`
	Age  time.Duration `json:"-"`
	// Started has the Dates of the responses that redirected the start, by their origins; empty without such a
	// redirect.
	Started map[string]time.Time `json:"-"`

	// Renewed is true if the credentials that were refused with a 401 have been renewed
	// since, so that the next attempt may be let in.
	Renewed bool `json:"renewed,omitempty"`

	// NotModified is true for a 304. The fields above then hold the answer that it
	// confirms.
	NotModified bool `json:"not_modified,omitempty"`

	// Accept are the codes of a successful response; nil means those of HTTP 2xx and exit code 0. The
	// wait sets it.
	Accept []int `json:"-"`

	// Following places an HTTP answer in the life of an operation.
	Following Following `json:"following,omitzero"`

	// Doubt says why a good answer may not be about what was asked, such as a page that a
	// redirect led to; "" for no doubt. A rule can still decide.
	Doubt string `json:"doubt,omitempty"`

	// Origin is the scheme, host and port that returned the HTTP response; "" without a response.
	Origin string `json:"-"`
	// Elsewhere is true if another origin gave the answer, to which a redirect led.
	Elsewhere bool `json:"elsewhere,omitempty"`
	// Moved is true if a redirect led to another page: of another origin, another path (except for a
	// slash at its end) or another query (except for more parameters); or if the redirected request got no
	// credentials, unlike the first request. That the page is not there, or does not hold something, says
	// nothing of the requested page.
	Moved bool `json:"moved,omitempty"`

	// Message is true for a message of an answer that goes on. Ended is true for how a stream has
	// ended: with a failure, or with the exit code of a command, whose Body is then its last line.
	Message bool `json:"-"`
	Ended   bool `json:"-"`
	// Part is true for a line of a document that was cut: as a text it counts, and as JSON it does not.
	Part bool `json:"-"`

	// Matched are the rules for NOT_READY that matched an earlier response: true for a rule that
	// matched a successful response. The fields that another rule reads may exist in other
	// responses only.
	Matched map[string]bool `json:"-"`
}

// Gap returns the reason why the response is not whole, for an observation that is truncated.
func (a *Answer) Gap() string {
	if a.StdoutOpen {
		return "the end of the output is missing"
	}
	return "the answer is longer than the part of it that poll keeps"
}

// EventStream is the type of an answer that is a stream of events.
const EventStream = "text/event-stream"

// A Presence says whether an element is in an answer.
type Presence uint8

// The presences.
const (
	Present Presence = iota // it is, or what was looked at is no element
	Missing                 // it is not: it never was, or not for long
	Gone                    // it was, and is absent from two complete answers in a row; $gone is true
	Unknown                 // the answer holds no list, so no path from "." can be followed
)

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
	// Earlier is the last Statement of an earlier answer from the URLs that
	// were followed, "" if none had one.
	Earlier string `json:"earlier,omitempty"`
	// Accepted is true if an earlier response of the URL that was followed was a 202.
	Accepted bool `json:"accepted,omitempty"`
	// Missing says why an answer that should name a URL to follow names none; ""
	// otherwise. Unless the request was to start the operation, it is then repeated.
	Missing string `json:"missing,omitempty"`
	// Offered is the header of a 202 that names another URL, which is not followed without a start; ""
	// for none.
	Offered string `json:"offered,omitempty"`
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
	MonitorCreated                 // Location of a 201, or 303 of the start: what was created, or the result
	MonitorSeeOther                // where a 303 of a monitor led: the result, or the monitor again
)

// The classes of failure, which an expression calls $error.
const (
	FailureRefused = "refused"
	FailureTimeout = "timeout" // or a lookup that failed
	FailureDNS     = "dns"
	FailureTLS     = "tls"
	FailureReset   = "reset"
)
