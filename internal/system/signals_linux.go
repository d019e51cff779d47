package system

import (
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// restoreDefault restores the system's default action for sig. os/signal cannot do
// that for QUIT: its default is Go's own, a dump of all goroutines. No core is
// written.
func restoreDefault(sig syscall.Signal) bool {
	unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	// SIG_DFL, no flags and an empty mask are all zero, in any order of the fields;
	// no architecture's struct sigaction is larger.
	var action [64]byte
	setSize := uintptr(8) // of the kernel's sigset_t
	if strings.HasPrefix(runtime.GOARCH, "mips") {
		setSize = 16
	}
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&action)), 0, setSize, 0, 0)
	return errno == 0
}
