package poll

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Between two files calls go in one direction, so that a reader goes on in one direction, too.
func TestFilesCallOneWay(t *testing.T) {
	t.Parallel()
	files := token.NewFileSet()
	var parsed []*ast.File
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "_windows.go") {
			continue
		}
		file, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, file)
	}
	uses := types.Info{Uses: make(map[*ast.Ident]types.Object)}
	lenient := types.Config{Importer: nowhere{}, Error: func(error) {}} // what other packages have is not of interest
	lenient.Check("poll", files, parsed, &uses)
	calls := make(map[[2]string][]string)
	for name, of := range uses.Uses {
		f, isFunc := of.(*types.Func)
		if !isFunc || f.Pkg() == nil || f.Pkg().Name() != "poll" || types.IsInterface(receiver(f)) {
			continue
		}
		from, to := files.Position(name.Pos()).Filename, files.Position(f.Pos()).Filename
		if from != to {
			calls[[2]string{from, to}] = append(calls[[2]string{from, to}], f.Name())
		}
	}
	for way, there := range calls {
		if back := calls[[2]string{way[1], way[0]}]; back != nil && way[0] < way[1] {
			slices.Sort(there)
			slices.Sort(back)
			t.Errorf("%s calls %s of %s, which calls %s", way[0], slices.Compact(there), way[1], slices.Compact(back))
		}
	}
	if len(calls) < 30 {
		t.Errorf("only %d calls between files were found", len(calls))
	}
}

// receiver returns the type that a method is of, that of nothing for a function.
func receiver(f *types.Func) types.Type {
	if r := f.Signature().Recv(); r != nil {
		return r.Type()
	}
	return types.Typ[types.Invalid]
}

// nowhere finds no package.
type nowhere struct{}

func (nowhere) Import(path string) (*types.Package, error) {
	return types.NewPackage(path, filepath.Base(path)), nil
}
