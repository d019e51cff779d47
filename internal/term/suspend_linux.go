package term

import (
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// orphanTime is how long a stop may take to begin. A process that no shell could
// continue is not stopped at all.
const orphanTime = 100 * time.Millisecond

// onSuspend calls f whenever the terminal asks the process to stop (Ctrl-Z). f calls
// stop, which stops it as if nobody had caught that and returns once it goes on. After
// release f is no longer called.
func onSuspend(f func(stop func())) (release func()) {
	if signal.Ignored(unix.SIGTSTP) {
		return func() {}
	}
	asked, released := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(asked, unix.SIGTSTP)
	go func() {
		for {
			select {
			case <-asked:
				f(stop)
			case <-released:
				return
			}
		}
	}()
	return func() {
		signal.Stop(asked)
		close(released)
	}
}

// stop stops the process by the system's default action.
func stop() {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, unix.SIGCONT)
	defer signal.Stop(continued)
	// os/signal keeps its handler when nobody is notified any more, which does nothing.
	var standard, caught action
	setAction(&standard, &caught)
	defer setAction(&caught, nil)
	_ = syscall.Kill(syscall.Getpid(), unix.SIGTSTP)
	select {
	case <-continued:
	case <-time.After(orphanTime):
	}
}

// An action has room for the kernel's struct sigaction on every architecture. Its zero
// value is the default action: SIG_DFL, no flags and an empty mask are all zero, in any
// order of the fields.
type action [64]byte

// setAction sets the action of SIGTSTP and, unless old is nil, stores the one before.
func setAction(now, old *action) {
	setSize := uintptr(8) // of the kernel's sigset_t
	if strings.HasPrefix(runtime.GOARCH, "mips") {
		setSize = 16
	}
	_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGTSTP),
		uintptr(unsafe.Pointer(now)), uintptr(unsafe.Pointer(old)), setSize, 0, 0)
}
