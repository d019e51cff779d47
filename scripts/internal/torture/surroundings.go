//go:build linux

package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

func surroundings() []torment {
	return []torment{
		{"stdout is a closed pipe", stdoutClosedPipe},
		{"stdout is closed", stdoutClosed},
		{"stdout is /dev/full", stdoutFull},
		{"stderr is a closed pipe", stderrClosedPipe},
		{"stderr is closed", stderrClosed},
		{"stderr is /dev/full", stderrFull},
		{"stdin, stdout and stderr are closed", allClosed},
		{"no HOME, no environment at all", noEnvironment},
		{"TMPDIR and HOME read-only", readOnly},
		{"16 open files", fewFiles},
		{"stopped for longer than a wait", stoppedForLong},
		{"nohup", nohup},
		{"clock stepped", clockStepped},
		{"the server's clock is wrong", serverClock},
	}
}

// brokenPipe is the end of a pipe that nobody reads.
func brokenPipe() (*os.File, error) {
	r, w, err := os.Pipe()
	if err == nil {
		r.Close()
	}
	return w, err
}

func (s *suite) writingTo(stdout, stderr func() (*os.File, error), command ...string) (e ended, err error) {
	w := wait{args: append([]string{"--interval", "1ms"}, command...)}
	for file, open := range map[**os.File]func() (*os.File, error){&w.stdout: stdout, &w.stderr: stderr} {
		if open == nil {
			continue
		}
		if *file, err = open(); err != nil {
			return e, err
		}
		defer (*file).Close()
	}
	return s.wait(w)
}

func full() (*os.File, error) { return os.OpenFile("/dev/full", os.O_WRONLY, 0) }

func stdoutClosedPipe(s *suite) (string, error) {
	e, err := s.writingTo(brokenPipe, nil, "--", "echo", "done")
	if err != nil {
		return "", err
	}
	j, err := s.writingTo(brokenPipe, nil, "--json", "--", "echo", "done")
	return fmt.Sprintf("exit %d, %d with --json", e.code, j.code), errors.Join(err, e.expect(125, "broken pipe"), j.expect(125, "broken pipe"))
}

// Go opens /dev/null in place of a descriptor that is closed at the start, so
// the loss cannot be told.
func stdoutClosed(s *suite) (string, error) {
	e, err := s.wait(wait{args: args("--interval 1ms -- echo done"), via: []string{"sh", "-c", `exec "$0" "$@" >&-`}})
	if err != nil {
		return "", err
	}
	want := e.code
	if want != 125 {
		want = 0
	}
	return fmt.Sprintf("exit %d", e.code), e.expect(want)
}

func stdoutFull(s *suite) (string, error) {
	e, err := s.writingTo(full, nil, "--", "echo", "done")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("exit %d", e.code), e.expect(125, "no space left")
}

func lostStderr(s *suite, stderr func() (*os.File, error)) (string, error) {
	var wrong []error
	for _, face := range []string{"lines", "json", "live"} {
		e, err := s.writingTo(nil, stderr, "-v", "--progress", face, "--until", "$attempt==20", "--", "sh", "-c", "echo done; echo bad >&2")
		if err != nil {
			return "", err
		}
		err = e.expect(0)
		if e.stdout != "done\n" {
			err = errors.Join(err, fmt.Errorf("stdout is %q", e.stdout))
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", face, err))
		}
	}
	return "the run goes on, the result is on stdout", errors.Join(wrong...)
}

func stderrClosedPipe(s *suite) (string, error) { return lostStderr(s, brokenPipe) }
func stderrFull(s *suite) (string, error)       { return lostStderr(s, full) }

func stderrClosed(s *suite) (string, error) {
	e, err := s.wait(wait{args: args("--interval 1ms -v --until $attempt==20 -- echo done"), via: []string{"sh", "-c", `exec "$0" "$@" 2>&-`}})
	if err != nil {
		return "", err
	}
	err = e.expect(0)
	if e.stdout != "done\n" {
		err = errors.Join(err, fmt.Errorf("stdout is %q", e.stdout))
	}
	return "the run goes on, the result is on stdout", err
}

func allClosed(s *suite) (string, error) {
	e, err := s.wait(wait{args: args("--interval 1ms -v --until $attempt==20 --", "sh", "-c", `test -z "$(cat)"; echo done; echo bad >&2`),
		via: []string{"sh", "-c", `exec "$0" "$@" <&- >&- 2>&-`}})
	if err != nil {
		return "", err
	}
	err = e.expect(0)
	return fmt.Sprintf("exit %d", e.code), err
}

func noEnvironment(s *suite) (string, error) {
	command, err := s.wait(wait{env: []string{}, args: args("--interval 1ms --until $attempt==3 -- /bin/echo done")})
	if err != nil {
		return "", err
	}
	server, err := serve(func(conn net.Conn, _ int) { reply(conn, "200 OK", "", done) })
	if err != nil {
		return "", err
	}
	defer server.close()
	url, err := s.wait(wait{env: []string{}, args: args("--interval 1ms --until $attempt==3", server.url())})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("exit %d for a command, %d for a URL", command.code, url.code), errors.Join(command.expect(0), url.expect(0))
}

func readOnly(s *suite) (string, error) {
	dir := s.file("read-only")
	if err := os.Mkdir(dir, 0o500); err != nil {
		return "", err
	}
	// Root may write there, but nobody into a file.
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o400); err != nil && !errors.Is(err, os.ErrPermission) {
		return "", err
	}
	var wrong []error
	for _, at := range []string{dir, file, "/nonexistent", "/proc"} {
		env := append(os.Environ(), "HOME="+at, "TMPDIR="+at, "XDG_STATE_HOME="+at, "XDG_CACHE_HOME="+at)
		e, err := s.wait(wait{env: env, args: args("--interval 1ms --until $attempt==3 -- echo done")})
		if err != nil {
			return "", err
		}
		if err := e.expect(0); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", filepath.Base(at), err))
		}
	}
	left, _ := os.ReadDir(dir)
	if len(left) > 1 {
		wrong = append(wrong, fmt.Errorf("%v were written", left))
	}
	return "nothing is written, nothing is missed", errors.Join(wrong...)
}

func fewFiles(s *suite) (string, error) {
	via := []string{"sh", "-c", `ulimit -n 16; exec "$0" "$@"`}
	command, err := s.wait(wait{via: via, args: args("--interval 1ms --until $attempt==200 --", "sh", "-c", "echo done; echo x >&2")})
	if err != nil {
		return "", err
	}
	server, err := serve(func(conn net.Conn, _ int) { reply(conn, "200 OK", "", done) })
	if err != nil {
		return "", err
	}
	defer server.close()
	url, err := s.wait(wait{via: via, args: args("--interval 1ms --until $attempt==200", server.url())})
	if err != nil {
		return "", err
	}
	// With fewer, nothing can be started; it has to be said.
	none, err := s.wait(wait{via: []string{"sh", "-c", `ulimit -n 7; exec "$0" "$@"`}, args: args("--interval 1ms --max-attempts 3 -- echo done")})
	if err != nil {
		return "", err
	}
	want := none.code
	if want != 0 {
		want = 3
	}
	return fmt.Sprintf("200 attempts: exit %d for a command, %d for a URL; with 7 files exit %d", command.code, url.code, none.code),
		errors.Join(command.expect(0), url.expect(0), none.expect(want))
}

// stoppedForLong stops the program for five waits: it must go on as if one had
// been long, and not make up for the others.
func stoppedForLong(s *suite) (string, error) {
	r, err := s.start(wait{args: args("--interval 200ms --timeout 30s --json --until $attempt==7 -- echo done")})
	if err != nil {
		return "", err
	}
	time.Sleep(500 * time.Millisecond)
	r.Process.Signal(syscall.SIGSTOP)
	time.Sleep(time.Second)
	r.Process.Signal(syscall.SIGCONT)
	e := r.end()
	o, err := e.outcome()
	if e.took < 2*time.Second {
		err = errors.Join(err, fmt.Errorf("7 attempts in %s: it made up for lost time", e.took))
	}
	d, bad := s.pastDeadline()
	return fmt.Sprintf("%d attempts in %s; past the deadline: %s", o.Attempts, e.took.Round(10*time.Millisecond), d), errors.Join(err, bad, e.expect(0))
}

// pastDeadline stops the program until its deadline is over.
func (s *suite) pastDeadline() (string, error) {
	r, err := s.start(wait{args: args("--interval 100ms --timeout 700ms -- false")})
	if err != nil {
		return "", err
	}
	time.Sleep(200 * time.Millisecond)
	r.Process.Signal(syscall.SIGSTOP)
	time.Sleep(time.Second)
	r.Process.Signal(syscall.SIGCONT)
	continued := time.Now()
	e := r.end()
	late := time.Since(continued)
	err = e.expect(124)
	if late > 2*time.Second {
		err = errors.Join(err, fmt.Errorf("%s after the deadline", late))
	}
	return fmt.Sprintf("exit %d at once", e.code), err
}

func nohup(s *suite) (string, error) {
	r, err := s.start(wait{via: []string{"nohup"}, args: args("--interval 50ms --until $attempt==10 --", "sh", "-c", "kill -HUP $$; echo done")})
	if err != nil {
		return "", err
	}
	for range 5 {
		time.Sleep(60 * time.Millisecond)
		r.Process.Signal(syscall.SIGHUP)
	}
	e := r.end()
	err = e.expect(0)
	if e.stdout != "done\n" {
		err = errors.Join(err, fmt.Errorf("stdout is %q", e.stdout))
	}
	return "5 HUPs: it goes on, and so do the children", err
}

// clockStepped builds the program with a clock that steps by an hour, forth and
// back, ten times a second. The clock of the machine is left alone.
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

// steppingClock changes time.Now and returns the overlay that go build takes.
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

// serverClock is a server that lives in another year: its dates count from its
// own Date.
func serverClock(s *suite) (string, error) {
	year := 366 * 24 * time.Hour
	var wrong []error
	for _, off := range []time.Duration{-year, year} {
		var asked [2]time.Time
		e, err := s.against(func(conn net.Conn, n int) {
			asked[min(n, 2)-1] = time.Now()
			if n > 1 {
				reply(conn, "200 OK", "", done)
				return
			}
			now := time.Now().UTC().Add(off)
			const date = "Mon, 02 Jan 2006 15:04:05 GMT"
			reply(conn, "503 Busy", "Date: "+now.Format(date)+"\r\nRetry-After: "+now.Add(time.Second).Format(date)+"\r\n", "")
		}, "--interval 1ms --timeout 20s")
		if err != nil {
			return "", err
		}
		if waited := asked[1].Sub(asked[0]); waited < 900*time.Millisecond || waited > 5*time.Second {
			err = fmt.Errorf("waited %s, not a second", waited)
		}
		wrong = append(wrong, err, e.expect(0))
	}
	return "a year behind and ahead: Retry-After counts from its Date", errors.Join(wrong...)
}
