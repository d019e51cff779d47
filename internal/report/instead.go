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
	case errors.Is(o.Err(), poll.ErrUntrusted), obs.Untrusted:
		return []string{"to follow it all the same, with credentials and body: --location-trusted"}
	case obs.Code == nil, obs.Monitor == status.Result: // no condition is about the result
		return nil
	case obs.Start && comesLater(*obs.Code):
		again := fmt.Sprintf("--follow none --not-ready-if '$status==%d'", *obs.Code)
		if waitsFor(o.Verdict) { // being accepted is not enough, and any one condition is
			return []string{"a start is sent once; where it does no harm, this sends it until it is done: " + again}
		}
		return []string{"a start is sent once; where it does no harm, this sends it until it is accepted: " +
			again + " --until '$status<300'"}
	case obs.Start && isMoved(*obs.Code):
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

// comesLater reports whether an HTTP error is what a thing that does not exist
// yet, or is still locked, answers.
func comesLater(code int) bool {
	return code == http.StatusNotFound || code == http.StatusConflict || code == http.StatusLocked
}

func isMoved(code int) bool {
	return code == http.StatusMovedPermanently || code == http.StatusFound
}
