package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestWindowsPage runs the examples of docs/windows.md for cmd.exe. Each example must succeed.
func TestWindowsPage(t *testing.T) {
	t.Parallel()
	world, err := txtar.ParseFile(filepath.Join("testdata", "readme.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	run := 0
	try := func(script string) {
		run++
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			if stdout, err := runIn(t, world, script, batch(t)); err != nil || stdout == "" {
				t.Errorf("%v, and it printed %q", err, stdout)
			}
		})
	}
	for _, b := range blocks(page(t, "docs/windows.md")) {
		if b.language == "bat" {
			for line := range strings.Lines(b.text) {
				try(line)
			}
		}
	}
	if run < 4 {
		t.Errorf("only %d examples", run)
	}
}

// batch runs a script as a batch file, like GitHub Actions.
func batch(t *testing.T) func(dir, script string) *exec.Cmd {
	return func(dir, script string) *exec.Cmd {
		text := "@echo off\r\n" + strings.ReplaceAll(script, "\n", "\r\n")
		if err := os.WriteFile(filepath.Join(dir, "step.bat"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return exec.Command("cmd", "/d", "/c", "step.bat")
	}
}
