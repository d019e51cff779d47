package meaning

import (
	"context"
	"errors"

	"github.com/pollcli/poll/status"
)

// The causes of the contexts of attempts that a run ends.
var (
	ErrAttemptTimeout = errors.New("attempt timed out")
	ErrDeadline       = errors.New("deadline reached")
)

// Stopped returns the failure of an attempt whose ctx is done. An attempt timeout is a transient failure with
// the reason timedOut. An attempt that the run or its caller ended has no verdict of its own.
func Stopped(ctx context.Context, timedOut string) *status.Failure {
	f := &status.Failure{Kind: status.FailureStopped, Reason: "stopped before there was an answer", Err: context.Cause(ctx)}
	switch {
	case errors.Is(f.Err, ErrAttemptTimeout):
		f.Kind, f.Class, f.Reason = status.FailureTransient, status.ClassTimeout, timedOut
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		f.Reason = "the last attempt was still running"
	}
	return f
}
