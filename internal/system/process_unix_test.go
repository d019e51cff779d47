//go:build unix

package system

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"
)

func TestProcessEnd(t *testing.T) {
	t.Parallel()
	for name, kill := range map[string]syscall.Signal{"ended": syscall.SIGTERM, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			child := exec.Command("sleep", "60")
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			defer child.Process.Kill()
			ended, err := ProcessEnd(child.Process.Pid)
			if err != nil {
				t.Fatal(err)
			}
			select {
			case <-ended:
				t.Fatal("it is said to have ended, but runs")
			case <-time.After(20 * time.Millisecond):
			}
			child.Process.Signal(kill)
			// Nobody has waited for it: it is a zombie.
			wait(t, ended)
			again, err := ProcessEnd(child.Process.Pid)
			if err != nil {
				t.Fatal(err)
			}
			select {
			case <-again:
			default:
				if runtime.GOOS == "linux" {
					t.Error("a zombie is not known at once")
				}
				wait(t, again)
			}
			child.Wait()
			if gone, err := ProcessEnd(child.Process.Pid); err != nil {
				t.Error(err)
			} else {
				wait(t, gone)
			}
		})
	}
}

func wait(t *testing.T, ended <-chan struct{}) {
	t.Helper()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatal("its end is not noticed")
	}
}

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
}
