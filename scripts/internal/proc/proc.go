//go:build linux

// Package proc reads about processes in /proc.
package proc

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Memory returns the peak resident size of a process in bytes, 0 if it has ended. The
// figure from wait4(2) is useless: it counts the parent before the exec.
func Memory(pid int) int64 {
	file, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
			kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return kib << 10
		}
	}
	return 0
}

// A Process is described by /proc.
type Process struct {
	PID  int
	Name string
}

func (p Process) String() string { return fmt.Sprintf("%s (%d)", p.Name, p.PID) }

// Marked returns the live processes with this NAME=VALUE in their environment. Killed
// ones may take a moment to disappear, so it looks twice.
func Marked(mark string) []Process {
	if len(findMarked(mark)) == 0 {
		return nil
	}
	time.Sleep(20 * time.Millisecond)
	return findMarked(mark)
}

func findMarked(mark string) (found []Process) {
	names, _ := os.ReadDir("/proc")
	want := []byte(mark + "\x00")
	for _, name := range names {
		pid, err := strconv.Atoi(name.Name())
		if err != nil {
			continue
		}
		environ, err := os.ReadFile("/proc/" + name.Name() + "/environ")
		if err != nil || !bytes.Contains(environ, want) {
			continue
		}
		if p, alive := look(pid); alive {
			found = append(found, p)
		}
	}
	return found
}

// look reads about a process; a zombie is not alive.
func look(pid int) (p Process, alive bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return p, false
	}
	name := bytes.LastIndexByte(stat, ')') // it stands in parentheses, and may contain anything
	p = Process{PID: pid, Name: string(stat[bytes.IndexByte(stat, '(')+1 : name])}
	return p, !bytes.ContainsAny(stat[name+2:name+3], "ZX")
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
			peak = max(peak, Memory(pid))
			select {
			case <-tick.C:
			case <-g.quit:
				g.peak <- max(peak, Memory(pid))
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
