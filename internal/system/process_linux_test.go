package system

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// leaderless is an environment variable. If it is set, this program ends its first thread, and then runs until
// stdin ends.
const leaderless = "POLL_TEST_LEADERLESS"

// The init functions run on the first thread, so this function can end that thread.
func init() {
	if os.Getenv(leaderless) != "" {
		go func() {
			io.Copy(io.Discard, os.Stdin)
			os.Exit(0)
		}()
		syscall.Syscall(syscall.SYS_EXIT, 0, 0, 0)
	}
}

// A process has ended when its last thread has ended, although its parent has not waited for the process.
func TestWatchProcess_threads(t *testing.T) {
	t.Parallel()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), leaderless+"=1")
	watchEnd(t, child, func() {
		for { // wait until the first thread has ended
			stat := must(os.ReadFile(fmt.Sprintf("/proc/%d/stat", child.Process.Pid)))
			if bytes.Contains(stat, []byte(") Z ")) {
				break
			}
		}
	})
}
