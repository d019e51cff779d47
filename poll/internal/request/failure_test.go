package request

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pollcli/poll/poll/internal/cause"
	"github.com/pollcli/poll/status"
)

func TestCutOff(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		why     error
		timeout bool
		unsent  bool
		kind    status.FailureKind
		reason  string
	}{
		{cause.ErrAttemptTimeout, true, false, status.FailureTransient, "timed out after 12s"},
		{cause.ErrAttemptTimeout, true, true, status.FailureTransient, "timed out after 12s without a connection"},
		{cause.ErrDeadline, true, false, status.FailureStopped, "the last attempt had no answer by then"},
		{errors.New("SIGTERM"), false, false, status.FailureStopped, "stopped before there was an answer"},
	} {
		ctx, stop := context.WithCancelCause(t.Context())
		if test.timeout {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeoutCause(ctx, 0, test.why)
			defer cancel()
		}
		stop(test.why)
		have := cutOff(ctx, test.unsent, 12345*time.Millisecond)
		if have.Kind != test.kind || have.Reason != test.reason || !errors.Is(have, test.why) {
			t.Errorf("%v: have %v %q", test.why, have.Kind, have.Reason)
		}
	}
}
