//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func clocks() []testCase {
	return []testCase{
		{"stopped for longer than a wait", stoppedForLong},
		{"stopped until after the deadline", stoppedPastDeadline},
		{"clock stepped", clockStepped},
	}
}

// stopAfter stops the program for a second, after d.
func (r *running) stopAfter(d time.Duration) {
	time.Sleep(d)
	r.Process.Signal(syscall.SIGSTOP)
	time.Sleep(time.Second)
	r.Process.Signal(syscall.SIGCONT)
}

// stoppedForLong stops the program for the length of five waits. It must go on as
// after one long wait, without catching up.
func stoppedForLong(s *suite) (string, error) {
	r, err := s.start(wait{args: args("--interval 200ms --timeout 30s --json --until $attempt==7 -- echo done")})
	if err != nil {
		return "", err
	}
	r.stopAfter(500 * time.Millisecond)
	e := r.end()
	o, err := e.outcome()
	if e.took < 2*time.Second {
		err = errors.Join(err, fmt.Errorf("7 attempts in %s: it caught up", e.took))
	}
	return fmt.Sprintf("%d attempts in %s", o.Attempts, e.took.Round(10*time.Millisecond)), errors.Join(err, e.expect(0))
}

func stoppedPastDeadline(s *suite) (string, error) {
	r, err := s.start(wait{args: args("--interval 100ms --timeout 700ms -- false")})
	if err != nil {
		return "", err
	}
	r.stopAfter(200 * time.Millisecond)
	continued := time.Now()
	e := r.end()
	late := time.Since(continued)
	err = e.expect(124)
	if late > 2*time.Second {
		err = errors.Join(err, fmt.Errorf("%s after the deadline", late))
	}
	return fmt.Sprintf("exit %d at once", e.code), err
}

// clockStepped builds the program with a clock that steps forward and back by an
// hour, ten times a second. The machine's clock stays as it is.
func clockStepped(s *suite) (string, error) {
	overlay, err := s.steppingClock()
	if err != nil {
		return "", err
	}
	stepping := s.file("stepping")
	if err := s.build(stepping, "-overlay", overlay); err != nil {
		return "", skipped("the standard library could not be changed")
	}
	e, err := s.wait(wait{poll: stepping, args: args("--interval 20ms --timeout 10s --json --until $attempt==20 -- echo done")})
	if err != nil {
		return "", err
	}
	o, err := e.outcome()
	late, bad := s.wait(wait{poll: stepping, args: args("--interval 20ms --timeout 1s -- false")})
	err = errors.Join(err, bad, e.expect(0), late.expect(124))
	if late.took < 700*time.Millisecond || late.took > 3*time.Second {
		err = errors.Join(err, fmt.Errorf("a timeout of 1s came after %s", late.took))
	}
	return fmt.Sprintf("by an hour, forth and back: %d attempts in %s, a timeout of 1s after %s",
		o.Attempts, e.took.Round(10*time.Millisecond), late.took.Round(10*time.Millisecond)), err
}

// steppingClock changes time.Now, and returns the overlay for go build.
func (s *suite) steppingClock() (overlay string, err error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("find the standard library: %w", err)
	}
	original := filepath.Join(strings.TrimSpace(string(root)), "src", "time", "time.go")
	source, err := os.ReadFile(original)
	if err != nil {
		return "", skipped("no source of the standard library")
	}
	const read = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	if !strings.Contains(string(source), read) {
		return "", skipped("time.Now is not as expected in this Go")
	}
	changed := strings.Replace(string(source), read, read+"\tsec += mono / 100_000_000 % 3 * 3600 - 3600\n", 1)
	path := s.file("time.go")
	if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
		return "", err
	}
	overlay = s.file("overlay.json")
	return overlay, os.WriteFile(overlay, fmt.Appendf(nil, `{"Replace":{%q:%q}}`, original, path), 0o644)
}
