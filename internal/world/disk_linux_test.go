package world

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// fill makes the disk full for the files of a directory that are open to be written to: later
// writes are lost, and return an error.
func fill(dir string) {
	open, _ := os.ReadDir("/proc/self/fd")
	for _, entry := range open {
		name, _ := os.Readlink("/proc/self/fd/" + entry.Name())
		if !strings.HasPrefix(name, dir+"/") {
			continue
		}
		fd := must(strconv.Atoi(entry.Name()))
		flags, _, _ := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFL, 0)
		if other, err := os.Open(name); err == nil && flags&syscall.O_ACCMODE == syscall.O_RDWR {
			syscall.Dup3(int(other.Fd()), fd, syscall.O_CLOEXEC)
			other.Close()
		}
	}
}
