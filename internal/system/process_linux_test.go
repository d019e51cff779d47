package system

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
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
	stdin, err := child.StdinPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	pid := child.Process.Pid
	for { // wait until the first thread has ended
		stat := must(os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)))
		if bytes.Contains(stat, []byte(") Z ")) {
			break
		}
	}
	hasEnded := must(WatchProcess(pid))
	if hasEnded() {
		t.Error("a process that has a thread is reported as ended")
	}
	stdin.Close()
	for !hasEnded() {
		time.Sleep(time.Millisecond)
	}
	if err := child.Wait(); err != nil {
		t.Error(err)
	}
}
