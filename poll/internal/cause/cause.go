// Package cause says why an attempt was ended before it had an answer.
package cause

import (
	"context"
	"errors"

	"github.com/pollcli/poll/status"
)

// The causes with which a run ends the context of an attempt.
var (
	ErrAttemptTimeout = errors.New("attempt timed out")
	ErrDeadline       = errors.New("deadline reached")
)

// Stopped is the failure of an attempt whose ctx the run or its caller ended.
func Stopped(ctx context.Context) *status.Failure {
	reason := "stopped before there was an answer"
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		reason = "the last attempt had no answer by then"
	}
	return &status.Failure{Kind: status.FailureStopped, Reason: reason, Err: context.Cause(ctx)}
}
