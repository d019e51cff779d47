package poll

import (
	"context"
	"errors"

	"github.com/pollcli/poll/status"
)

// The causes with which a run ends the context of an attempt; a probe tells
// them apart by [context.Cause]. Any other cause comes from the caller's context.
var (
	// ErrAttemptTimeout ends an attempt that took longer than one may.
	ErrAttemptTimeout = errors.New("attempt timed out")
	// ErrDeadline ends the attempt that is under way when Timeout is over.
	ErrDeadline = errors.New("deadline reached")
)

// stopped is the failure of an attempt whose ctx the run or its caller ended.
func stopped(ctx context.Context) *status.Failure {
	reason := "stopped before there was an answer"
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		reason = "the last attempt had no answer by then"
	}
	return &status.Failure{Kind: status.FailureStopped, Reason: reason, Err: context.Cause(ctx)}
}
