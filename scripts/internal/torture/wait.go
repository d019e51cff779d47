//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/pollcli/poll/scripts/internal/proc"
)

// A wait is one run of the program.
type wait struct {
	args   []string
	stdout *os.File // nil keeps what is written
	stderr *os.File
	attr   *syscall.SysProcAttr
	poll   string // a program other than the suite's
}

// hangs is the time after which a wait counts as hung.
const hangs = 60 * time.Second

// An ended is the result of a wait.
type ended struct {
	code   int // 128+n for a death by signal n
	signal syscall.Signal
	stdout string
	stderr string
	took   time.Duration
	peak   int64          // peak resident size, in bytes
	left   []proc.Process // processes it started and did not stop
	hung   bool
}

// A running is a wait that has not ended.
type running struct {
	*exec.Cmd
	mark           string
	began          time.Time
	stdout, stderr bytes.Buffer
	gauge          *proc.Gauge
	hung           atomic.Bool
	timer          *time.Timer
}

// marks counts the waits: each marks its processes by an environment variable.
var marks atomic.Int64

func (s *suite) start(w wait) (*running, error) {
	program := s.poll
	if w.poll != "" {
		program = w.poll
	}
	r := &running{Cmd: exec.Command(program, w.args...), mark: fmt.Sprintf("POLL_TORTURE_MARK=%d-%d", os.Getpid(), marks.Add(1))}
	r.Env = append(os.Environ(), r.mark)
	r.SysProcAttr = w.attr
	r.Stdout, r.Stderr = &r.stdout, &r.stderr
	if w.stdout != nil {
		r.Stdout = w.stdout
	}
	if w.stderr != nil {
		r.Stderr = w.stderr
	}
	// A process left behind may hold the outputs open.
	r.WaitDelay = 200 * time.Millisecond
	r.began = time.Now()
	if err := r.Start(); err != nil {
		return nil, fmt.Errorf("start the program: %w", err)
	}
	r.gauge = proc.WatchMemory(r.Process.Pid)
	r.timer = time.AfterFunc(hangs, func() {
		r.hung.Store(true)
		r.Process.Kill()
	})
	return r, nil
}

// end waits for the end, then kills what was left behind.
func (r *running) end() ended {
	r.Wait()
	r.timer.Stop()
	e := ended{took: time.Since(r.began), peak: r.gauge.Stop(), hung: r.hung.Load()}
	e.stdout, e.stderr = r.stdout.String(), r.stderr.String()
	status := r.ProcessState.Sys().(syscall.WaitStatus)
	e.code = status.ExitStatus()
	if status.Signaled() {
		e.signal, e.code = status.Signal(), 128+int(status.Signal())
	}
	e.left = proc.Marked(r.mark)
	for _, p := range e.left {
		syscall.Kill(p.PID, syscall.SIGKILL)
	}
	return e
}

func (s *suite) wait(w wait) (ended, error) {
	r, err := s.start(w)
	if err != nil {
		return ended{}, err
	}
	return r.end(), nil
}

// run is wait with only arguments.
func (s *suite) run(args ...string) (ended, error) { return s.wait(wait{args: args}) }

// expect returns what is wrong: every wait has to end with this code, print these
// words on stderr, leave no process behind, and not crash.
func (e ended) expect(code int, words ...string) error {
	var wrong []error
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	if e.hung {
		complain("hung for %s", hangs)
	}
	if e.code != code {
		complain("exit code %d, not %d", e.code, code)
	}
	for _, word := range words {
		if !strings.Contains(e.stderr, word) {
			complain("stderr does not say %q", word)
		}
	}
	if len(e.left) > 0 {
		complain("left behind: %v", e.left)
	}
	if strings.Contains(e.stderr, "goroutine ") || strings.Contains(e.stderr, "panic") {
		complain("crashed")
	}
	if len(wrong) > 0 && e.stderr != "" {
		complain("stderr was %.1000q", e.stderr)
	}
	return errors.Join(wrong...)
}

func mebi(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

// An outcome is the part of --json that cases check.
type outcome struct {
	Attempts int
}

func (e ended) outcome() (outcome, error) {
	var o outcome
	if err := json.Unmarshal([]byte(e.stdout), &o); err != nil {
		return o, fmt.Errorf("read the outcome: %w", err)
	}
	return o, nil
}

func shell(script string) []string { return []string{"--", "sh", "-c", script} }

func args(flags string, command ...string) []string {
	return append(strings.Fields(flags), command...)
}
