//go:build linux

package proc

import (
	"os"
	"testing"
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
