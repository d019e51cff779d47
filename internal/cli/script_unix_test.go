//go:build unix

package cli

import (
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
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
