//go:build torture && linux

package torture

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A terminal is a pseudo terminal for a wait.
type terminal struct {
	slave  *os.File
	before unix.Termios
	shown  chan string
}

func openTerminal(t *testing.T) *terminal {
	t.Helper()
	// Fd would make the file blocking, so that its end is never seen.
	fd, err := unix.Open("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Skip("no /dev/ptmx")
	}
	master := os.NewFile(uintptr(fd), "/dev/ptmx")
	t.Cleanup(func() { master.Close() })
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
	}
	tty := &terminal{shown: make(chan string, 1)}
	if err == nil {
		tty.slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.slave.Close() })
	tty.before = tty.modes(t)
	go func() {
		text, _ := io.ReadAll(master) // it ends with an error when nobody has the slave any more
		tty.shown <- string(text)
	}()
	return tty
}

func (tty *terminal) modes(t *testing.T) unix.Termios {
	t.Helper()
	modes, err := unix.IoctlGetTermios(int(tty.slave.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *modes
}

// check closes the terminal: its modes are those of before, output has switched it to none, and
// its cursor is at the beginning of a line.
func (tty *terminal) check(t *testing.T) {
	t.Helper()
	if now := tty.modes(t); now != tty.before {
		t.Errorf("the modes of the terminal are %v, want %v", now, tty.before)
	}
	tty.slave.Close()
	shown := <-tty.shown
	if strings.Contains(shown, "\x1b[?") {
		t.Errorf("a mode of the terminal was switched: %q", shown)
	}
	if shown != "" && !strings.HasSuffix(shown, "\n") && !strings.HasSuffix(shown, "\r\x1b[J") {
		t.Errorf("the last line is not at its beginning: %q", shown[max(0, len(shown)-80):])
	}
}
