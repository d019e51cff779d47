package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The public packages name no flag, since other programs have different flags.
func TestTheLibraryNamesNoFlag(t *testing.T) {
	t.Parallel()
	flag := regexp.MustCompile(`--[a-z]|(^|[ (])-[a-zA-Z][ ,)]`)
	root := filepath.Join("..", "..")
	looked := 0
	for _, dir := range packageDirs(t, root) {
		if !isLibrary(dir) {
			continue
		}
		for _, literal := range literals(t, filepath.Join(root, dir)) {
			looked++
			if flag.MatchString(literal.Value) {
				t.Errorf("%s has %s", dir, literal.Value)
			}
		}
	}
	if looked < 1000 {
		t.Errorf("only %d literals were looked at", looked)
	}
}

// isLibrary reports whether a package is in poll, status or backoff, which other programs use.
func isLibrary(dir string) bool {
	first, _, _ := strings.Cut(dir, "/")
	return first == "poll" || first == "status" || first == "backoff"
}

// literals returns the string literals of a package, without its tests.
func literals(t *testing.T, dir string) []*ast.BasicLit {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []*ast.BasicLit
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				list = append(list, l)
			}
			return true
		})
	}
	return list
}
