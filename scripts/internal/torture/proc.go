//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// A process is described by /proc.
type process struct {
	pid, group int
	name       string
}

func (p process) String() string { return fmt.Sprintf("%s (%d of group %d)", p.name, p.pid, p.group) }

// marked returns the live processes of a wait. Killed ones may take a moment to
// disappear, so it looks twice.
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

// look reads about a process; a zombie is not alive.
func look(pid int) (p process, alive bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return p, false
	}
	// "pid (name) state ppid pgrp ...", where the name may contain anything.
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	fields := strings.Fields(string(stat[end+1:]))
	p = process{pid: pid, name: string(stat[open+1 : end])}
	p.group, _ = strconv.Atoi(fields[2])
	return p, fields[0] != "Z" && fields[0] != "X"
}
