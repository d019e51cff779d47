package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pollcli/poll/internal/cli/run"
	"github.com/pollcli/poll/internal/httpscript"
)

// A blockage is a read or a write that blocks poll: the input is never written, or the output is never read.
type blockage struct {
	args  []string
	stuck string // "stdin", "stdout", "stderr", or "fifo" in the directory it runs in
	// abrupt is true if only the guard can end the run.
	abrupt bool
	// untimed is true for commands without a time limit.
	untimed bool
}

func blockages() map[string]blockage {
	const answers = `i=0; while [ $i -lt 99 ]; do echo "$i$i$i$i$i$i$i$i$i"; i=$((i+1)); done; exit 1`
	big := []string{"--interval", "1ms", "--", "head", "-c", "100000", "/dev/zero"}
	return map[string]blockage{
		"stdin":     {args: []string{"--stdin", "--", "cat"}, stuck: "stdin"},
		"body":      {args: []string{"-d", "@fifo", "http://127.0.0.1:1/"}, stuck: "fifo"},
		"header":    {args: []string{"-H", "@fifo", "http://127.0.0.1:1/"}, stuck: "fifo"},
		"eval":      {args: []string{"eval", ".a", "-"}, stuck: "stdin", untimed: true},
		"result":    {args: append([]string{"-q"}, big...), stuck: "stdout"},
		"manual":    {args: []string{"man"}, stuck: "stdout", untimed: true},
		"progress":  {args: []string{"-v", "--interval", "1ms", "--", "sh", "-c", answers}, stuck: "stderr", abrupt: true},
		"command's": {args: []string{"--show-stderr", "--base", "1ms", "--", "sh", "-c", "echo $$ >pid; exec yes >&2"}, stuck: "stderr", abrupt: true},
	}
}

// A signal or the deadline ends poll, even if poll is blocked. Each blockage is tested with one signal, and
// one blockage of each kind with all signals, also as process 1.
func TestBlocked(t *testing.T) {
	t.Parallel()
	if signal.Ignored(syscall.SIGINT) || signal.Ignored(syscall.SIGHUP) {
		t.Skip("started by nohup or in the background, and poll would inherit that")
	}
	noNamespace := exec.Command("unshare", asProcess1("true")...).Run()
	all := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}
	places, seen := blockages(), make(map[string]bool)
	for i, name := range slices.Sorted(maps.Keys(places)) {
		p := places[name]
		signals := all[i%4 : i%4+1]
		if !seen[p.stuck] {
			signals = all
			t.Run(name+", as process 1", func(t *testing.T) {
				t.Parallel()
				if noNamespace != nil {
					t.Skip("no process namespace for us: ", noNamespace)
				}
				p.testAll(t, true, all)
			})
		}
		seen[p.stuck] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p.testAll(t, false, signals)
		})
	}
}

// asProcess1 returns the arguments of unshare that run a program in its own process namespace.
func asProcess1(args ...string) []string {
	return append([]string{"--pid", "--fork", "--kill-child"}, args...)
}

func (p blockage) testAll(t *testing.T, first bool, signals []syscall.Signal) {
	for _, sig := range signals {
		t.Run(unix.SignalName(sig), func(t *testing.T) {
			t.Parallel()
			p.test(t, first, "1ms", sig)
		})
	}
	t.Run("second signal", func(t *testing.T) {
		t.Parallel()
		p.test(t, first, "60s", syscall.SIGTERM, syscall.SIGINT)
	})
	if !p.untimed {
		t.Run("timeout", func(t *testing.T) {
			t.Parallel()
			p.test(t, first, "1ms")
		})
	}
}

// test waits until poll is blocked, sends the signals, and checks the end. poll must end by one of the signals
// or, without signals, at the deadline.
func (p blockage) test(t *testing.T, first bool, grace string, signals ...syscall.Signal) {
	timeout := time.Duration(0)
	if len(signals) == 0 {
		timeout = 500 * time.Millisecond
	}
	s, timeout := p.startStuck(t, first, timeout, grace)
	for i, sig := range signals {
		pause := time.Duration(0)
		if i > 0 {
			pause = 200 * time.Millisecond // longer than the pause of an echo
		}
		if s.ended(pause) {
			break
		}
		if pid := s.find(); pid > 0 { // 0, where it has just ended, would be our own group
			syscall.Kill(pid, sig)
		}
	}
	if !s.ended(patience) {
		t.Fatal("it is still there")
	}
	code := must(codeOf(s.err))
	want, words := 124, fmt.Sprintf("poll: timed out after %v", timeout)
	for _, sig := range signals { // where the first was not taken before the second came, the system picks one
		if want = 128 + int(sig); code == want {
			words = "poll: ended by " + unix.SignalName(sig)
			break
		}
	}
	dies := len(signals) > 0 && !first && want != 128+int(syscall.SIGQUIT)
	if died := s.cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled(); code != want || died != dies {
		t.Errorf("have code %d, died of a signal: %v; want %d", code, died, want)
	}
	if said := s.said.String(); p.stuck != "stderr" {
		unwritten := p.stuck == "stdout" && len(signals) == 0
		if unwritten {
			words += ", and the result was not written in full by then"
		}
		if !strings.Contains(said, words) || strings.Contains(said, "given up") != (p.abrupt || unwritten) {
			t.Errorf("have %q, want %s", said, words)
		}
	}
	if text, err := os.ReadFile(filepath.Join(s.cmd.Dir, "pid")); err == nil {
		pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
		for limit := time.Now().Add(patience); !first && alive(pid); time.Sleep(time.Millisecond) {
			if time.Now().After(limit) {
				t.Fatal("the command is still there")
			}
		}
	}
}

// A slow reader gets the whole result, even after the deadline. The reader here takes a few pages of the pipe
// within each grace.
func TestReaderIsWaitedFor(t *testing.T) {
	t.Parallel()
	s, timeout := blockages()["result"].startStuck(t, false, 500*time.Millisecond, "1ms")
	read := 0
	const little = 2000
	for enough := time.Now().Add(timeout + 3*time.Second); time.Now().Before(enough); read += little {
		must(io.ReadFull(s.pipe, make([]byte, little)))
		if s.ended(200 * time.Millisecond) {
			t.Fatalf("it has ended: %v, %q", s.err, s.said.String())
		}
	}
	must(io.ReadFull(s.pipe, make([]byte, 100_000-read)))
	if !s.ended(patience) || s.err != nil {
		t.Errorf("have %v, %q, want success", s.err, s.said.String())
	}
}

// startStuck starts poll and waits until poll is blocked. If the timeout ends before poll is blocked,
// startStuck tries again with twice the timeout.
func (p blockage) startStuck(t *testing.T, first bool, timeout time.Duration, grace string) (*blockedRun, time.Duration) {
	t.Helper()
	for {
		s := p.start(t, first, timeout, grace)
		if s.wait(t) || timeout == 0 || timeout > patience {
			return s, timeout
		}
		timeout *= 2
	}
}

// A blockedRun is a started process of poll.
type blockedRun struct {
	cmd  *exec.Cmd
	find func() int // its process id
	said bytes.Buffer
	pipe *os.File // the test's end of the blocked pipe
	fifo string   // the name of a FIFO, or ""
	read bool     // poll reads from the pipe
	done chan struct{}
	err  error
}

func (p blockage) start(t *testing.T, first bool, timeout time.Duration, grace string) *blockedRun {
	t.Helper()
	s := &blockedRun{done: make(chan struct{})}
	args := p.args
	if !p.untimed {
		args = append([]string{"--timeout", timeout.String(), "--grace", grace}, args...)
	}
	args = append([]string{"poll"}, args...)
	if first {
		args = append([]string{"unshare"}, asProcess1(args...)...)
	}
	s.cmd = exec.Command(args[0], args[1:]...)
	dir := t.TempDir()
	s.cmd.Dir = dir
	s.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "NETRC=fifo", "GORACE=" + raceAtOnce}
	s.cmd.Stderr = &s.said
	s.cmd.Stdout = io.Discard
	s.connect(t, p.stuck)
	check(t, s.cmd.Start())
	if w, ok := s.cmd.Stdout.(*os.File); ok {
		w.Close() // the reader then gets EOF when poll ends
	}
	s.find = func() int { return s.cmd.Process.Pid }
	if first {
		s.find = func() int { return childOf(s.cmd.Process.Pid) }
	}
	t.Cleanup(func() { s.cmd.Process.Kill() })
	go func() {
		s.err = s.cmd.Wait()
		close(s.done)
	}()
	return s
}

// connect creates the pipe that will block.
func (s *blockedRun) connect(t *testing.T, what string) {
	t.Helper()
	if what == "fifo" {
		s.fifo, s.read = filepath.Join(s.cmd.Dir, "fifo"), true
		check(t, syscall.Mkfifo(s.fifo, 0o600))
		return
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	must(unix.FcntlInt(w.Fd(), unix.F_SETPIPE_SZ, 4096))
	switch what {
	case "stdin":
		s.cmd.Stdin, s.pipe, s.read = r, w, true
	case "stdout":
		s.cmd.Stdout, s.pipe = w, r
	case "stderr":
		s.cmd.Stderr, s.pipe = w, r
	}
}

// wait waits until poll is blocked: poll has opened the pipe and read the only byte, or the pipe is full. It
// returns false if poll ended before.
func (s *blockedRun) wait(t *testing.T) bool {
	t.Helper()
	sent := false
	for limit := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("it has not come to the pipe")
		}
		if s.ended(0) {
			return false
		}
		if s.pipe == nil {
			fd, err := unix.Open(s.fifo, unix.O_WRONLY|unix.O_NONBLOCK, 0)
			if err != nil {
				continue // the FIFO has no reader yet
			}
			s.pipe = os.NewFile(uintptr(fd), s.fifo)
			t.Cleanup(func() { s.pipe.Close() })
		}
		if s.read && !sent {
			must(s.pipe.WriteString("x"))
			sent = true
		}
		n := must(unix.IoctlGetInt(int(s.pipe.Fd()), unix.TIOCINQ))
		if s.read && n == 0 || !s.read && n > 0 && writing(s.find()) {
			return true
		}
	}
}

// childOf returns the id of the process that unshare has started.
func childOf(pid int) int {
	text, _ := exec.Command("pgrep", "-P", strconv.Itoa(pid)).Output()
	child, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return child
}

// writing reports whether a thread of the process pid waits for space in a pipe.
func writing(pid int) bool {
	names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/wchan", pid))
	for _, name := range names {
		if text, err := os.ReadFile(name); err == nil && strings.HasSuffix(string(text), "pipe_write") {
			return true
		}
	}
	return false
}

// ended reports whether poll ends within d.
func (s *blockedRun) ended(d time.Duration) bool {
	select {
	case <-s.done:
		return true
	case <-time.After(d):
		return false
	}
}

const (
	process1Helper     = "POLL_TEST_PROCESS1_HELPER"
	idleProcess1Helper = "POLL_TEST_IDLE_PROCESS1_HELPER"
)

// TestProcess1HelperProcess is the program of the following test: a wait whose attempts each leave a process.
// It prints how many processes were not reaped. Attempt 30 waits for the first 29 processes to end, and poll
// reaps them before attempt 31.
func TestProcess1HelperProcess(t *testing.T) {
	if os.Getenv(process1Helper) == "" {
		t.Skip("only for the other test")
	}
	streams, _, _ := httpscript.Streams("")
	streams.Out, streams.Err = os.Stdout, os.Stderr
	args := append(strings.Fields("-q --immediate --interval 1ms --max-attempts 31 -- sh -c"), "test $POLL_ATTEMPT != 30 || sleep 1; true & exit 1")
	process := NewProcess(args, func(string) (string, bool) { return "", false }, streams)
	process.Release = func() {} // as in the real process
	code := Run(context.Background(), process)
	left := 0
	for {
		if _, err := unix.Wait4(-1, nil, 0, nil); err != nil {
			break
		}
		left++
	}
	fmt.Println("process", os.Getpid(), "ended with", int(code), left)
	os.Exit(0)
}

func TestProcess1ReapsOrphans(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("unshare", "--pid", "--fork", "--kill-child", os.Args[0], "-test.run=^TestProcess1HelperProcess$")
	cmd.Env = append(os.Environ(), process1Helper+"=1")
	out, err := cmd.CombinedOutput()
	var code, left int
	if _, after, ok := strings.Cut(string(out), "process 1 ended with "); !ok {
		t.Skipf("have %q and %v: no process namespace for us", out, err)
	} else if _, err := fmt.Sscan(after, &code, &left); err != nil {
		t.Fatal(err)
	}
	if most := 2; code != int(run.ExitAttempts) || left > most {
		t.Errorf("have exit code %d and %d processes left of 31, want %d and at most %d\n%s", code, left, run.ExitAttempts, most, out)
	}
}

// TestIdleProcess1HelperProcess is the program of the following test: it runs a wait whose command must be
// stopped, and reaps no processes itself.
func TestIdleProcess1HelperProcess(t *testing.T) {
	if os.Getenv(idleProcess1Helper) == "" {
		t.Skip("only for the other test")
	}
	began := time.Now()
	cmd := exec.Command("poll", "-q", "--grace", "1m", "--timeout", "1s", "--", "sh", "-c", "sleep 60 & wait")
	cmd.Run()
	fmt.Println("process", os.Getpid(), "had a wait that ended with", cmd.ProcessState.ExitCode(), time.Since(began).Milliseconds())
	os.Exit(0)
}

// A stopped command ends before its grace is over, even if process 1 does not reap processes.
func TestIdleProcess1(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("unshare", asProcess1(os.Args[0], "-test.run=^TestIdleProcess1HelperProcess$")...)
	cmd.Env = append(os.Environ(), idleProcess1Helper+"=1")
	out, err := cmd.CombinedOutput()
	var code, took int
	if _, after, ok := strings.Cut(string(out), "process 1 had a wait that ended with "); !ok {
		t.Skipf("have %q and %v: no process namespace for us", out, err)
	} else if _, err := fmt.Sscan(after, &code, &took); err != nil {
		t.Fatal(err)
	}
	if code != int(run.ExitTimeout) || took >= 60_000 {
		t.Errorf("have exit code %d after %d ms, want %d within the grace of 1m\n%s", code, took, run.ExitTimeout, out)
	}
}
