//go:build unix

package poll_test

import (
	"context"
	"errors"

	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pollcli/poll/internal/connect"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// slack is a limit for events that take a moment, generous for a busy machine. The stopped programs would
// otherwise last for an hour.
const slack = 5 * time.Minute

// probeFor makes one attempt of c with an attempt timeout. It returns the observation and the duration.
func probeFor(t *testing.T, c poll.Command, timeout time.Duration) (status.Observation, time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), timeout, poll.ErrAttemptTimeout)
	defer cancel()
	began := time.Now()
	obs := c.Check(ctx, poll.Attempt{Number: 1}).Observation
	return obs, time.Since(began)
}

// probeUntilReady probes c, and ends the context with why as soon as c has
// written a line to stderr.
func probeUntilReady(t *testing.T, c poll.Command, why error) (obs status.Observation, took time.Duration) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var ended time.Time
	c.Stderr = writerFunc(func(p []byte) (int, error) {
		if ended.IsZero() {
			ended = time.Now()
			cancel(why)
		}
		return len(p), nil
	})
	obs = c.Check(ctx, poll.Attempt{Number: 1}).Observation
	if ended.IsZero() {
		t.Fatalf("the command was never ready: %+v", obs)
	}
	return obs, time.Since(ended)
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// wantGroupGone checks that the process group which the command has named in
// its first word on stdout has no living member.
func wantGroupGone(t *testing.T, obs status.Observation) {
	t.Helper()
	if left := members(t, firstNumber(t, obs)); len(left) > 0 {
		t.Errorf("have members of the group left: %v", left)
	}
}

func firstNumber(t *testing.T, obs status.Observation) int {
	t.Helper()
	word, _, _ := strings.Cut(string(obs.Body), "\n")
	n, err := strconv.Atoi(word)
	if err != nil {
		t.Fatalf("have %q on stdout, want a number first", obs.Body)
	}
	return n
}

// members returns the processes of a group that have not ended.
func members(t *testing.T, pgid int) (pids []string) {
	t.Helper()
	out, err := exec.Command("ps", "-A", "-o", "pid=,pgid=,stat=").Output()
	if err != nil {
		t.Skip("no ps")
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) == 3 && fields[1] == strconv.Itoa(pgid) && !strings.HasPrefix(fields[2], "Z") {
			pids = append(pids, fields[0])
		}
	}
	return pids
}

func wantStopped(t *testing.T, obs status.Observation, want status.FailureKind) {
	t.Helper()
	if obs.Failure == nil || obs.Failure.Kind != want || obs.Exit != nil || obs.Signal != "" || obs.Good() {
		t.Fatalf("have %+v, want it stopped with kind %v and without an exit code", obs, want)
	}
	if len(obs.Hints) > 0 {
		t.Errorf("have hints %v, want none", obs.Hints)
	}
}

func TestCommandAttemptTimeout(t *testing.T) {
	t.Parallel()
	const limit = 3 * time.Second // the shell starts in less
	obs, took := probeFor(t, shell("echo $$; echo begun >&2; sleep 3600"), limit)
	wantStopped(t, obs, status.FailureTransient)
	// The reason has the time that was left when the attempt started.
	after, _ := strings.CutPrefix(obs.Failure.Reason, "attempt timed out after ")
	if left, err := time.ParseDuration(after); err != nil || left <= 0 || left > limit {
		t.Errorf("have reason %q, want a timeout of %s", obs.Failure.Reason, limit)
	}
	if string(obs.Stderr) != "begun\n" {
		t.Errorf("have stderr %q, want what was written", obs.Stderr)
	}
	if !obs.Truncated || !obs.OutputCut || !obs.StderrOpen {
		t.Errorf("have %+v, want outputs whose end is missing", obs)
	}
	if took < limit || took > slack {
		t.Errorf("took %v", took)
	}
	wantGroupGone(t, obs)
}

func TestCommandBeforeItsStart(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	marker := filepath.Join(t.TempDir(), "marker")
	obs := shell("touch "+marker).Check(ctx, poll.Attempt{Number: 1}).Observation
	wantStopped(t, obs, status.FailureStopped)
	if _, err := os.Stat(marker); err == nil {
		t.Error("the command has run")
	}
}

// All processes that the program has started are stopped with the program. The program may end before these
// processes.
func TestCommandStopsItsGroup(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		script string
		killed bool // nothing less helps
	}{
		{name: "slow", script: `trap 'sleep 0.1; exit' TERM; echo $$; echo >&2; while :; do sleep 0.01; done`},
		{name: "stops itself", script: `echo $$; echo >&2; kill -STOP $$; sleep 3600`},
		{name: "has stopped its group", script: `echo $$; sleep 3600 & echo >&2; kill -STOP 0; sleep 3600`},
		{name: "grandchild ignores TERM, holds the pipe", script: `echo $$; (trap '' TERM; echo >&2; sleep 3600) & wait`, killed: true},
		{name: "grandchild ignores TERM, holds no pipe", script: `echo $$; (trap '' TERM; echo >&2; exec >/dev/null 2>&1; sleep 3600) & wait`, killed: true},
		{name: "great-grandchildren", script: `echo $$; (sh -c 'trap "" TERM; sleep 3600 & sleep 3600 & echo >&2; wait; sleep 3600' & wait) & wait`, killed: true},
		{name: "floods", script: `echo $$; trap '' TERM; echo >&2; while :; do echo xxxxxxxxxxxxxxxxxxxxxxx; done`, killed: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := shell(test.script)
			c.Grace = time.Hour
			if test.killed {
				c.Grace = 250 * time.Millisecond
			}
			why := errors.New("enough")
			obs, took := probeUntilReady(t, c, why)
			wantStopped(t, obs, status.FailureStopped)
			if !errors.Is(obs.Failure.Err, why) {
				t.Errorf("have cause %v, want %v", obs.Failure.Err, why)
			}
			if test.killed && took < c.Grace {
				t.Errorf("took %v, want the grace of %v to pass", took, c.Grace)
			}
			if took > slack {
				t.Errorf("took %v, want at most %v", took, slack)
			}
			wantGroupGone(t, obs)
		})
	}
}

func TestCommandNoGrace(t *testing.T) {
	t.Parallel()
	c := shell(`trap 'echo warned' TERM; echo $$; echo >&2; while :; do sleep 0.01; done`)
	c.Grace = -1
	obs, _ := probeUntilReady(t, c, nil)
	wantStopped(t, obs, status.FailureStopped)
	if strings.Contains(string(obs.Body), "warned") {
		t.Error("the command was warned")
	}
	wantGroupGone(t, obs)

	// The output of the program is read, even if another process holds the pipe.
	c = shell(`sleep 3600 & echo $$; printf '%065000d' 0`)
	c.Grace = -1
	obs, took := probeFor(t, c, time.Hour)
	if obs.Failure != nil || obs.Size < 65000 || took > slack {
		t.Errorf("have %d bytes after %v, failure %v", obs.Size, took, obs.Failure)
	}
	wantGroupGone(t, obs)
}

// Hurry sends SIGTERM once more, and SIGKILL when it is closed.
func TestCommandHurry(t *testing.T) {
	t.Parallel()
	for name, atTheSecond := range map[string]string{"ends at the second": "exit", "ends at none": ":"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hurry := make(chan struct{}, 1)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c := shell(`trap 'n=$((n+1)); echo $n; [ $n = 1 ] || ` + atTheSecond + `' TERM
				echo $$; while :; do echo $n >&2; sleep 0.01; done`)
			c.Grace = time.Hour
			send := sync.OnceFunc(func() { hurry <- struct{}{} })
			end := sync.OnceFunc(func() { close(hurry) })
			c.Stderr = writerFunc(func(p []byte) (int, error) {
				cancel()
				switch {
				case strings.Contains(string(p), "2"):
					end()
				case strings.Contains(string(p), "1"):
					send()
				}
				return len(p), nil
			})
			began := time.Now()
			obs := c.Check(connect.WithCaller(ctx, connect.Caller{Hurry: hurry}), poll.Attempt{Number: 1}).Observation
			wantStopped(t, obs, status.FailureStopped)
			if took := time.Since(began); took > slack || !strings.HasSuffix(string(obs.Body), "\n1\n2\n") {
				t.Errorf("have %q after %v, want SIGTERM twice", obs.Body, took)
			}
			wantGroupGone(t, obs)
		})
	}
}

// A program that has ended has a response, even if another process holds an output. The attempt waits for
// that process until the grace is over, and then stops it. The end of that output is missing.
func TestCommandWithHeldOutputs(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		closed         string // by the process that is left
		stdout, stderr bool   // whether the end is missing
	}{{"", true, true}, {">&-", false, true}, {"2>&-", true, false}} {
		c := shell("echo $$; (trap '' TERM; sleep 3600; echo late) " + test.closed + " & exit 0")
		c.Grace = 200 * time.Millisecond
		obs, took := probeFor(t, c, time.Hour)
		if !obs.Good() || took < c.Grace || took > slack {
			t.Errorf("have failure %v after %v, want a successful response after %v", obs.Failure, took, c.Grace)
		}
		if obs.Truncated != test.stdout || obs.StdoutOpen != test.stdout || obs.StderrOpen != test.stderr || test.stderr && !obs.OutputCut {
			t.Errorf("%q: have %+v", test.closed, obs)
		}
		if want := status.Notes("a process that sh left running held its output, and was ended"); !slices.Equal(obs.Hints, want) {
			t.Errorf("have hints %v, want %v", obs.Hints, want)
		}
		wantGroupGone(t, obs)
	}

	// A process that ends within the grace has its output read.
	c := shell("(sleep 0.1; echo late) & echo early")
	c.Grace = time.Hour
	obs, took := probeFor(t, c, time.Hour)
	if string(obs.Body) != "early\nlate\n" || obs.Truncated || took >= c.Grace {
		t.Errorf("have %q after %v, want both lines", obs.Body, took)
	}
}
