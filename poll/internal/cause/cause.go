// Package cause says why an attempt was ended from outside, before it had an answer.
package cause

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/pollcli/poll/status"
)

// The causes with which a run ends the context of an attempt.
var (
	ErrAttemptTimeout = errors.New("attempt timed out")
	ErrDeadline       = errors.New("deadline reached")
)

// Failure returns the failure of an attempt whose ctx is done. An attempt that took too
// long is NOT_READY for the reason timedOut; one that the run or its caller ended decides
// nothing.
func Failure(ctx context.Context, timedOut string) *status.Failure {
	f := &status.Failure{Kind: status.FailureStopped, Reason: "stopped before there was an answer", Err: context.Cause(ctx)}
	switch {
	case errors.Is(f.Err, ErrAttemptTimeout):
		f.Kind, f.Class, f.Reason = status.FailureTransient, status.FailureTimeout, timedOut
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		f.Reason = "the last attempt had no answer by then"
	}
	return f
}

// Short formats a duration with the two or three digits a reason needs: "85ms", "2.5s",
// "1m30s".
func Short(d time.Duration) string {
	digit := time.Second
	switch {
	case d < time.Second:
		digit = time.Millisecond
	case d < 10*time.Second:
		digit = 100 * time.Millisecond
	}
	text := d.Round(digit).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}
