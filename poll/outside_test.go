package poll_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const outside = "testdata/outside/main.go"

// A program of another module compiles and waits.
func TestFromOutside(t *testing.T) {
	t.Parallel()
	goCommand, err := exec.LookPath("go")
	if err != nil {
		t.Skip(err)
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	copyFile(t, outside, filepath.Join(dir, "main.go"))
	copyFile(t, filepath.Join(root, "adapters", "temporalpoll", "go.sum"), filepath.Join(dir, "go.sum"))
	module := "module example.com/outside\n\ngo 1.26\n\nrequire (\n\tgithub.com/pollcli/poll v0.0.0\n\tgolang.org/x/time v0.3.0\n)\n\n" +
		"replace github.com/pollcli/poll => " + root + "\n"
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(module), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), goCommand, "run", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "HTTP_PROXY=", "http_proxy=")
	have, err := cmd.CombinedOutput()
	if want := "until: 2\nget: {\"state\":\"done\"}\nown: here\ngroup: 2\n"; err != nil || string(have) != want {
		t.Errorf("have %q, %v, want %q", have, err, want)
	}
}

// Each of its waits takes less than 15 lines, a Limiter less than 20.
func TestWaitsAreShort(t *testing.T) {
	t.Parallel()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, outside, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	waits := 0
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Name.Name == "main" {
			continue
		}
		waits++
		if lines := files.Position(f.End()).Line - files.Position(f.Pos()).Line + 1; lines >= 15 {
			t.Errorf("%s has %d lines", f.Name, lines)
		}
	}
	if waits != 6 {
		t.Errorf("have %d functions, want 6", waits)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, []byte(strings.ReplaceAll(string(text), "\r\n", "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}
