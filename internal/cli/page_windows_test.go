package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"golang.org/x/sys/windows"
	"golang.org/x/tools/txtar"
)

// TestWindowsPage runs the examples of docs/windows.md, each of which has to succeed: those
// in bat by cmd.exe, and those in powershell as both kinds of PowerShell hand them on.
func TestWindowsPage(t *testing.T) {
	t.Parallel()
	world, err := txtar.ParseFile(filepath.Join("testdata", "readme.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	run := map[string]int{}
	try := func(shell, script string) {
		run[shell]++
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			if stdout, err := runIn(t, world, script, map[string]func(dir, script string) *exec.Cmd{"cmd": batch(t), "pwsh": powershell(t)}[shell]); err != nil || stdout == "" {
				t.Errorf("%v, and it printed %q", err, stdout)
			}
		})
	}
	for _, b := range blocks(page(t, "docs/windows.md")) {
		switch b.language {
		case "bat":
			for line := range strings.Lines(b.text) {
				try("cmd", line)
			}
		case "powershell":
			if strings.HasPrefix(b.text, "$env:") {
				try("pwsh", b.text)
				continue
			}
			for line := range strings.Lines(b.text) {
				try("pwsh", line)
			}
		case "yaml":
			var job struct {
				Steps []struct{ Shell, Run string }
			}
			if err := yaml.Unmarshal([]byte(b.text), &job); err != nil {
				t.Fatal(err)
			}
			for _, step := range job.Steps {
				if step.Shell != "bash" { // which TestReadme runs
					try(step.Shell, step.Run)
				}
			}
		}
	}
	if run["cmd"] < 5 || run["pwsh"] < 4 {
		t.Errorf("only %v examples", run)
	}
}

// batch runs a script as a batch file, as GitHub does.
func batch(t *testing.T) func(dir, script string) *exec.Cmd {
	return func(dir, script string) *exec.Cmd {
		text := "@echo off\r\n" + strings.ReplaceAll(script, "\n", "\r\n")
		if err := os.WriteFile(filepath.Join(dir, "step.bat"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return exec.Command("cmd", "/d", "/c", "step.bat")
	}
}

var (
	pollLine    = regexp.MustCompile(`(?m)^(?:\$\w+ = )?(poll .*)$`)
	setVariable = regexp.MustCompile(`(?m)^\$env:(\w+) = '([^']*)'$`)
	// powershellWord is bare or in quotes, of which the double ones hold nothing that
	// PowerShell would expand.
	powershellWord = regexp.MustCompile("^ *(?:([^\\s'\"`$;|&(){}<>]+)|'((?:[^']|'')*)'|\"([^\"`$]*)\")")
)

// powershell runs the line of a script that is about poll as Windows PowerShell 5.1 does; to
// 7.3 it has to mean the same.
func powershell(t *testing.T) func(dir, script string) *exec.Cmd {
	return func(_, script string) *exec.Cmd {
		line := pollLine.FindStringSubmatch(script)
		if line == nil {
			t.Fatalf("no poll in %q", script)
		}
		var want []string
		for rest := strings.TrimSpace(line[1]); rest != ""; {
			m := powershellWord.FindStringSubmatch(rest)
			if m == nil {
				t.Fatalf("PowerShell would take %q for something else", rest)
			}
			want = append(want, m[1]+strings.ReplaceAll(m[2], "''", "'")+m[3])
			rest = rest[len(m[0]):]
		}
		var old []string
		for _, word := range want {
			if strings.ContainsAny(word, " \t") {
				word = `"` + word + `"` // whatever is in it
			}
			old = append(old, word)
		}
		for kind, text := range map[string]string{"5.1": strings.Join(old, " "), "7.3": windows.ComposeCommandLine(want)} {
			if have, err := windows.DecomposeCommandLine(text); err != nil || !slices.Equal(have, want) {
				t.Fatalf("%s: have %q, %v, want %q", kind, have, err, want)
			}
		}
		cmd := exec.Command(want[0], want[1:]...)
		if m := setVariable.FindStringSubmatch(script); m != nil {
			cmd.Env = []string{m[1] + "=" + m[2]}
		}
		return cmd
	}
}
