//go:build unix

package cli

import (
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// programs are those that scripts find besides the system's.
func programs() map[string]func() {
	return map[string]func(){"poll": runPoll, "signaled": signaled}
}

// alive reports whether a process runs; a zombie does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) == syscall.ESRCH {
		return false
	}
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !slices.Contains([]byte(strings.TrimSpace(string(out))), 'Z')
}
