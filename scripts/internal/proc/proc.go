//go:build linux

// Package proc reads about processes in /proc.
package proc

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Memory returns a size of a process in bytes: VmHWM, the peak resident size, or
// VmRSS, the current one; 0 if the process has ended. The figure from wait4(2) is
// useless: it counts the parent before the exec.
func Memory(pid int, field string) int64 {
	file, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), field+":"); ok {
			kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return kib << 10
		}
	}
	return 0
}

func Descriptors(pid int) int {
	entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return len(entries)
}

// A Gauge watches the memory of a process until stopped.
type Gauge struct {
	quit chan struct{}
	peak chan int64
}

func WatchMemory(pid int) *Gauge {
	g := &Gauge{quit: make(chan struct{}), peak: make(chan int64)}
	go func() {
		var peak int64
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			peak = max(peak, Memory(pid, "VmHWM"))
			select {
			case <-tick.C:
			case <-g.quit:
				g.peak <- max(peak, Memory(pid, "VmHWM"))
				return
			}
		}
	}()
	return g
}

// Stop returns the peak resident size in bytes.
func (g *Gauge) Stop() int64 {
	close(g.quit)
	return <-g.peak
}
