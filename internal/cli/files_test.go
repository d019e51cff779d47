package cli

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"testing"
)

// Calls between two files of a package go in one direction.
func TestFiles_callOneWay(t *testing.T) {
	t.Parallel()
	calls := callsBetweenFiles(t, "poll")
	for way, there := range calls {
		if back := calls[[2]string{way[1], way[0]}]; back != nil && way[0] < way[1] {
			t.Errorf("%s calls %s of %s, which calls %s", way[0], there, way[1], back)
		}
	}
}

// The files of a package have an order, and calls go from earlier to later files, so that readers follow one
// direction. The test repeatedly removes files that call no remaining file. The files that are left call in a
// circle.
func TestFiles_pointDown(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"internal/cli", "internal/ui", "internal/cli/read", "internal/cli/run", "internal/cli/commands", "internal/argv", "internal/targets", "internal/resume", "poll/internal/request", "status/expr"} {
		calls := callsBetweenFiles(t, dir)
		for left := 0; left != len(calls); {
			left = len(calls)
			var callers []string
			for way := range calls {
				callers = append(callers, way[0])
			}
			maps.DeleteFunc(calls, func(way [2]string, _ []string) bool { return !slices.Contains(callers, way[1]) })
		}
		for way, names := range calls {
			t.Errorf("%s: %s calls %s of %s, and so in a circle", dir, way[0], names, way[1])
		}
	}
}

// callsBetweenFiles returns the functions that files of a package use from other files of the package.
func callsBetweenFiles(t *testing.T, dir string) map[[2]string][]string {
	t.Helper()
	dir = filepath.Join("..", "..", dir)
	pkg, err := build.Default.ImportDir(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	files := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range pkg.GoFiles {
		file, err := parser.ParseFile(files, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, file)
	}
	uses := types.Info{Uses: make(map[*ast.Ident]types.Object)}
	lenient := types.Config{Importer: nowhere{}, Error: func(error) {}} // the declarations of other packages do not matter
	checked, _ := lenient.Check(pkg.Name, files, parsed, &uses)
	calls := make(map[[2]string][]string)
	for name, of := range uses.Uses {
		f, isFunc := of.(*types.Func)
		if !isFunc || f.Pkg() != checked || types.IsInterface(receiver(f)) {
			continue
		}
		from, to := filepath.Base(files.Position(name.Pos()).Filename), filepath.Base(files.Position(f.Pos()).Filename)
		if from != to {
			calls[[2]string{from, to}] = append(calls[[2]string{from, to}], f.Name())
		}
	}
	if len(calls) == 0 {
		t.Errorf("%s: no calls between files were found", dir)
	}
	return calls
}

// receiver returns the type of the receiver of a method, and the invalid type for a function.
func receiver(f *types.Func) types.Type {
	if r := f.Signature().Recv(); r != nil {
		return r.Type()
	}
	return types.Typ[types.Invalid]
}

// A nowhere is an importer of empty packages.
type nowhere struct{}

func (nowhere) Import(path string) (*types.Package, error) {
	return types.NewPackage(path, filepath.Base(path)), nil
}
