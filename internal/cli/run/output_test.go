package run

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pollcli/poll/internal/system"
	"github.com/pollcli/poll/internal/ui"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// If a value is not evaluated in time, the wait ends by the deadline or signal, not as an ERROR.
func TestPrinted_givenUp(t *testing.T) {
	t.Parallel()
	const whole = "all(.a[]; .s == 0)"
	e, err := expr.CompileValue(strings.Repeat(whole+" and ", 9) + whole)
	if err != nil {
		t.Fatal(err)
	}
	o := &status.Observation{Kind: status.KindCommand, Exit: new(int),
		Body: []byte(`{"a":[` + strings.Repeat(`{"s":0},`, 1_000_000) + `{"s":0}]}`)}
	for cause, want := range map[error]poll.Ending{
		&system.SignalError{Signal: syscall.SIGTERM}: poll.Interrupted,
		&timeoutError{time.Second}:                   poll.TimedOut,
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		_, err := printed(ctx, e, o)
		if given, ok := errors.AsType[*ui.GivenUp](err); !ok || given.Ending != want || !errors.Is(err, cause) && !errors.Is(given.Cause, cause) {
			t.Errorf("%v: have %v, want %v", cause, err, want)
		}
		out := ui.Output{Print: []func(*status.Observation) (ui.Value, error){
			func(o *status.Observation) (ui.Value, error) { return printed(ctx, e, o) },
		}}
		result := out.Evaluate(poll.Outcome{Ending: poll.Succeeded, Status: status.Success, Observation: o})
		if have := outcomeCode(result.Outcome); result.Outcome.Status != status.NotReady || have == ExitError || have == ExitSuccess {
			t.Errorf("%v: have %v, exit code %d", cause, result.Outcome.Status, have)
		}
	}
}
