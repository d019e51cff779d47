//go:build linux

package main

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// A terminal is a pseudo terminal for a wait.
type terminal struct {
	master, slave *os.File
	before        unix.Termios
	mu            sync.Mutex
	text          strings.Builder
	done          chan struct{}
}

func openTerminal() (*terminal, error) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, skipped("no /dev/ptmx")
	}
	t := &terminal{master: master, done: make(chan struct{})}
	var number int
	err = t.control(master, func(fd int) (err error) {
		if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
			return err
		}
		number, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
		return err
	})
	if err == nil {
		t.slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err == nil {
		err = t.control(t.slave, func(fd int) error {
			size := unix.Winsize{Row: 24, Col: 80}
			return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &size)
		})
	}
	if err == nil {
		t.before, err = t.modes()
	}
	if err != nil {
		master.Close()
		return nil, fmt.Errorf("open a terminal: %w", err)
	}
	go t.read()
	return t, nil
}

func (t *terminal) control(f *os.File, do func(fd int) error) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	if failed := raw.Control(func(fd uintptr) { err = do(int(fd)) }); failed != nil {
		return failed
	}
	return err
}

func (t *terminal) modes() (modes unix.Termios, err error) {
	err = t.control(t.slave, func(fd int) error {
		now, err := unix.IoctlGetTermios(fd, unix.TCGETS)
		if err == nil {
			modes = *now
		}
		return err
	})
	return modes, err
}

// attr makes a process the leader of a session on this terminal, its stdout.
func (t *terminal) attr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 1}
}

func (t *terminal) read() {
	defer close(t.done)
	buf := make([]byte, 4096)
	for {
		n, err := t.master.Read(buf)
		t.mu.Lock()
		t.text.Write(buf[:n])
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// shown closes the terminal and returns what was written to it.
func (t *terminal) shown() string {
	t.slave.Close()
	<-t.done
	return t.text.String()
}

func (t *terminal) close() {
	t.slave.Close()
	t.master.Close()
}

// changed returns what is wrong with the terminal after a wait: its modes differ
// from before, or output has switched it to some mode.
func (t *terminal) changed() error {
	now, err := t.modes()
	if err != nil {
		return err
	}
	if now != t.before {
		return fmt.Errorf("the terminal's modes are %v, not %v", now, t.before)
	}
	shown := t.shown()
	if strings.Contains(shown, "\x1b[?") {
		return fmt.Errorf("a mode of the terminal was switched: %q", shown)
	}
	if shown != "" && !strings.HasSuffix(shown, "\n") && !strings.HasSuffix(shown, "\r\x1b[J") {
		return fmt.Errorf("the last line is not at its beginning: %q", shown[max(0, len(shown)-80):])
	}
	return nil
}
