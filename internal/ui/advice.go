package ui

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// advice returns the notes and hints to print when a wait has ended with the outcome o. The hints include flags that
// would have made the wait continue or led to a result.
func advice(o *poll.Outcome) []string {
	if isNeverSeen(o) {
		return []string{"hint: the name of an element is the value of --id, or else its .id, .name or .metadata.name"}
	}
	list := hintLines("note: ", o.Verdict.Reason, o.Hints)
	if o.Observation == nil || o.Ending == poll.Succeeded {
		return list
	}
	if s := instead(o); s != "" {
		list = append(list, s)
	}
	if o.Observation.Truncated && strings.Contains(fmt.Sprint(o.Reason, o.Hints), "longer than the ") { // a reason or hint about a response that was cut
		list = append(list, "to keep more of the response: --max-body SIZE")
	}
	if seen := o.Observation; seen.Exit != nil && (seen.StdoutOpen || seen.StderrOpen) {
		list = append(list, "to let the output end: redirect the output of the process that the command leaves running (>/dev/null 2>&1)")
	}
	return list
}

// hintLines returns a line for each hint about a verdict with the given reason: first notes, each with the given prefix,
// then corrections, then remedies. It leaves out a correction that is part of the reason. If kinds are given, it leaves
// out all other kinds.
func hintLines(prefix, reason string, hints []status.Hint, kinds ...status.HintKind) (lines []string) {
	hints = slices.Clone(hints)
	slices.SortStableFunc(hints, func(a, b status.Hint) int { return cmp.Compare(a.Kind, b.Kind) })
	for _, h := range hints {
		isRepeated := h.Kind == status.HintCorrection && strings.Contains(reason, h.Text)
		if !isRepeated && (len(kinds) == 0 || slices.Contains(kinds, h.Kind)) {
			lines = append(lines, oneLine(hintText(prefix, h)))
		}
	}
	return lines
}

// corrections returns a line for each hint of v that suggests another rule or a value of --next. It leaves out a
// correction that is part of v.Reason.
func corrections(v status.Verdict) []string {
	return hintLines("", v.Reason, v.Hints, status.HintCorrection, status.HintNext)
}

// instead returns flags that would continue the wait after an error response, unless a rule of the user has
// matched the response. It returns "" if no flags apply. Expressions are quoted for a shell.
func instead(o *poll.Outcome) string {
	obs := o.Observation
	isUntrusted := slices.Contains(o.Hints, status.Hint{Kind: status.HintUntrusted})
	if o.Ending != poll.Failed || o.Verdict.Rule != "" || isUntrusted || obs.Code == nil || obs.Good() || obs.Result { // conditions do not apply to the result of the operation
		return ""
	}
	code, again := *obs.Code, fmt.Sprintf("--not-ready-if '$status==%d'", *obs.Code)
	switch isLater := slices.Contains([]int{http.StatusNotFound, http.StatusConflict, http.StatusLocked}, code); {
	case obs.Start && isLater: // the resource may not exist yet, or may still be locked
		end := "done: --follow none " + again
		if !o.Verdict.ReachedSuccessRule { // no rule for SUCCESS was evaluated, so the flags must include a condition
			end = "accepted: --follow none " + again + " --until '$status<300'"
		}
		return "a start request is sent once; if repeating it does no harm, this sends it until it is " + end
	case obs.Start && (code == http.StatusMovedPermanently || code == http.StatusFound):
		return "to follow the redirect: --follow '$header.Location'"
	case !obs.Start && code >= 400 && code != http.StatusUnauthorized && code != http.StatusProxyAuthRequired:
		return "to keep waiting on this response: " + again
	}
	return ""
}

// hintText returns the text of a hint. A note has the given prefix.
func hintText(prefix string, h status.Hint) string {
	return map[status.HintKind]string{
		status.HintNote:        prefix + h.Text,
		status.HintCorrection:  "hint: " + h.Text,
		status.HintTrust:       "to trust it: --cacert FILE names another authority, -k accepts any certificate",
		status.HintFollow:      "to name the URL to check: --follow " + cmp.Or(h.Text, "EXPR") + "; to repeat the request in each attempt: --follow none",
		status.HintNext:        "hint: --next EXPR reads its URL, --next '?NAME={EXPR}' a parameter; --next none if this page is all",
		status.HintKey:         "to name the elements otherwise: --id EXPR, which may be repeated",
		status.HintFinalStates: "to name the final state: --until '" + h.Text + "'",
		status.HintEach:        "to read all pages, and wait for each element: --each EXPR, such as --each .items",
		status.HintExpect:      "to give the number of elements that are enough: --expect N",
		status.HintHeld:        "the server is asked to hold the response: --attempt-timeout has to be longer than that",
		status.HintAccept:      "to follow such a response: add " + h.Text + " to the codes of --accept",
		status.HintDone:        `to describe the end of the operation: --until EXPR, such as --until '.state == "done"'`,
		status.HintOffered:     "to request that URL from now on: --follow '$header." + h.Text + "'",
		status.HintUntrusted:   "to follow it anyway, with credentials and body: --location-trusted",
	}[h.Kind]
}
