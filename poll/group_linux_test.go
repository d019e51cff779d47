package poll

import (
	"context"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestOnlyZombies(t *testing.T) {
	t.Parallel()
	alive := startGroup(t, "sleep", "60")
	if onlyZombies(alive.Process.Pid) {
		t.Error("alive: have true, want false")
	}
	dead := startGroup(t, "true") // and not reaped
	if err := unix.Waitid(unix.P_PID, dead.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	if !onlyZombies(dead.Process.Pid) {
		t.Error("a zombie: have false, want true")
	}
}

func TestChildEnded(t *testing.T) {
	t.Parallel()
	alive := startGroup(t, "sleep", "60")
	if (&child{pid: alive.Process.Pid}).ended() {
		t.Error("alive: have true, want false")
	}
	dead := startGroup(t, "true")
	if err := unix.Waitid(unix.P_PID, dead.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	if !(&child{pid: dead.Process.Pid}).ended() {
		t.Error("not reaped: have false, want true")
	}
	dead.Wait()
	if !(&child{pid: dead.Process.Pid}).ended() {
		t.Error("reaped: have false, want true")
	}
}

// Where poll is process 1, or a subreaper as here, the orphans of a group become
// its own children and stay in the group until it has reaped them.
//
// Not parallel: the orphans of all tests become this process's.
func TestCommandReapsItsOrphans(t *testing.T) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Skip(err)
	}
	defer unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	c := Command{Args: []string{"sh", "-c", "sleep 60 & sleep 60 & sleep 60"}, Grace: time.Minute}
	began := time.Now()
	obs := c.Probe(ctx, Attempt{Number: 1})
	if took := time.Since(began); took > 10*time.Second || len(obs.Remarks) > 0 {
		t.Errorf("took %v, remarks %q", took, obs.Remarks)
	}
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
		if err != nil || info.Signo == 0 {
			break
		}
		t.Fatal("have a zombie left, want none")
	}
}
