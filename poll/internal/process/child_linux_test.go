package process

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pollcli/poll/internal/connect"
)

// becomeSubreaper makes this process the parent of the orphans among its descendants.
func becomeSubreaper(t *testing.T) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) })
}

// unreaped reaps the children of this process, and returns their number. Some of the children may end during the call.
func unreaped() (n int) {
	for limit := time.Now().Add(10 * time.Second); time.Now().Before(limit); {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		if err != nil {
			break
		}
		if pid > 0 {
			n++
		}
	}
	return n
}

// The processes that attempts leave are reaped, and every attempt has its own exit code.
//
// Not parallel: every child of this process is reaped.
func TestCommandReapOrphans(t *testing.T) {
	becomeSubreaper(t)
	// The shell waits until the orphans have closed their output, which they do when they end.
	script := `for i in 1 2 3; do ended=$(true & setsid true &); done; exit $POLL_ATTEMPT`
	session := NewSession(Command{Args: []string{"sh", "-c", script}})
	ctx := connect.WithCaller(t.Context(), connect.Caller{ReapOrphans: true})
	for n := 1; n <= 30; n++ {
		if obs := session.Run(ctx, nil, n, fmt.Sprint("POLL_ATTEMPT=", n)); obs.Exit == nil || *obs.Exit != n {
			t.Fatalf("have %+v, want exit %d", obs, n)
		}
	}
	if have, most := unreaped(), 180/2; have > most {
		t.Errorf("have %d children left of 180, want at most %d, of the last attempts", have, most)
	}
}

// Processes that attempts leave in their groups are reaped after their end. Other children of this process are not reaped,
// because they may be the programs of other sessions.
//
// Not parallel: the orphans of all tests become this process's.
func TestCommandReapsItsGroups(t *testing.T) {
	becomeSubreaper(t)
	session := NewSession(Command{Args: []string{"sh", "-c", "sleep 3600 >/dev/null 2>&1 &"}})
	for n := range 3 {
		session.Run(t.Context(), nil, n+1)
	}
	if len(session.left) != 3 {
		t.Errorf("have %d groups with a member, want 3", len(session.left))
	}
	for _, c := range session.left {
		unix.Kill(-c.cmd.Process.Pid, unix.SIGKILL)
	}
	for limit := time.Now().Add(time.Minute); len(session.left) > 0 && time.Now().Before(limit); {
		session.left = slices.DeleteFunc(session.left, (*child).empty) // as each attempt does
	}
	if have := unreaped(); have > 0 || len(session.left) > 0 {
		t.Errorf("have %d children and %d groups left", have, len(session.left))
	}
}

// If poll is process 1 or, as in this test, a subreaper, the orphans of a group become children of poll. They stay in the
// group until poll reaps them. The script ends with exec, because a shell that forks while its group receives a signal
// can leave a child without the signal.
//
// Not parallel: the orphans of all tests become this process's.
func TestCommandReapsItsOrphans(t *testing.T) {
	becomeSubreaper(t)
	ctx, cancel := context.WithCancel(t.Context())
	c := Command{Args: []string{"sh", "-c", "sleep 3600 & sleep 3600 & echo >&2; exec sleep 3600"}, Grace: time.Hour, Stderr: writerFunc(cancel)}
	began := time.Now()
	obs := NewSession(c).Run(ctx, nil, 1)
	if took := time.Since(began); took > 5*time.Minute || len(obs.Hints) > 0 {
		t.Errorf("took %v, hints %q", took, obs.Hints)
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

// A writerFunc is a function that implements [io.Writer].
type writerFunc func()

func (f writerFunc) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}

// A program ends with the thread that has started it. The end of another thread does not end the program, and the thread
// of the attempt does not end while the program runs.
//
// Not parallel: other tests start programs without a session.
func TestCommandOutlivesOtherThreads(t *testing.T) {
	var threads sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		threads.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					runtime.LockOSThread() // a locked thread ends with its goroutine
				}()
				<-ended
				time.Sleep(100 * time.Microsecond)
			}
		})
	}
	session := NewSession(Command{Args: []string{"sleep", "0.02"}})
	for n := range 20 {
		if obs := session.Run(t.Context(), nil, n+1); !obs.Good() {
			t.Errorf("attempt %d: signal %q, %v", n+1, obs.Signal, obs.Failure)
		}
	}
	close(stop)
	threads.Wait()
}
