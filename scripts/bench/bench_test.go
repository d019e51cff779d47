//go:build linux

package main

import (
	"os/exec"
	"testing"
)

// TestWorks runs each line of each work once with small sizes. It does not compare the costs.
func TestWorks(t *testing.T) {
	b, err := prepare(t.TempDir(), sizes{targets: 3, elements: 3, hanging: 1, lines: 3, attempts: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer b.server.Close()
	for _, w := range b.works() {
		for _, line := range [][]string{w.poll, w.floor, installed(w.peer)} {
			if line == nil {
				continue
			}
			if _, err := w.measure(line); err != nil {
				t.Errorf("%s: %s: %v", w.name, line, err)
			}
			if line[0] != b.loop { // the costs of a program count whatever its exit code is
				continue
			}
			if out, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil {
				t.Errorf("%s: %s: %v\n%s", w.name, line, err, out)
			}
		}
	}
}
