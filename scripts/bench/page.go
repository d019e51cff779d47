//go:build linux

package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"runtime"
)

const heading = `# Bench

Written by ` + "`go run ./scripts/bench`" + ` on a machine with %d cores, %s, %s/%s.

Every figure is the median of several rounds, in which all programs take turns. The floor is the least that the same work costs a
program in Go. A ratio is poll's cost as a multiple of the other's: less than 1 means that poll costs less. CPU is user and system
time of a program and its children; the server on loopback is not counted. A peer that is not installed is left out.

| | poll | floor | poll / floor | limit | poll / peer |
|---|---|---|---|---|---|
`

func page(results []result) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, heading, runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	for _, r := range results {
		b.WriteString(r.row())
	}
	b.WriteString("\n")
	for _, r := range results {
		if !r.kept() {
			fmt.Fprintf(&b, "- The limit of %s is not met: %s.\n", r.name, r.gap)
		}
	}
	b.WriteString("\nWhat is measured, where `-q` is left out of poll's line:\n\n")
	for _, r := range results {
		fmt.Fprintf(&b, "- %s: %s.\n", r.name, r.about)
	}
	return b.Bytes()
}

// row returns a row of the table.
func (r result) row() string {
	var floor, ratio, limit, peer string
	if installed(r.peer) != nil {
		peer = fmt.Sprintf("%s %.2f", filepath.Base(r.peer[0]), r.toPeer)
	}
	if r.floor > 0 {
		floor, ratio = r.unit.show(r.floor), fmt.Sprintf("%.2f", r.ratio)
	}
	switch {
	case r.limit.ratio > 0:
		ratio, limit = "**"+ratio+"**", fmt.Sprint(r.limit.ratio)
	case r.limit.cost > 0:
		limit = fmt.Sprint(r.limit.cost, " ", r.unit.name)
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s |\n", r.name, r.unit.show(r.poll), floor, ratio, limit, peer)
}

func (r result) kept() bool {
	return (r.limit.ratio == 0 || r.ratio <= r.limit.ratio) && (r.limit.cost == 0 || r.poll <= r.limit.cost*r.unit.size)
}
