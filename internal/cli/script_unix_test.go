//go:build unix

package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pollcli/poll/internal/ui/term"
)

// programs returns the programs that scripts use in addition to the programs of the system.
func programs() map[string]func() {
	return map[string]func(){"poll": runPoll, "signaled": signaled}
}

// alive reports whether a process runs. A zombie does not count.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) == syscall.ESRCH {
		return false
	}
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !slices.Contains([]byte(strings.TrimSpace(string(out))), 'Z')
}

// signaled runs a program and sends signals to the program when it is ready:
//
//	signaled [-g] FILE:SIGNAL... PROGRAM [ARG...]
//
// It starts the program in a process group of its own, and for each FILE:SIGNAL
// waits until the file exists, sends the signal to the program (-g: to its
// group, like Ctrl-C), and creates FILE.sent. It prints at the end how the
// program ended, and exits like a shell.
func signaled() {
	args := os.Args[1:]
	var group bool
	if args[0] == "-g" {
		group, args = true, args[1:]
	}
	var steps [][2]string
	for strings.Contains(args[0], ":") {
		file, name, _ := strings.Cut(args[0], ":")
		steps = append(steps, [2]string{file, name})
		args = args[1:]
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	catchIgnored()
	if err := cmd.Start(); err != nil {
		giveUp(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	pid := cmd.Process.Pid
	if group {
		pid = -pid
	}
	for _, step := range steps {
		if err := sendWhenReady(pid, step[0], step[1], ended); err != nil {
			end(cmd.Process.Pid, ended)
			giveUp(err)
		}
	}
	code, err := codeOf(<-ended)
	if err != nil {
		giveUp(err)
	}
	how := fmt.Sprintf("exited with %d", code)
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		how = "died of " + unix.SignalName(status.Signal())
		if status.CoreDump() {
			how += " with a core"
		}
	}
	fmt.Fprintln(os.Stderr, "signaled:", how)
	os.Exit(code)
}

// catchIgnored handles the signals that this program was started to ignore, as under
// nohup or in the background of a shell. A child inherits an ignored signal; a handled
// signal has its default action in the child.
func catchIgnored() {
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}

// end stops poll with SIGINT, so that poll ends its children. SIGKILL would leave the children running.
func end(pid int, ended <-chan error) {
	syscall.Kill(pid, syscall.SIGTERM)
	select {
	case <-ended:
		return
	case <-time.After(time.Second):
	}
	syscall.Kill(pid, syscall.SIGINT) // the second signal skips the grace
	select {
	case <-ended:
	case <-time.After(time.Second):
		syscall.Kill(-pid, syscall.SIGKILL)
	}
}

func giveUp(err error) {
	fmt.Fprintln(os.Stderr, "signaled:", err)
	os.Exit(99)
}

func sendWhenReady(pid int, file, name string, ended chan error) error {
	for limit := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(file); err == nil {
			break
		}
		select {
		case err := <-ended:
			ended <- err
			return fmt.Errorf("%s was never made: the program ended before (%v)", file, err)
		default:
		}
		if time.Now().After(limit) {
			return fmt.Errorf("%s was never made", file)
		}
	}
	if err := syscall.Kill(pid, unix.SignalNum("SIG"+name)); err != nil {
		return fmt.Errorf("send %s: %w", name, err)
	}
	return os.WriteFile(file+".sent", nil, 0o666)
}

// TestCrashHelperProcess is a program that crashes.
func TestCrashHelperProcess(t *testing.T) {
	mode := os.Getenv(crashHelper)
	if mode == "" {
		t.Skip("only for the other test")
	}
	syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
	Main(NewProcess(nil, func(string) (string, bool) {
		if mode == "panic" {
			panic("a panic")
		}
		new(sync.Mutex).Unlock() // recover cannot catch this error
		return "", false
	}, term.System(os.Getenv)))
}

// A crash does not end with exit code 2, which means that nothing was attempted.
func TestCrashIsADeath(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{"fatal": "fatal error: sync: unlock", "panic": "panic: a panic"} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCrashHelperProcess$")
		cmd.Env = append(os.Environ(), crashHelper+"="+mode)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		cmd.Run()
		status := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if !status.Signaled() || status.Signal() != syscall.SIGABRT || status.CoreDump() {
			t.Errorf("%s: have wait status %#x, want a death by SIGABRT without a core", mode, status)
		}
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("%s: have %q on stderr, want %q", mode, &stderr, want)
		}
	}
}
