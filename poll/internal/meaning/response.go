package meaning

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/status"
)

// HTTP is the protocol of HTTP responses. Its fields and the observation's fields are the facts that determine
// the meaning of a response.
type HTTP struct {
	// ShouldRetry is the value of the header Stripe-Should-Retry or X-Should-Retry. It reports whether the
	// request may be sent again. It is nil without such a header.
	ShouldRetry *bool
	// Exhausted is true if the header reports that a rate limit is used up.
	Exhausted bool
	// Renewed is true if the credentials have been renewed since a 401 rejected them, so that the next attempt
	// may succeed.
	Renewed bool

	// Origin is the scheme, host and port that returned the response; "" without a response.
	Origin string
	// Redirect is the URL after a redirect, such as /login, or "". Elsewhere is true if the URL has a different
	// origin.
	Redirect  string
	Elsewhere bool
	// Moved is true if a redirect led to another page. Such a page has a different origin, path (a final slash
	// does not count) or query (more parameters do not count). Moved is also true if the redirected request got
	// no credentials, unlike the first request. If the other page or its member does not exist, the requested
	// page or member may still exist.
	Moved bool
	// Date is the time of the response by the server's clock, or zero. Age is the time since Date according to a
	// cache, or 0 for a response that is not from a cache. Started holds the Dates of the responses that
	// redirected the start, by origin.
	Date    time.Time
	Age     time.Duration
	Started map[string]time.Time

	// Monitor is the kind of URL that returned the response.
	Monitor Monitor
	// Earlier is the last [Stated] of an earlier response from the followed URLs, or "".
	Earlier string
	// Accepted is true if an earlier response from the followed URL was a 202.
	Accepted bool
	// Missing explains why a response that should name a URL to follow does not name such a URL. It is "" for
	// other responses. A request without a named URL is repeated, unless it starts the operation.
	Missing string
	// Due is true while a request that changes something is not sent, for example after a rejection. No rule then
	// turns this response into a SUCCESS.
	Due bool
	// Fresh is true for 10 s after the response to the start request, since the URL in that response may not
	// exist immediately. The run sets Fresh.
	Fresh bool
}

// A Monitor is a kind of URL that is polled.
type Monitor uint8

// The kinds of URL.
const (
	MonitorGiven    Monitor = iota // the probe's own URL
	MonitorLocation                // Location of a 202: 202 while running, then the result
	MonitorAzure                   // Azure-AsyncOperation or Operation-Location: a status document
	MonitorBuilt                   // made from the document of the first response
	MonitorResult                  // the URL of the result, named by a finished operation
	MonitorCreated                 // Location of a 201, or of a 303 for the start: the created object, or the result
	MonitorSeeOther                // Location of a 303 from a monitor: the result, or the monitor again
)

// Succeeded reports whether a response has a status of 2xx or, if Accept is not nil, a status of Accept.
func (h HTTP) Succeeded(o *status.Observation) bool {
	switch {
	case o.Code == nil:
		return o.Message
	case o.Accept != nil:
		return slices.Contains(o.Accept, *o.Code)
	}
	return *o.Code >= 200 && *o.Code <= 299
}

// isStray reports whether the response is about a page other than the given page, and that page failed or does
// not exist. The other page follows a redirect, or is the created object.
func (h HTTP) isStray(o *status.Observation) bool {
	isAbsent := o.Code != nil && (*o.Code == http.StatusNotFound || *o.Code == http.StatusGone)
	return (isAbsent || o.Failure != nil) && (h.Moved || h.Monitor == MonitorCreated)
}

// RefusedForLoad reports whether the server rejected the request because of load. Such responses are 429, and
// 503 with a hint or Retry-After. 403 counts with a hint, Retry-After, an exhausted rate limit, or GitHub's
// message about its secondary rate limit.
func (h HTTP) RefusedForLoad(o *status.Observation) bool {
	if o.Code == nil || o.Good() {
		return false
	}
	later := o.Hint != nil || o.Header.Get("Retry-After") != ""
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

// words returns the name of a status code, and the URL after a redirect.
func (h HTTP) words(code int) string {
	if h.Redirect == "" {
		return codeText(code)
	}
	return codeText(code) + " after a redirect to " + h.Redirect
}

// codeText returns a status code with its name, such as "HTTP 503 Service Unavailable".
func codeText(code int) string {
	return strings.TrimSpace("HTTP " + strconv.Itoa(code) + " " + http.StatusText(code))
}
