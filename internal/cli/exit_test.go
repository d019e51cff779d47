package cli

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/report"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

func TestOutcomeCode(t *testing.T) {
	t.Parallel()
	failure := func(kind status.FailureKind) *status.Observation {
		return &status.Observation{Failure: &status.Failure{Kind: kind}}
	}
	for _, test := range []struct {
		name    string
		outcome poll.Outcome
		want    ExitCode
	}{
		{"success", poll.Outcome{Ending: poll.Succeeded}, 0},
		{"error", poll.Outcome{Ending: poll.Failed}, 1},
		{"attempts", poll.Outcome{Ending: poll.AttemptsExhausted}, 3},
		{"throttled", poll.Outcome{Ending: poll.HintTooLong}, 4},
		{"timeout", poll.Outcome{Ending: poll.TimedOut}, 124},
		{"not executable", poll.Outcome{Ending: poll.CannotRun, Observation: failure(status.FailureNotExecutable)}, 126},
		{"not found", poll.Outcome{Ending: poll.CannotRun, Observation: failure(status.FailureNotFound)}, 127},
		{"signal", poll.Outcome{Ending: poll.Interrupted, Cause: &SignalError{syscall.SIGTERM}}, 143},
		{"interrupted by nobody", poll.Outcome{Ending: poll.Interrupted, Cause: errors.New("gone")}, 125},
	} {
		if have := outcomeCode(test.outcome); have != test.want {
			t.Errorf("%s: have %d, want %d", test.name, have, test.want)
		}
	}
}

func TestExitCode(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err  error
		want ExitCode
	}{
		{nil, 0},
		{argv.Usagef("no such flag"), 2},
		{fmt.Errorf("in a wait: %w", argv.Usagef("no such flag")), 2},
		{&report.ResultError{Err: errors.New("full")}, 125},
		{&exitError{code: 3}, 3},
		{&SignalError{syscall.SIGINT}, 130},
		{errors.New("anything else"), 125},
		// When several hold, the signal is first.
		{errors.Join(&report.ResultError{Err: errors.New("full")}, &SignalError{syscall.SIGHUP}), 129},
	} {
		if have := exitCode(test.err); have != test.want {
			t.Errorf("%v: have %d, want %d", test.err, have, test.want)
		}
	}
}

func TestPassedCode(t *testing.T) {
	t.Parallel()
	exited := func(code int) *status.Observation { return &status.Observation{Exit: &code} }
	for _, test := range []struct {
		name    string
		code    ExitCode
		outcome poll.Outcome
		want    ExitCode
	}{
		{"the command's", 3, poll.Outcome{Ending: poll.AttemptsExhausted, Observation: exited(7)}, 7},
		{"never 0", 3, poll.Outcome{Ending: poll.AttemptsExhausted, Observation: exited(0)}, 3},
		{"success stays", 0, poll.Outcome{Ending: poll.Succeeded, Observation: exited(7)}, 0},
		{"a signal comes first", 143, poll.Outcome{Ending: poll.Interrupted, Observation: exited(7)}, 143},
		{"nothing seen", 124, poll.Outcome{Ending: poll.TimedOut}, 124},
		{"no command", 124, poll.Outcome{Ending: poll.TimedOut, Observation: &status.Observation{}}, 124},
	} {
		if have := passedCode(test.code, test.outcome); have != test.want {
			t.Errorf("%s: have %d, want %d", test.name, have, test.want)
		}
	}
}
