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

func TestDescriptors(t *testing.T) {
	before := Descriptors(os.Getpid())
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if have := Descriptors(os.Getpid()); have != before+1 {
		t.Errorf("have %d, want %d", have, before+1)
	}
}

func TestCPU(t *testing.T) {
	t.Parallel()
	before := CPU(os.Getpid())
	for began := time.Now(); CPU(os.Getpid()) < before+50*time.Millisecond; {
		if time.Since(began) > 20*time.Second {
			t.Fatalf("it has not grown from %s", before)
		}
	}
	if have := CPU(1<<22 + 1); have != 0 {
		t.Errorf("no such process: have %s, want 0", have)
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
