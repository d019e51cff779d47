//go:build unix

package system

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
)

// tellsStart reports whether startOf knows the start of a process on this system.
const tellsStart = runtime.GOOS == "linux" || runtime.GOOS == "darwin"

func TestProcessEnd(t *testing.T) {
	t.Parallel()
	child := exec.Command("cat")
	stdin, err := child.StdinPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	gone, err := ProcessEnd(child.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-gone:
		t.Error("a process that runs is said to have ended")
	default:
	}
	stdin.Close()
	if tellsStart {
		<-gone // the end is seen before child.Wait
	}
	if err := child.Wait(); err != nil {
		t.Error(err)
	}
	<-gone
	if gone, err := ProcessEnd(child.Process.Pid); err != nil {
		t.Error(err)
	} else {
		<-gone
	}
}

func TestIsAlive(t *testing.T) {
	t.Parallel()
	pid := os.Getpid()
	if !isAlive(pid, startOf(pid)) || !isAlive(pid, "") {
		t.Error("this process is said to have ended")
	}
	if isAlive(pid, "1") && tellsStart {
		t.Error("a process is mistaken for an earlier one of that number")
	}
}
