package ui

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// advice returns the notes and hints to print when a wait has ended with the outcome o. They include flags that
// would have continued the wait, or that would have led to a result.
func advice(o *poll.Outcome) []string {
	if isNeverSeen(o) {
		return []string{"hint: the name of an element is the value of --id, or else its .id, .name or .metadata.name"}
	}
	list := grounds(o, "note: ")
	if o.Observation == nil || o.Ending == poll.Succeeded {
		return list
	}
	if s := instead(o); s != "" {
		list = append(list, s)
	}
	if given := o.Observation.Advice; given.Code == status.AdviceOffered {
		list = append(list, "to request that URL from now on: --follow '$header."+given.Text+"'")
	}
	if o.Observation.Truncated && strings.Contains(fmt.Sprint(o.Reason, o.Notes), "longer than the ") { // a reason or note on a response that was cut
		list = append(list, "to keep more of the response: --max-body SIZE")
	}
	if seen := o.Observation; seen.Exit != nil && (seen.StdoutOpen || seen.StderrOpen) {
		list = append(list, "to let the output end: redirect the output of the process that the command leaves running (>/dev/null 2>&1)")
	}
	return list
}

// grounds returns the notes on an outcome, each with the given prefix, followed by the hints.
func grounds(o *poll.Outcome, prefix string) []string {
	list := append(oneLines(prefix, o.Verdict.Notes, o.Notes), hints(o.Verdict)...)
	if s := remedy(o.Verdict.Advice); s != "" && o.Verdict.Advice.Code != status.AdviceNext { // hints already include the advice on --next
		list = append(list, s)
	}
	return list
}

// hints returns the hints of a verdict. It omits a hint that is part of the verdict's reason.
func hints(v status.Verdict) []string {
	isInReason := func(hint string) bool { return strings.Contains(v.Reason, hint) }
	list := slices.DeleteFunc(slices.Clone(v.Hints), isInReason)
	if v.Advice.Code == status.AdviceNext {
		list = append(list, remedy(v.Advice))
	}
	return oneLines("hint: ", list)
}

// instead returns flags that would continue the wait after an error response, unless a rule of the user has
// matched the response. It returns "" if no flags apply. Expressions are quoted for a shell.
func instead(o *poll.Outcome) string {
	obs := o.Observation
	switch {
	case o.Ending != poll.Failed || o.Verdict.Rule != "":
		return ""
	case errors.Is(o.Err(), poll.ErrUntrusted), obs.Advice.Code == status.AdviceUntrusted:
		return "to follow it anyway, with credentials and body: --location-trusted"
	case obs.Code == nil, obs.Good(), obs.Result: // conditions do not apply to the result of the operation
		return ""
	}
	code, starts := *obs.Code, obs.Start
	// With these codes, the resource may not exist yet, or may still be locked.
	later := code == http.StatusNotFound || code == http.StatusConflict || code == http.StatusLocked
	switch {
	case starts && later:
		end, again := "accepted", fmt.Sprintf("--follow none --not-ready-if '$status==%d'", code)
		if o.Verdict.ReachedSuccessRule {
			end = "done"
		} else { // so far, no condition would turn an accepted request into SUCCESS
			again += " --until '$status<300'"
		}
		return "a start request is sent once; if repeating it does no harm, this sends it until it is " + end + ": " + again
	case starts && (code == http.StatusMovedPermanently || code == http.StatusFound):
		return "to follow the redirect: --follow '$header.Location'"
	case !starts && code >= 400 && code != http.StatusUnauthorized && code != http.StatusProxyAuthRequired:
		return fmt.Sprintf("to keep waiting on this response: --not-ready-if '$status==%d'", code)
	}
	return ""
}

// remedy returns the flags that a verdict's advice suggests, with an explanation. It returns "" if the advice
// suggests no flags.
func remedy(a status.Advice) string {
	text := map[status.AdviceCode]string{
		status.AdviceTrust:       "to trust it: --cacert FILE names another authority, -k accepts any certificate",
		status.AdviceFollow:      "to name the URL to check: --follow " + cmp.Or(a.Text, "EXPR") + "; to repeat the request in each attempt: --follow none",
		status.AdviceNext:        "--next EXPR reads its URL, --next '?NAME={EXPR}' a parameter; --next none if this page is all",
		status.AdviceKey:         "to name the elements otherwise: --id EXPR, which may be repeated",
		status.AdviceFinalStates: "to name the final state: --until '" + a.Text + "'",
		status.AdviceEach:        "to read all pages, and wait for each element: --each EXPR, such as --each .items",
		status.AdviceExpect:      "to give the number of elements that are enough: --expect N",
		status.AdviceHeld:        "the server is asked to hold the response: --attempt-timeout has to be longer than that",
		status.AdviceAccept:      "to follow such a response: add " + a.Text + " to the codes of --accept",
		status.AdviceDone:        `to describe the end of the operation: --until EXPR, such as --until '.state == "done"'`,
	}
	return text[a.Code]
}
