package meaning

import (
	"bytes"
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/document"
	"github.com/pollcli/poll/status"
)

// HTTP is the protocol of HTTP responses. Its fields are the facts about one response on which the meaning rests,
// next to those of the observation.
type HTTP struct {
	// ShouldRetry is the server's answer to the question whether to send the request again (Stripe-Should-Retry,
	// X-Should-Retry), nil without one.
	ShouldRetry *bool
	// Exhausted is true if the header says that a rate limit is used up.
	Exhausted bool
	// Renewed is true if the credentials that a 401 rejected have been renewed since, so that the next attempt may be
	// let in.
	Renewed bool

	// Origin is the scheme, host and port that returned the response; "" without a response.
	Origin string
	// Redirect is the place after a redirect, such as /login; "" without a redirect. Elsewhere is true if the place is at
	// another origin.
	Redirect  string
	Elsewhere bool
	// Moved is true if a redirect led to another page: of another origin, another path (except for a
	// slash at its end) or another query (except for more parameters); or if the redirected request got no
	// credentials, unlike the first request. If that page does not exist, or has no such member, the requested page may
	// still exist, or have the member.
	Moved bool
	// Date is the time of the response by its server's clock, zero if the server sent none. Age is the time
	// since then, as a cache reports it; 0 if the response did not come from a cache. Started has the Dates of the
	// responses that redirected the start, by their origins.
	Date    time.Time
	Age     time.Duration
	Started map[string]time.Time

	// Monitor is the kind of URL that returned the response.
	Monitor Monitor
	// Earlier is the last [Statement] of an earlier response from the URLs that were followed, "" without one.
	Earlier string
	// Accepted is true if an earlier response of the URL that was followed was a 202.
	Accepted bool
	// Missing says why a response that should name a URL to follow names none; "" otherwise. Unless the request was to
	// start the operation, it is then repeated.
	Missing string
	// Due is true while a request that changes something is still to be sent, as after a refusal: no rule makes a
	// SUCCESS of this response.
	Due bool
	// Fresh is true for 10 s after the response to the start: what that names may not be there yet. The run sets it.
	Fresh bool
}

// A Monitor is a kind of URL that is polled.
type Monitor uint8

// The kinds of URL.
const (
	MonitorGiven    Monitor = iota // the probe's own
	MonitorLocation                // Location of a 202: 202 while running, then the result
	MonitorAzure                   // Azure-AsyncOperation or Operation-Location: a status document
	MonitorBuilt                   // made from the document of the first response
	MonitorResult                  // where a finished operation says its result is
	MonitorCreated                 // Location of a 201, or 303 of the start: what was created, or the result
	MonitorSeeOther                // where a 303 of a monitor led: the result, or the monitor again
)

// Succeeded reports whether a response has the status 2xx, or one of those in Accept.
func (h HTTP) Succeeded(o *status.Observation) bool {
	switch {
	case o.Code == nil:
		return o.Message
	case o.Accept != nil:
		return slices.Contains(o.Accept, *o.Code)
	}
	return *o.Code >= 200 && *o.Code <= 299
}

// Meaning returns the meaning of a response, or of a failure. SUCCESS without a rule comes from success (the result of
// an operation, and the given URL), from followed (the document of an operation) and from azure.
func (h HTTP) Meaning(o *status.Observation) status.Meaning {
	m := h.conclusions(o)
	switch isStray := h.isStray(o); {
	case o.Failure != nil:
		failure := status.Plain(o, "")
		if m.Default, m.Only = failure.Default, failure.Only; m.Only != nil {
			m.WhyNotHere = ""
		}
	case o.Code == nil:
		m.Default, m.Reason = verdict(status.Verdict{Reason: noFailure}), noFailure
	case !o.Good() && !(o.Start && o.Next != "" && !isStray):
		m.Default = verdict(h.unsuccessful(o))
	case o.Start:
		m.Default = verdict(h.started(o))
	case o.Doubt != "" && h.Monitor != MonitorResult: // no condition applies to a result
		m.Default = verdict(status.Verdict{Reason: o.Doubt + ": a condition can say that it is the answer"})
	case o.Doubt != "" || h.Missing != "":
		m.Default = verdict(status.Verdict{Reason: cmp.Or(o.Doubt, h.Missing)})
	case isStray:
		m.Holds, m.Default = status.HoldsUnlessRulesSaySuccess, verdict(status.Verdict{Reason: m.Reason + ", " + m.WhyNot})
	case *o.Code == http.StatusAccepted:
		m.Holds, m.Default = status.HoldsUnlessRulesSaySuccess, verdict(notReady(m.Reason))
		if slices.Contains([]Monitor{MonitorLocation, MonitorResult, MonitorSeeOther}, h.Monitor) { // the code means that the operation runs
			m.Holds = status.HoldsRunning
		}
	case h.Monitor == MonitorGiven, h.Monitor == MonitorResult:
		isSilent := *o.Code == http.StatusNoContent && len(o.Body) == 0 // nothing that a rule could read
		m.Holds, m.Default = status.HoldsUnlessRulesSaySuccess, success(m.Reason, h.Monitor == MonitorResult || isSilent)
	default:
		m.Holds, m.Default = status.HoldsUnlessRulesSaySuccess, h.followed(o)
	}
	if h.Monitor == MonitorAzure {
		h.azure(o, &m)
	}
	if h.Redirect != "" {
		m.Default = h.located(m.Default)
	}
	return m
}

// located returns a Default whose reasons name the place to which a redirect led.
func (h HTTP) located(base func() (status.Verdict, *status.Verdict)) func() (status.Verdict, *status.Verdict) {
	add := func(v *status.Verdict) {
		if v != nil && !(strings.Contains(v.Reason, "redirect") && strings.Contains(v.Reason, h.Redirect)) {
			v.Reason += ", after a redirect to " + h.Redirect
		}
	}
	return func() (v status.Verdict, otherwise *status.Verdict) {
		v, otherwise = base()
		add(&v)
		add(otherwise)
		return v, otherwise
	}
}

// conclusions returns the part of the meaning that selects the rules.
func (h HTTP) conclusions(o *status.Observation) status.Meaning {
	m := status.Meaning{Allow: status.AllowSuccess | status.AllowAbsence, Once: o.Start}
	isRefused := h.RefusedForLoad(o)
	if o.Code != nil {
		m.Reason = h.words(*o.Code)
	}
	if h.Redirect != "" {
		m.Where = "after a redirect to " + h.Redirect
	}
	if o.Good() {
		m.Allow |= status.AllowRead
	} else {
		m.Named = []string{"status", "error", "exit"}
	}
	if o.Code == nil {
		m.Allow |= status.AllowText
	} else if !isRefused {
		m.Allow |= status.AllowNotReady
	}
	if h.Due || h.isStray(o) {
		m.Allow &^= status.AllowSuccess
	}
	if !h.Due {
		m.WhyNot = "which says nothing of the URL that was given"
	}
	if h.Moved || h.Monitor != MonitorGiven {
		m.Allow &^= status.AllowAbsence
	}
	if h.Moved && !isRefused {
		m.WhyNotHere = "it redirects to another page, " + h.Redirect
	}
	if o.Start && o.Code != nil && o.Next == "" && !isRefused && !h.Renewed {
		m.DeadEnd, m.Advice = "the start is sent once, and its answer names no URL to follow", h.followAdvice(o)
		if !o.Good() && *o.Code/100 == 2 { // only Accept makes it a response that is not successful
			m.DeadEnd, m.Advice = "the start is sent once", status.Advice{Code: status.AdviceAccept, Text: strconv.Itoa(*o.Code)}
		}
	}
	return m
}

// isStray reports whether a page does not exist, or there is no response, and the page is not the given page: it is
// another page after a redirect, or the created object.
func (h HTTP) isStray(o *status.Observation) bool {
	isAbsent := o.Code != nil && (*o.Code == http.StatusNotFound || *o.Code == http.StatusGone)
	return (isAbsent || o.Failure != nil) && (h.Moved || h.Monitor == MonitorCreated)
}

// success returns SUCCESS for a reason. A doubtful rule for NOT_READY prevents it, unless it is certain.
func success(reason string, isCertain bool) func() (status.Verdict, *status.Verdict) {
	return func() (status.Verdict, *status.Verdict) {
		v := status.Verdict{Status: status.Success, Reason: reason}
		if isCertain {
			return v, &v
		}
		return v, nil
	}
}

// unsuccessful returns the verdict on a status code: RFC 9110 section 15, RFC 6585 section 4 for
// 429, and the custom of sending 503 and 403 with Retry-After.
func (h HTTP) unsuccessful(o *status.Observation) status.Verdict {
	v := status.Verdict{Status: status.Error, Reason: h.words(*o.Code)}
	again := func(why string) status.Verdict { return notReady(v.Reason + why) }
	switch code := *o.Code; {
	case h.ShouldRetry != nil && !*h.ShouldRetry:
		v.Reason += ", and the server says not to ask again"
	case h.RefusedForLoad(o):
		return status.ThrottledFor(v.Reason, o.Hint)
	case code >= 200 && code < 300:
		return again(", which is not accepted")
	case h.ShouldRetry != nil:
		return again(", and the server says to ask again")
	case code == http.StatusNotImplemented, code == http.StatusHTTPVersionNotSupported: // the server cannot do it at all
	case h.Renewed:
		return again(", and the credentials have changed since")
	case code == http.StatusNotFound && h.Fresh && h.Monitor != MonitorGiven:
		return again(", and it may not be there yet")
	case o.Page > 1 && slices.Contains([]int{http.StatusNotFound, http.StatusGone, http.StatusRequestedRangeNotSatisfiable}, code):
		return again(", and the list may have become shorter")
	case code >= 500, code == http.StatusRequestTimeout, code == http.StatusTooEarly, code == http.StatusNotModified:
		return again("")
	case code == http.StatusSwitchingProtocols:
		v.Reason += ", after which no HTTP answer comes"
	case code >= 300 && code < 400:
		v.Reason += ", which was not followed"
		if h.Missing != "" {
			v.Reason += ": " + h.Missing
		}
	}
	return v
}

// started returns the verdict on a successful response to the request that starts the operation.
func (h HTTP) started(o *status.Observation) status.Verdict {
	answered := "the start was answered with " + codeText(*o.Code)
	switch {
	case o.Next != "":
		return notReady("started, now following " + o.Next)
	case h.Missing != "":
		return status.Verdict{Status: status.Error, Reason: answered + ", which poll cannot follow: " + h.Missing}
	}
	return status.Verdict{Status: status.Error, Reason: answered + ": it names no URL to follow, and no condition matches it",
		Advice: h.followAdvice(o)}
}

// followAdvice returns the advice to name the URL to follow, with the URLs in the response.
func (h HTTP) followAdvice(o *status.Observation) status.Advice {
	urls := document.URLs(o.Body, "")
	if o.Header.Get("Location") != "" {
		urls = append(urls, "'$header.Location'")
	}
	if id := document.ID(o.Body); len(urls) == 0 && id != "" {
		urls = append(urls, "'/PATH/{"+id+"}'")
	}
	return status.Advice{Code: status.AdviceFollow, Text: strings.Join(urls[:min(3, len(urls))], " or ")}
}

// RefusedForLoad reports whether the server rejected the request because of load: 429, 503 with a hint or any
// Retry-After, and 403 with a hint, any Retry-After, an exhausted rate limit or GitHub's message about its secondary
// rate limit.
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

// words returns the name of a status code, and the place to which a redirect led.
func (h HTTP) words(code int) string {
	if h.Redirect == "" {
		return codeText(code)
	}
	return codeText(code) + " after a redirect to " + h.Redirect
}

// codeText names a status code: "HTTP 503 Service Unavailable".
func codeText(code int) string {
	return strings.TrimSpace("HTTP " + strconv.Itoa(code) + " " + http.StatusText(code))
}
