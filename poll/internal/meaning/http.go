package meaning

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// Meaning returns the meaning of a response or a failure. A SUCCESS without a matching rule can only come from three
// functions: success, for the user's URL and for results; followedVerdict, for the documents of operations; and azure.
func (h HTTP) Meaning(o *status.Observation) status.Meaning {
	m := h.conclusions(o)
	switch isStray := h.isStray(o); {
	case o.Failure != nil:
		failure := plain(o, "")
		if m.Default, m.Only = failure.Default, failure.Only; m.Only != nil {
			m.WhyNotHere = ""
		}
	case o.Code == nil:
		m.Default, m.Reason = status.Always(status.Verdict{Reason: noFailure}), noFailure
	case !o.Good() && !(o.Start && o.Next != "" && !isStray):
		m.Default = status.Always(h.unsuccessfulVerdict(o))
	case o.Start:
		m.Default = status.Always(h.startVerdict(o))
	case o.Doubt != "" && h.Monitor != MonitorResult: // the user's conditions are not meant for the result of an operation
		m.Default = status.Always(status.Verdict{Reason: o.Doubt + ": a condition can accept this response"})
	case o.Doubt != "" || h.Missing != "":
		m.Default = status.Always(status.Verdict{Reason: cmp.Or(o.Doubt, h.Missing)})
	case isStray:
		m.Holds, m.Default = status.HoldsUnlessRulesSaySuccess, status.Always(status.Verdict{Reason: m.Reason + ", " + m.WhyNot})
	case *o.Code == http.StatusAccepted:
		m.Holds, m.Default = status.HoldsUnlessRulesSaySuccess, status.Always(notReady(m.Reason))
		if slices.Contains([]Monitor{MonitorLocation, MonitorResult, MonitorSeeOther}, h.Monitor) { // from these URLs, a 202 means that the operation is still running
			m.Holds = status.HoldsRunning
		}
	case h.Monitor == MonitorGiven, h.Monitor == MonitorResult:
		isSilent := *o.Code == http.StatusNoContent && len(o.Body) == 0 // no body that a rule could read
		m.Holds, m.Default = status.HoldsUnlessRulesSaySuccess, success(m.Reason)
		m.Certain = h.Monitor == MonitorResult || isSilent
	default:
		m.Holds, m.Certain = status.HoldsUnlessRulesSaySuccess, true
		m.Default = func(isNamed bool) status.Verdict { return h.followedVerdict(o, ReportOf(o), isNamed) }
	}
	if h.Monitor == MonitorAzure {
		h.azure(o, &m)
	}
	if base := m.Default; h.Redirect != "" {
		m.Default = func(isNamed bool) status.Verdict {
			v := base(isNamed)
			if !(strings.Contains(v.Reason, "redirect") && strings.Contains(v.Reason, h.Redirect)) {
				v.Reason += ", " + m.Where
			}
			return v
		}
	}
	return m
}

// conclusions returns the part of the meaning of o that concerns the rules. Its fields determine which rules may decide,
// which conclusions these rules may draw, and how the reason of a verdict explains these limits. Its DeadEnd reports
// whether another attempt is possible. The fields Default, Holds and Certain are zero.
func (h HTTP) conclusions(o *status.Observation) status.Meaning {
	m := status.Meaning{Allow: status.AllowSuccess | status.AllowAbsence, NextPage: nextPage(o), Once: o.Start}
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
		m.WhyNot = "which is not about the given URL"
	}
	if h.Moved || h.Monitor != MonitorGiven {
		m.Allow &^= status.AllowAbsence
	}
	if h.Moved && !isRefused {
		m.WhyNotHere = "it redirects to another page, " + h.Redirect
	}
	if o.Start && o.Code != nil && o.Next == "" && !isRefused && !h.Renewed {
		m.DeadEnd, m.Hints = "the start request is sent once, and its response names no URL to follow", h.followHints(o)
		if !o.Good() && *o.Code/100 == 2 { // a 2xx is unsuccessful only because o.Accept does not list it
			m.DeadEnd, m.Hints = "the start request is sent once", []status.Hint{{Kind: status.HintAccept, Text: strconv.Itoa(*o.Code)}}
		}
	}
	return m
}

// unsuccessfulVerdict returns the verdict for a response that is not successful. An explicit request by the
// server takes precedence: to retry, not to retry, or to send fewer requests. Otherwise the status code
// determines the verdict, following RFC 9110 section 15, RFC 6585 section 4 for 429, and the custom of sending
// a 503 or 403 with Retry-After.
func (h HTTP) unsuccessfulVerdict(o *status.Observation) status.Verdict {
	v := status.Verdict{Status: status.Error, Reason: h.words(*o.Code)}
	again := func(why string) status.Verdict { return notReady(v.Reason + why) }
	switch code := *o.Code; {
	case h.ShouldRetry != nil && !*h.ShouldRetry:
		v.Reason += ", and the server asks not to retry"
	case h.RefusedForLoad(o):
		return throttled(v.Reason, o.RetryAfter)
	case code >= 200 && code < 300:
		return again(", which is not accepted")
	case h.ShouldRetry != nil:
		return again(", and the server asks to retry")
	case code == http.StatusNotImplemented, code == http.StatusHTTPVersionNotSupported: // ERROR, because the server will never be able to handle the request
	case h.Renewed:
		return again(", and the credentials have changed since")
	case code == http.StatusNotFound && h.Fresh && h.Monitor != MonitorGiven:
		return again(", and the URL may not exist yet")
	case o.Page > 1 && slices.Contains([]int{http.StatusNotFound, http.StatusGone, http.StatusRequestedRangeNotSatisfiable}, code):
		return again(", and the list may have become shorter")
	case code >= 500, code == http.StatusRequestTimeout, code == http.StatusTooEarly, code == http.StatusNotModified:
		return again("")
	case code == http.StatusSwitchingProtocols:
		v.Reason += ", after which no HTTP response comes"
	case code >= 300 && code < 400:
		v.Reason += ", which was not followed"
		if h.Missing != "" {
			v.Reason += ": " + h.Missing
		}
	}
	return v
}

// startVerdict returns the verdict for a successful response to the start request: NOT_READY if the response names a
// URL to follow, otherwise ERROR.
func (h HTTP) startVerdict(o *status.Observation) status.Verdict {
	answered := "the response to the start request is " + codeText(*o.Code)
	switch {
	case o.Next != "":
		return notReady("started, now following " + o.Next)
	case h.Missing != "":
		return status.Verdict{Status: status.Error, Reason: answered + ", which poll cannot follow: " + h.Missing}
	}
	return status.Verdict{Status: status.Error, Reason: answered + ", names no URL to follow, and matches no condition",
		Hints: h.followHints(o)}
}

// followHints returns the hint to set --follow. It suggests up to three members or header fields of the response
// that hold a URL. Without such a member or field, it suggests a path that contains the identifier of the operation.
func (h HTTP) followHints(o *status.Observation) []status.Hint {
	document := expr.NewDoc(o.Body).Last()
	urls := urlsIn(document, "")
	if o.Header.Get("Location") != "" {
		urls = append(urls, "'$header.Location'")
	}
	if id := idIn(document); len(urls) == 0 && id != "" {
		urls = append(urls, "'/PATH/{"+id+"}'")
	}
	return []status.Hint{{Kind: status.HintFollow, Text: strings.Join(urls[:min(3, len(urls))], " or ")}}
}
