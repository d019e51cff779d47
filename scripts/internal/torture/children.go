//go:build linux

package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

func children() []torment {
	return []torment{
		{"child ignores TERM", ignoresTerm},
		{"child forks 50 that ignore TERM", forks},
		{"child leaves a daemon", daemonises},
		{"grandchild holds the pipes", holdsPipes},
		{"child floods stdout, 5 GB", floodsStdout},
		{"child floods stderr, 1 GB", floodsStderr},
		{"child closes its outputs", closesOutputs},
		{"child reads stdin", readsStdin},
		{"child dies of every signal", diesOfEverySignal},
		{"child wants the terminal", wantsTerminal},
		{"exec format error", execFormat},
		{"program deleted between attempts", vanishes},
		{"program written between attempts", busy},
	}
}

func shell(script string) []string { return []string{"--", "sh", "-c", script} }

func args(flags string, command ...string) []string {
	return append(strings.Fields(flags), command...)
}

func ignoresTerm(s *suite) (string, error) {
	e, err := s.run(args("--immediate --interval 10ms --grace 200ms --attempt-timeout 200ms --max-attempts 2",
		shell(`trap "" TERM; echo alive; sleep 60; sleep 60`)...)...)
	if err != nil {
		return "", err
	}
	err = e.expect(3, "attempt timed out after 200ms")
	if e.took > 10*time.Second {
		err = errors.Join(err, fmt.Errorf("took %s", e.took))
	}
	return fmt.Sprintf("killed twice in %s, exit %d, %d left", e.took.Round(10*time.Millisecond), e.code, len(e.left)), err
}

func forks(s *suite) (string, error) {
	e, err := s.run(args("--immediate --grace 200ms --timeout 500ms",
		shell(`trap "" TERM; for i in 0 1 2 3 4; do (for j in 0 1 2 3 4 5 6 7 8; do sleep 60 & done; wait) & done; wait`)...)...)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("timed out in %s, exit %d, %d left", e.took.Round(10*time.Millisecond), e.code, len(e.left)), e.expect(124)
}

// A daemon has left the group, and nothing is wrong with that.
func daemonises(s *suite) (string, error) {
	e, err := s.run(args("--immediate", shell(`setsid sleep 60 </dev/null >/dev/null 2>&1 & echo started`)...)...)
	if err != nil {
		return "", err
	}
	daemons := len(e.left)
	e.left = nil
	err = e.expect(0)
	if daemons != 1 || e.stdout != "started\n" {
		err = errors.Join(err, fmt.Errorf("%d daemons, answer %q", daemons, e.stdout))
	}
	return fmt.Sprintf("answered in %s, the daemon lives on", e.took.Round(10*time.Millisecond)), err
}

func holdsPipes(s *suite) (string, error) {
	e, err := s.run(args("--immediate --grace 300ms", shell(`sleep 60 & echo started`)...)...)
	if err != nil {
		return "", err
	}
	e.left = nil // the attempt ended by itself, and so what it left is left alone
	err = e.expect(0)
	if e.stdout != "started\n" || e.took > 5*time.Second {
		err = errors.Join(err, fmt.Errorf("answer %q after %s", e.stdout, e.took))
	}
	return fmt.Sprintf("answered in %s, not in 60s", e.took.Round(10*time.Millisecond)), err
}

func floodsStdout(s *suite) (string, error) {
	e, err := s.run(args("--immediate --max-body 1MiB --max-attempts 1", s.child("flood", "1", "5120")...)...)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("read in %s, %s resident at most", e.took.Round(100*time.Millisecond), mebi(e.peak)),
		errors.Join(e.expect(1, "--max-body", "of 5368709120 bytes"), e.within(24))
}

func floodsStderr(s *suite) (string, error) {
	e, err := s.run(args("--immediate", s.child("flood", "2", "1024")...)...)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("read in %s, %s resident at most", e.took.Round(100*time.Millisecond), mebi(e.peak)),
		errors.Join(e.expect(0), e.within(24))
}

func closesOutputs(s *suite) (string, error) {
	e, err := s.run(args("--immediate --max-attempts 1 --json", shell(`exec >&- 2>&-; sleep 0.2; exit 7`)...)...)
	if err != nil {
		return "", err
	}
	o, err := e.outcome()
	if err == nil && o.ExitCode != 7 {
		err = fmt.Errorf("exit code %d, not 7", o.ExitCode)
	}
	return fmt.Sprintf("its exit code is known: %d", o.ExitCode), errors.Join(err, e.expect(3))
}

func readsStdin(s *suite) (string, error) {
	input := strings.Repeat("0123456789abcdef", 1<<19) // 8 MiB: no pipe holds that
	with, err := s.wait(wait{stdin: input, args: args("--interval 1ms --stdin --until $attempt==3", s.child("sum")...)})
	if err != nil {
		return "", err
	}
	without, err := s.wait(wait{stdin: input, args: args("--interval 1ms", s.child("sum")...)})
	if err != nil {
		return "", err
	}
	err = errors.Join(with.expect(0), without.expect(0))
	if want := fmt.Sprintf("%d %x\n", len(input), sha256.Sum256([]byte(input))); with.stdout != want {
		err = errors.Join(err, fmt.Errorf("the third attempt read %q, not %q", with.stdout, want))
	}
	if !strings.HasPrefix(without.stdout, "0 ") {
		err = errors.Join(err, fmt.Errorf("without --stdin it read %q", without.stdout))
	}
	return "8 MiB for each of 3 attempts with --stdin, nothing without", err
}

// diesOfEverySignal also meets those that do not kill: the ones that are ignored,
// and the ones that stop, whose attempt has to time out.
func diesOfEverySignal(s *suite) (string, error) {
	var wrong []error
	died, stopped, ignored := 0, 0, 0
	for n := 1; n <= 64; n++ {
		e, err := s.run(args("--immediate --max-attempts 1 --attempt-timeout 400ms --grace 100ms --json",
			shell(fmt.Sprintf("kill -%d $$; exit 9", n))...)...)
		if err != nil {
			return "", err
		}
		o, err := e.outcome()
		switch syscall.Signal(n) {
		case syscall.SIGSTOP, syscall.SIGTSTP:
			stopped++
			err = errors.Join(err, e.expect(3, "attempt timed out"))
		case syscall.SIGTTIN, syscall.SIGTTOU:
			stopped++
			err = errors.Join(err, e.expect(1, "--foreground"))
		case syscall.SIGCHLD, syscall.SIGCONT, syscall.SIGURG, syscall.SIGWINCH:
			ignored++
			err = errors.Join(err, e.expect(3, "exit code 9"))
		default:
			died++
			err = errors.Join(err, e.expect(3, "killed by signal "))
			if o.ExitCode != 128+n {
				err = errors.Join(err, fmt.Errorf("exit code %d", o.ExitCode))
			}
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("signal %d: %w", n, err))
		}
	}
	return fmt.Sprintf("%d named as 128+n, %d stopped, %d ignored", died, stopped, ignored), errors.Join(wrong...)
}

func wantsTerminal(s *suite) (string, error) {
	t, err := openTerminal()
	if err != nil {
		return "", err
	}
	defer t.close()
	e, err := s.wait(wait{args: args("--immediate --timeout 20s -q", shell("read line </dev/tty; echo $line")...), attr: t.attr(), stdout: t.slave, stderr: t.slave})
	if err != nil {
		return "", err
	}
	shown := t.shown()
	err = e.expect(1)
	if !strings.Contains(shown, "--foreground") {
		err = errors.Join(err, fmt.Errorf("the terminal shows %q", shown))
	}
	return fmt.Sprintf("named after %s, with --foreground", e.took.Round(10*time.Millisecond)), err
}

func execFormat(s *suite) (string, error) {
	path := s.file("noise")
	if err := os.WriteFile(path, []byte("\x7fnot a program\n"), 0o755); err != nil {
		return "", err
	}
	e, err := s.run("--", path)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("exit %d", e.code), e.expect(126, "not a program")
}

func vanishes(s *suite) (string, error) {
	path := s.file("vanishing")
	script := fmt.Sprintf("#!/bin/sh\ntest -e %[1]s.back && echo back && exit 0\nrm -f %[1]s\nexit 1\n", path)
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		return "", err
	}
	r, err := s.start(wait{args: args("--interval 20ms --json --timeout 20s --", path)})
	if err != nil {
		return "", err
	}
	time.Sleep(500 * time.Millisecond)
	err = errors.Join(
		os.WriteFile(path+".back", nil, 0o644),
		os.WriteFile(path+".new", []byte(script), 0o755),
		os.Rename(path+".new", path),
	)
	e := r.end()
	o, bad := e.outcome()
	err = errors.Join(err, bad, e.expect(0, "not found"))
	return fmt.Sprintf("NOT_READY while it was gone, %s at attempt %d", o.Status, o.Attempts), err
}

func busy(s *suite) (string, error) {
	path := s.file("busy")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho done\n"), 0o755); err != nil {
		return "", err
	}
	writer, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return "", err
	}
	r, err := s.start(wait{args: args("--interval 20ms --json --timeout 20s --", path)})
	if err != nil {
		writer.Close()
		return "", err
	}
	time.Sleep(300 * time.Millisecond)
	writer.Close()
	e := r.end()
	o, err := e.outcome()
	return fmt.Sprintf("NOT_READY while it was written, %s at attempt %d", o.Status, o.Attempts),
		errors.Join(err, e.expect(0, "text file busy"))
}
