//go:build unix

package system

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

const signalsHelper = "POLL_TEST_SIGNALS_HELPER"

// TestSignalsHelperProcess is the program of the tests below. It says when it
// is ready, and dies of the first signal.
func TestSignalsHelperProcess(t *testing.T) {
	if os.Getenv(signalsHelper) == "" {
		t.Skip("only for the other tests")
	}
	ctx, _, _ := CatchSignals(context.Background())
	fmt.Println("ready", os.Getpid())
	<-ctx.Done()
	cause, ok := errors.AsType[*SignalError](context.Cause(ctx))
	if !ok {
		os.Exit(1)
	}
	fmt.Println(cause)
	os.Exit(DieOf(cause.Signal))
}

// A process is the helper, started.
type process struct {
	*exec.Cmd
	out    *bufio.Scanner
	stderr bytes.Buffer
}

func startHelper(t *testing.T) *process {
	t.Helper()
	if signal.Ignored(syscall.SIGINT) || signal.Ignored(syscall.SIGHUP) {
		t.Skip("started by nohup or in the background, and the helper would inherit that")
	}
	p := &process{Cmd: exec.Command(os.Args[0], "-test.run=^TestSignalsHelperProcess$")}
	p.Env = append(os.Environ(), signalsHelper+"=1")
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.Cmd.Stderr = &p.stderr
	stdout, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewScanner(stdout)
	if err := p.Start(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { syscall.Kill(-p.Process.Pid, syscall.SIGKILL) })
	return p
}

// line returns the next line of the helper's.
func (p *process) line() string {
	p.out.Scan()
	return p.out.Text()
}

// end returns the rest of the helper's lines, and how it ended.
func (p *process) end(t *testing.T) (rest string, status syscall.WaitStatus) {
	t.Helper()
	var lines []string
	for p.out.Scan() {
		lines = append(lines, p.out.Text())
	}
	if err := p.Wait(); err != nil && p.ProcessState == nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n"), p.ProcessState.Sys().(syscall.WaitStatus)
}

func (p *process) send(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(p.Process.Pid, sig); err != nil {
		t.Fatal(err)
	}
}

func wantDeathBy(t *testing.T, status syscall.WaitStatus, want syscall.Signal) {
	t.Helper()
	if !status.Signaled() || status.Signal() != want || status.CoreDump() {
		t.Errorf("have wait status %#x, want a death by %s without a core", status, unix.SignalName(want))
	}
}

func TestDieOf(t *testing.T) {
	t.Parallel()
	for _, sig := range ending() {
		p := startHelper(t)
		p.line()
		p.send(t, sig)
		rest, status := p.end(t)
		if want := "ended by " + unix.SignalName(sig); rest != want {
			t.Errorf("have %q, want %q", rest, want)
		}
		wantDeathBy(t, status, sig)
		if p.stderr.Len() > 0 {
			t.Errorf("%s: have %q on stderr, want nothing", unix.SignalName(sig), p.stderr.String())
		}
	}
}

// What is caught late prints a dump, or ends the program as it should.
func TestSignalsWithADumpAreCaughtFirst(t *testing.T) {
	t.Parallel()
	plain := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} // by default they only end it
	all := ending()
	if first, rest := all[0], all[len(all)-len(plain):]; first != syscall.SIGQUIT || !slices.Equal(rest, plain) {
		t.Errorf("have %v", all)
	}
}

func TestEchoIsNoSecondSignal(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		signal syscall.Signal
		after  time.Duration
		want   bool
	}{
		"the same at once":  {syscall.SIGTERM, echoTime - 1, false},
		"the same later":    {syscall.SIGTERM, echoTime, true},
		"the other at once": {syscall.SIGINT, 0, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			caught, second := make(chan os.Signal), make(chan struct{})
			go watch(caught, t.Context().Done(), cancel, second)
			caught <- syscall.SIGTERM
			<-ctx.Done()
			time.Sleep(test.after)
			caught <- test.signal
			synctest.Wait()
			have := false
			select {
			case <-second:
				have = true
			default:
			}
			if have != test.want {
				t.Errorf("%s: have %t, want %t", name, have, test.want)
			}
		})
	}
}

func TestReleaseEndsTheCatching(t *testing.T) {
	ctx, hurry, release := CatchSignals(t.Context())
	if ctx.Err() != nil {
		t.Fatal("the context is done at once")
	}
	release()
	if <-ctx.Done(); !errors.Is(context.Cause(ctx), context.Canceled) {
		t.Errorf("have cause %v", context.Cause(ctx))
	}
	select {
	case <-hurry:
		t.Error("hurry is closed")
	default:
	}
}
