//go:build linux

package proc

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	self := os.Getpid()
	g := WatchMemory(self)
	ballast := make([]byte, 64<<20)
	for i := range ballast {
		ballast[i] = 1
	}
	if have := Memory(self, "VmRSS"); have < int64(len(ballast)) {
		t.Errorf("resident: have %d, want more than %d", have, len(ballast))
	}
	if have := g.Stop(); have < int64(len(ballast)) {
		t.Errorf("gauge: have %d, want more than %d", have, len(ballast))
	}
	if ballast[1] != 1 {
		t.Error("the ballast is gone")
	}
	if have := Memory(1<<22+1, "VmRSS"); have != 0 {
		t.Errorf("no such process: have %d, want 0", have)
	}
}

func TestMarked(t *testing.T) {
	t.Parallel()
	mark := fmt.Sprintf("POLL_PROC_TEST=%d", os.Getpid())
	cmd := exec.Command("sleep", "20")
	cmd.Env = []string{mark}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	want := []Process{{PID: cmd.Process.Pid, Group: syscall.Getpgrp(), Name: "sleep"}}
	if have := Marked(mark); !slices.Equal(have, want) {
		t.Errorf("have %v, want %v", have, want)
	}
	cmd.Process.Kill()
	for findMarked(mark) != nil {
		// It becomes a zombie.
		time.Sleep(time.Millisecond)
	}
	cmd.Wait()
}
