package report

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// instead returns what could be written to go on after an answer that by itself
// is an error, if anything.
func instead(o *poll.Outcome) []string {
	obs := o.Observation
	switch {
	case errors.Is(o.Err(), poll.ErrUntrusted):
		return []string{"to follow it all the same, with credentials and body: --location-trusted"}
	case obs.Code == nil, obs.Monitor == status.Result: // no condition is about the result
		return nil
	case obs.Start && comesLater(*obs.Code):
		return []string{fmt.Sprintf("a start is sent once; where it does no harm, this sends it until it is accepted: "+
			"--follow none --not-ready-if '$status==%d' --until '$status<300'", *obs.Code)}
	case obs.Start && isMoved(*obs.Code):
		return []string{"to look where it leads: --follow '$header.Location'"}
	case comesLater(*obs.Code):
		return []string{fmt.Sprintf("to keep waiting while it answers so: --not-ready-if '$status==%d'", *obs.Code)}
	}
	return nil
}

// comesLater reports whether an HTTP error is what a thing that does not exist
// yet, or is still locked, answers.
func comesLater(code int) bool {
	return code == http.StatusNotFound || code == http.StatusConflict || code == http.StatusLocked
}

func isMoved(code int) bool {
	return code == http.StatusMovedPermanently || code == http.StatusFound
}
