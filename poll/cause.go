package poll

import (
	"errors"

	"github.com/pollcli/poll/status"
)

// The causes with which a run ends the context of an attempt; a probe tells
// them apart by [context.Cause]. Any other cause comes from the caller.
var (
	// ErrAttemptTimeout ends an attempt that took longer than one may.
	ErrAttemptTimeout = errors.New("attempt timed out")
	// ErrDeadline ends the attempt that is under way at the run's deadline.
	ErrDeadline = errors.New("deadline reached")
)

// stoppedBy is the failure of an attempt that was ended from outside.
func stoppedBy(cause error) *status.Failure {
	reason := "stopped before there was an answer"
	if errors.Is(cause, ErrDeadline) {
		reason = "the last attempt had no answer by then"
	}
	return &status.Failure{Kind: status.Stopped, Reason: reason, Err: cause}
}
