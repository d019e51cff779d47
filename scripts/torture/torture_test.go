//go:build torture && linux

// Package torture maltreats the built program in ways that smaller tests cannot: signals at
// random moments, floods and the memory that they take, clocks that jump. It uses only the
// loopback interface, and looks for processes that are left behind.
//
//	go test -tags torture ./scripts/torture
//
// TORTURE_SEED=N repeats the random moments of a run that printed seed N.
package torture

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/pollcli/poll/internal/httpscript"
	"github.com/pollcli/poll/scripts/internal/proc"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == floodWord {
		os.Exit(writeFlood(os.Args[2], os.Args[3]))
	}
	os.Exit(testAll(m))
}

func testAll(m *testing.M) int {
	dir, err := os.MkdirTemp("", "torture")
	if err == nil {
		defer os.RemoveAll(dir)
		os.Setenv("TORTURE_POLL", filepath.Join(dir, "poll"))
		err = build(os.Getenv("TORTURE_POLL"))
	}
	if err != nil {
		panic(err)
	}
	return m.Run()
}

func build(to string, flags ...string) error {
	cmd := exec.Command("go", append(append([]string{"build"}, flags...), "-o", to, ".")...)
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return nil
}

// random returns what draws the moments of a test.
func random(t *testing.T) *rand.Rand {
	seed, err := strconv.ParseUint(os.Getenv("TORTURE_SEED"), 10, 64)
	if err != nil {
		seed = uint64(time.Now().UnixNano())
	}
	t.Log("seed", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// below draws a time that is less than most.
func below(r *rand.Rand, most time.Duration) time.Duration {
	return time.Duration(r.Int64N(int64(most)))
}

// A wait is one run of the program, which is marked by an environment variable.
type wait struct {
	*exec.Cmd
	mark   string
	began  time.Time
	stderr bytes.Buffer
	gauge  *proc.Gauge
	hung   *time.Timer
}

// marks counts the waits.
var marks atomic.Int64

// start starts the program, on a terminal unless that is nil.
func start(t *testing.T, tty *terminal, args ...string) *wait {
	t.Helper()
	w := &wait{Cmd: exec.Command(os.Getenv("TORTURE_POLL"), args...), mark: fmt.Sprintf("TORTURE_MARK=%d-%d", os.Getpid(), marks.Add(1)), began: time.Now()}
	w.Env = append(os.Environ(), w.mark)
	w.Stderr = &w.stderr
	if tty != nil {
		w.Stdout, w.Stderr = tty.slave, tty.slave
		w.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 1}
	}
	w.WaitDelay = 200 * time.Millisecond // for a process left behind that holds the outputs open
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	w.gauge = proc.WatchMemory(w.Process.Pid)
	w.hung = time.AfterFunc(time.Minute, func() { w.Process.Kill() })
	return w
}

// An ended is the result of a wait.
type ended struct {
	code   int            // -1 for a death by a signal
	signal syscall.Signal // 0 for none
	stderr string
	took   time.Duration
	peak   int64 // resident bytes
}

// finish waits for the end, which leaves no process behind.
func (w *wait) finish(t *testing.T) ended {
	t.Helper()
	w.Wait()
	e := ended{took: time.Since(w.began), peak: w.gauge.Stop(), stderr: w.stderr.String()}
	if !w.hung.Stop() {
		t.Error("it hung for a minute")
	}
	status := w.ProcessState.Sys().(syscall.WaitStatus)
	e.code = status.ExitStatus()
	if status.Signaled() {
		e.signal = status.Signal()
	}
	if strings.Contains(e.stderr, "goroutine ") {
		t.Errorf("it crashed: %.1000s", e.stderr)
	}
	for _, p := range proc.Marked(w.mark) {
		t.Errorf("left behind: %v", p)
		syscall.Kill(p.PID, syscall.SIGKILL)
	}
	return e
}

// end waits for the end, with this exit code and these words on stderr.
func (w *wait) end(t *testing.T, code int, words ...string) ended {
	t.Helper()
	e := w.finish(t)
	if e.code != code {
		t.Errorf("exit code %d, want %d: %.1000s", e.code, code, e.stderr)
	}
	for _, word := range words {
		if !strings.Contains(e.stderr, word) {
			t.Errorf("stderr does not say %q: %.1000s", word, e.stderr)
		}
	}
	return e
}

// serve starts a server on loopback, and returns its URL.
func serve(t *testing.T, next func(httpscript.Request) *httpscript.Answer) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(httpscript.Start(listener, next).Close)
	return "http://" + listener.Addr().String()
}

// answer reads an answer in the language of httpscript.
func answer(t *testing.T, text string) *httpscript.Answer {
	t.Helper()
	parsed, err := httpscript.Parse(text, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &parsed[0]
}

// words splits flags, and adds what has spaces of its own.
func words(flags string, more ...string) []string { return append(strings.Fields(flags), more...) }

func shell(flags, script string) []string { return words(flags, "--", "sh", "-c", script) }
