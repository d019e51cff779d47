//go:build unix

package cli

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/pollcli/poll/internal/httpscript"
)

// TestReadme runs the examples of README.md and of pages in docs: each block
// that begins with ```console, in a shell and a directory of its own.
//
//   - "$ " begins a command, "> " continues it. All other lines are what the
//     commands print on stdout, to the letter. stderr is not compared; a block
//     about it says 2>&1.
//   - The commands of a block are one script: a variable lives on, and after
//     "exit" nothing is run.
//   - https://api.example.com is a server on the loopback interface, and so is
//     tcp://db.example.com:5432. What it answers, and the files of the directory, of
//     which some are programs, stand in testdata/readme.txtar: its first part has lines
//     METHOD PATH ANSWER..., with answers as package httpscript reads them; they begin
//     anew with each block.
func TestReadme(t *testing.T) {
	t.Parallel()
	world, err := txtar.ParseFile(filepath.Join("testdata", "readme.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"README.md", "docs/many.md", "docs/waiting.md", "docs/learning.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(page)))
		if err != nil {
			t.Fatal(err)
		}
		blocks := consoleBlocks(string(text))
		if len(blocks) == 0 {
			t.Fatalf("%s has no examples", page)
		}
		for _, b := range blocks {
			name, _, _ := strings.Cut(b.script, "\n")
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				if diff := cmp.Diff(b.output, runBlock(t, world, b.script)); diff != "" {
					t.Errorf("%s, line %d (-want +got):\n%s", page, b.line, diff)
				}
			})
		}
	}
}

// A consoleBlock is an example: what was typed, and what came of it.
type consoleBlock struct {
	line           int
	script, output string
}

func consoleBlocks(text string) []consoleBlock {
	var blocks []consoleBlock
	inside := false
	number := 0
	for line := range strings.Lines(text) {
		number++
		switch {
		case strings.HasPrefix(line, "```"):
			inside = strings.TrimSpace(line) == "```console"
			if inside {
				blocks = append(blocks, consoleBlock{line: number})
			}
		case inside:
			b := &blocks[len(blocks)-1]
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				b.script += command
			} else if command, ok := strings.CutPrefix(line, "> "); ok {
				b.script += command
			} else {
				b.output += line
			}
		}
	}
	return blocks
}

// Where the examples look.
const (
	exampleAPI = "https://api.example.com"
	exampleDB  = "tcp://db.example.com:5432"
)

// runBlock runs a script in a fresh world and returns what it printed.
func runBlock(t *testing.T, world *txtar.Archive, script string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(httpscript.Start(listener, routes(t, string(world.Comment))).Close)
	addr := listener.Addr().String()
	here := strings.NewReplacer(exampleAPI, "http://"+addr, exampleDB, "tcp://"+addr)
	there := strings.NewReplacer("http://"+addr, exampleAPI, "tcp://"+addr, exampleDB)
	dir := t.TempDir()
	for _, f := range world.Files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), []byte(here.Replace(string(f.Data))), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("sh", "-c", here.Replace(script))
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "GORACE=" + raceAtOnce}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	ended := cmd.Run()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("it ended with %v and said:\n%s", ended, &stderr)
		}
	})
	return there.Replace(stdout.String())
}

// routes is the API that the examples look at.
func routes(t *testing.T, text string) func(httpscript.Request) *httpscript.Answer {
	t.Helper()
	routes := map[string]func(httpscript.Request) *httpscript.Answer{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := shellWords(line)
		next, err := httpscript.InTurn(fields[2:], nil)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		routes[fields[0]+" "+fields[1]] = next
	}
	return func(r httpscript.Request) *httpscript.Answer {
		next, ok := routes[r.Method+" "+r.URI]
		if !ok {
			t.Errorf("nothing is said of %s %s in testdata/readme.txtar", r.Method, r.URI)
			return nil
		}
		return next(r)
	}
}
