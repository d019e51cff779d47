package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// If the reader of a terminal stops, poll may end in the middle of a drawing. No mode of the terminal may stay
// changed then, after a deadline or any signal.
func TestTerminalThatNobodyReads(t *testing.T) {
	t.Parallel()
	for name, signals := range map[string][]syscall.Signal{"deadline": nil, "TERM": {syscall.SIGTERM}, "KILL": {syscall.SIGKILL}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			master, slave := openTerminal(t)
			timeout := "60s" // long, so that the signals end poll
			if signals == nil {
				timeout = "3s"
			}
			cmd := exec.Command("poll", "--timeout", timeout, "--grace", "1ms", "--interval", "1ms", "--targets", "-", "--until", "$exit == 9", "--", "true", "{}")
			cmd.Stdin = strings.NewReader(fmt.Sprintf(strings.Repeat("a target with a long name, number %d\n", 18), numbers(18)...))
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TERM=xterm", "GORACE=" + raceAtOnce}
			cmd.Stderr = slave
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { cmd.Process.Kill() })
			for limit := time.Now().Add(patience); !stuck(t, master); time.Sleep(10 * time.Millisecond) {
				if time.Now().After(limit) {
					t.Fatal("it is not stuck")
				}
			}
			for _, sig := range signals {
				cmd.Process.Signal(sig)
			}
			cmd.Wait()
			text := make([]byte, 1<<20)
			n, _ := master.Read(text)
			if text = text[:n]; !bytes.Contains(text, []byte("\x1b[J")) || bytes.Contains(text, []byte("\x1b[?")) {
				t.Errorf("have %q, want drawings that change no mode", text)
			}
		})
	}
}

func numbers(n int) (list []any) {
	for i := range n {
		list = append(list, i)
	}
	return list
}

// stuck reports whether a terminal accepts no more output: the number of unread bytes is large and does not
// change.
func stuck(t *testing.T, master *os.File) bool {
	t.Helper()
	unread := func() int {
		n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCINQ)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := unread()
	time.Sleep(500 * time.Millisecond)
	return before > 1000 && unread() == before
}

// openTerminal opens a pseudo-terminal that has rows for 18 targets.
func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminals: ", err)
	}
	t.Cleanup(func() { master.Close() })
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 150})
	}
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { slave.Close() })
	return master, slave
}
