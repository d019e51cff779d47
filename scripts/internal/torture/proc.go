//go:build linux

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// A process is one that /proc tells of.
type process struct {
	pid, group int
	name       string
}

func (p process) String() string { return fmt.Sprintf("%s (%d of group %d)", p.name, p.pid, p.group) }

// marked returns the processes of a wait that are alive. What has been killed
// may take a moment to be gone, so they are looked for twice.
func marked(mark string) []process {
	if len(findMarked(mark)) == 0 {
		return nil
	}
	time.Sleep(20 * time.Millisecond)
	return findMarked(mark)
}

func findMarked(mark string) (found []process) {
	names, _ := os.ReadDir("/proc")
	want := []byte(markVariable + "=" + mark + "\x00")
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

// look reads what a process is; a zombie is not alive.
func look(pid int) (p process, alive bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return p, false
	}
	// "pid (name) state ppid pgrp ...", and the name may contain anything.
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	fields := strings.Fields(string(stat[end+1:]))
	p = process{pid: pid, name: string(stat[open+1 : end])}
	p.group, _ = strconv.Atoi(fields[2])
	return p, fields[0] != "Z" && fields[0] != "X"
}

// memory reads a size in bytes of /proc/PID/status: VmHWM, the highest that was
// ever resident, or VmRSS. The figure that wait4(2) gives is of no use: it counts
// the parent before the exec.
func memory(pid int, field string) int64 {
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

// descriptors counts the open files of a process.
func descriptors(pid int) int {
	entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return len(entries)
}

// A gauge watches the memory of a process until it is stopped.
type gauge struct {
	quit chan struct{}
	peak chan int64
}

func watchMemory(pid int) *gauge {
	g := &gauge{quit: make(chan struct{}), peak: make(chan int64)}
	go func() {
		var peak int64
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			peak = max(peak, memory(pid, "VmHWM"))
			select {
			case <-tick.C:
			case <-g.quit:
				g.peak <- peak
				return
			}
		}
	}()
	return g
}

func (g *gauge) stop() int64 {
	close(g.quit)
	return <-g.peak
}
