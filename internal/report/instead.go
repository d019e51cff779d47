package report

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// instead returns what could be written to go on after an answer that by itself
// is an error, if anything.
func instead(o *poll.Outcome) []string {
	obs := o.Observation
	switch {
	case errors.Is(o.Err(), poll.ErrUntrusted), obs.Following.Untrusted:
		return []string{"to follow it all the same, with credentials and body: --location-trusted"}
	case obs.Code == nil, obs.Following.Monitor == status.MonitorResult: // no condition is about the result
		return nil
	case obs.Following.Start && comesLater(*obs.Code):
		again := fmt.Sprintf("--follow none --not-ready-if '$status==%d'", *obs.Code)
		if waitsFor(o.Verdict) { // being accepted is not enough, and any one condition is
			return []string{"a start is sent once; where it does no harm, this sends it until it is done: " + again}
		}
		return []string{"a start is sent once; where it does no harm, this sends it until it is accepted: " +
			again + " --until '$status<300'"}
	case obs.Following.Start && isMoved(*obs.Code):
		return []string{"to look where it leads: --follow '$header.Location'"}
	case comesLater(*obs.Code):
		return []string{fmt.Sprintf("to keep waiting while it answers so: --not-ready-if '$status==%d'", *obs.Code)}
	}
	return nil
}

// waitsFor reports whether rules say what SUCCESS is.
func waitsFor(v status.Verdict) bool {
	return slices.ContainsFunc(v.Answers, func(a status.Answer) bool { return a.Rule.Status == status.Success })
}

// adviceWords says how poll's flags do what an advice is about, "" for none.
func adviceWords(a status.Advice) string {
	switch a.Code {
	case status.AdviceTrust:
		return "to trust it: --cacert names another authority, -k turns the check off"
	case status.AdviceTerminal:
		return "to let it have the terminal: --foreground"
	case status.AdviceFollow:
		return "to say where to look: --follow EXPR; to repeat the request each attempt: --follow none"
	case status.AdviceFinalStates:
		return fmt.Sprintf("to say which state is the end: --until '%s==\"...\"'", a.Path)
	}
	return ""
}

// comesLater reports whether an HTTP error is what a thing that does not exist
// yet, or is still locked, answers.
func comesLater(code int) bool {
	return code == http.StatusNotFound || code == http.StatusConflict || code == http.StatusLocked
}

func isMoved(code int) bool {
	return code == http.StatusMovedPermanently || code == http.StatusFound
}
