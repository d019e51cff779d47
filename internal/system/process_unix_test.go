//go:build unix

package system

import (
	"os"
	"os/exec"
	"testing"
)

func TestLook(t *testing.T) {
	t.Parallel()
	if look(os.Getpid()) == nil {
		t.Error("this process is said to have ended")
	}
	child := exec.Command("true")
	if err := child.Run(); err != nil {
		t.Fatal(err)
	}
	if look(child.Process.Pid) != nil {
		t.Error("a process that has ended is waited for")
	}
	if gone, err := ProcessEnd(child.Process.Pid); err != nil {
		t.Error(err)
	} else {
		<-gone
	}
}
