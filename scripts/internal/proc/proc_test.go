//go:build linux

package proc

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	g := WatchMemory(os.Getpid())
	ballast := make([]byte, 64<<20)
	for i := range ballast {
		ballast[i] = 1
	}
	if have := g.Stop(); have < int64(len(ballast)) {
		t.Errorf("have %d, want more than %d", have, len(ballast))
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
	want := []Process{{PID: cmd.Process.Pid, Name: "sleep"}}
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
