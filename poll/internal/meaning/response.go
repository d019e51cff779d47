package meaning

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/status"
)

// HTTP is the protocol of HTTP responses. Its fields are facts about one response. The meaning of the response
// depends on these fields and on the fields of the observation.
type HTTP struct {
	// ShouldRetry is the value of the header Stripe-Should-Retry or X-Should-Retry: true if the server wants the
	// request to be repeated, and false if not. It is nil if the response has neither header.
	ShouldRetry *bool
	// Exhausted is true if the header reports that no request is left in a rate limit.
	Exhausted bool
	// Renewed is true if the server has rejected the credentials with a 401, and they have been renewed since. The
	// next attempt may then succeed.
	Renewed bool

	// Origin is the scheme, host and port that returned the response, or "" without a response.
	Origin string
	// Redirect is the URL at the end of the redirects, such as "/login", or "" without a redirect. Elsewhere is true
	// if that URL has a different origin than the request, and is not only the https form of the same origin.
	Redirect  string
	Elsewhere bool
	// Moved is true if redirects led from the requested page to another page, whose origin, path or query is
	// different. These differences do not count: https instead of http, a slash at the end of the path, and
	// additional query parameters. Moved is also true if the request to the requested page had credentials, and the
	// redirected request had no credentials. A response from another page proves nothing about the requested page:
	// if the other page does not exist or lacks a member, the requested page may still exist or have the member.
	Moved bool
	// Date is the time of the response by the server's clock, or the zero time. Age is the time that the response has
	// spent in caches, or 0. Started holds the Dates of the responses that redirected the start request. Its keys are
	// origins.
	Date    time.Time
	Age     time.Duration
	Started map[string]time.Time

	// Monitor is the kind of the URL that returned the response.
	Monitor Monitor
	// Earlier is the last result of [StateText] for earlier responses from followed URLs, or "".
	Earlier string
	// Accepted is true if the followed URL has returned a 202 earlier.
	Accepted bool
	// Missing is the reason why a response that should name a URL to follow names no usable URL. For any other
	// response it is "". If Missing is not "", poll repeats the request, unless the request starts an
	// operation.
	Missing string
	// Due is true if a request that changes something on the server has not been processed yet, for example because
	// the server rejected it. No rule can then turn the response into a SUCCESS.
	Due bool
	// Fresh is true in the first 10 s after the response to the start request, because the URL in that response may
	// not exist at once. The run sets Fresh.
	Fresh bool
}

// A Monitor is a kind of URL that is polled, named after the source of the URL.
type Monitor uint8

// The kinds of URL.
const (
	MonitorGiven    Monitor = iota // the URL of the user's request
	MonitorLocation                // from the Location of a 202: returns 202 while the operation runs, then the result
	MonitorAzure                   // from Azure-AsyncOperation or Operation-Location: returns a status document
	MonitorBuilt                   // built from the first response, as --follow describes
	MonitorResult                  // named by a finished operation: returns the result
	MonitorCreated                 // from the Location of a 201, or of a 303 after the start request: returns the created object, or the result
	MonitorSeeOther                // from the Location of a 303 that a polled URL has returned: returns the result, or leads back to that URL
)

// Succeeded reports whether the status of the response is 2xx or, if o.Accept is not nil, one of the codes in
// o.Accept.
func (h HTTP) Succeeded(o *status.Observation) bool {
	return isAccepted(o, o.Code, func(code int) bool { return code/100 == 2 })
}

// isStray reports whether the response is a 404, a 410 or a failure that concerns a page other than the requested page.
// The other page is the target of a redirect, or an object that the operation has created. A stray response does not
// show whether the requested page exists.
func (h HTTP) isStray(o *status.Observation) bool {
	isAbsent := o.Code != nil && (*o.Code == http.StatusNotFound || *o.Code == http.StatusGone)
	return (isAbsent || o.Failure != nil) && (h.Moved || h.Monitor == MonitorCreated)
}

// RefusedForLoad reports whether the server rejected the request because of load. That is true for each 429, and for
// a 503 with a wait such as Retry-After. It is also true for a 403 with a wait, with an exhausted rate limit, or with
// GitHub's message about its secondary rate limit. An accepted status never counts.
func (h HTTP) RefusedForLoad(o *status.Observation) bool {
	if o.Code == nil || o.Good() {
		return false
	}
	later := o.RetryAfter != nil || o.Header.Get("Retry-After") != ""
	switch *o.Code {
	case http.StatusTooManyRequests:
		return true
	case http.StatusServiceUnavailable:
		return later
	case http.StatusForbidden:
		return later || h.Exhausted || bytes.Contains(bytes.ToLower(o.Body), []byte("secondary rate limit"))
	}
	return false
}

// words returns the status code with its name, and the URL at the end of the redirects, if there were any.
func (h HTTP) words(code int) string {
	if h.Redirect == "" {
		return codeText(code)
	}
	return codeText(code) + " after a redirect to " + h.Redirect
}

// codeText returns code with its name, such as "HTTP 503 Service Unavailable".
func codeText(code int) string {
	return strings.TrimSpace("HTTP " + strconv.Itoa(code) + " " + http.StatusText(code))
}
