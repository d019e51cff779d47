package cli

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/pollcli/poll"

// A leaf has neither flags nor output, and imports no package of the module.
const leaf = "internal/words"

// leaves are the packages under internal/ that the public packages and poll/internal may import.
var leaves = []string{leaf, "internal/connect"}

// floors lists the packages from the top to the bottom, in the order of CONTRIBUTING.md. Each package has the
// list of the packages that it may import.
var floors = []struct {
	pkg   string
	below []string
}{
	{"", []string{"internal/cli", "internal/ui/term"}},
	{"internal/cli", []string{"internal/cli/commands", "internal/cli/run", "internal/cli/read", "internal/argv", "docs", "internal/ui", "internal/system", "internal/ui/term", leaf}},
	{"internal/cli/commands", []string{"internal/cli/run", "internal/cli/read", "internal/argv", "internal/learn", "internal/system", "internal/ui/term", leaf, "poll", "status/presets", "status", "status/expr", "backoff", "backoff/learn", "backoff/simulate"}},
	{"internal/cli/run", []string{"internal/cli/read", "internal/targets", "internal/argv", "internal/ui", "internal/resume", "internal/learn", "internal/system", "internal/ui/term", "poll/fleet", "poll", leaf, "internal/connect", "status", "status/expr", "backoff"}},
	{"internal/cli/read", []string{"internal/targets", "internal/argv", "internal/ui", "internal/resume", "internal/learn", "internal/system", "internal/ui/term", "poll/fleet", "poll", leaf, "internal/connect", "status/presets", "status", "status/expr", "backoff", "backoff/learn"}},
	{"internal/resume", []string{"internal/argv", "internal/system", "internal/connect", leaf, "poll", "status"}},
	{"internal/targets", []string{"internal/argv", leaf, "internal/connect"}},
	{"docs", nil},
	{"internal/ui", []string{"internal/ui/term", leaf, "poll", "status", "status/expr"}},
	{"internal/httpscript", []string{"internal/ui/term"}}, // for tests: no floor may import it
	{"internal/ui/term", nil},
	{"internal/learn", []string{"internal/argv", "internal/system", leaf, "poll", "status", "status/expr", "backoff/learn"}},
	{"internal/argv", []string{leaf}},
	{"internal/system", nil},
	{"adapters/internal/jobs", []string{"poll", "backoff"}}, // for the tests of the adapters
	{"poll/fleet", []string{"poll", "poll/internal/pace", "internal/connect", "backoff"}},
	{"poll", []string{"poll/internal/coach", "poll/internal/ratelimit", "poll/internal/meaning", "poll/internal/request", "poll/internal/process", "poll/internal/pace", leaf, "internal/connect", "status", "status/expr", "backoff"}},
	{"poll/internal/request", []string{"poll/internal/ratelimit", "poll/internal/meaning", "poll/internal/stream", leaf, "internal/connect", "status", "status/expr"}},
	{"poll/internal/process", []string{"poll/internal/meaning", "poll/internal/stream", leaf, "internal/connect", "status"}},
	{"poll/internal/pace", nil},
	{"poll/internal/ratelimit", []string{"poll/internal/meaning", "status"}},
	{"poll/internal/coach", []string{"poll/internal/meaning", leaf, "status", "status/expr"}},
	{"poll/internal/meaning", []string{leaf, "status", "status/expr"}},
	{"poll/internal/stream", nil},
	{"status/presets", []string{"status", "status/expr"}},
	{"status", []string{"status/expr", leaf}},
	{"status/expr", []string{leaf}},
	{"backoff/learn", []string{"backoff", leaf}},
	{"backoff/simulate", []string{"backoff", leaf}},
	{"backoff", []string{leaf}},
	{leaf, nil},
	{"internal/connect", nil},
}

// only maps each external module to the packages that may import the module. Modules that are not listed must
// not be imported.
var only = map[string][]string{
	"github.com/urfave/cli/v2":      {"internal/cli"},
	"github.com/tidwall/gjson":      {"status/expr", "poll/internal/meaning"},
	"github.com/itchyny/gojq":       {"status/expr"},
	"github.com/fatih/color":        {"internal/ui/term"},
	"github.com/mattn/go-colorable": {"internal/ui/term"},
	"github.com/mattn/go-runewidth": {"internal/ui/term"},
	"github.com/dunglas/httpsfv":    {"poll/internal/ratelimit"},
	"github.com/gofrs/flock":        {"internal/system", "poll/fleet"},
	"github.com/gomodule/redigo":    {"poll/fleet", "poll/fleet"},
	"go.yaml.in/yaml/v3":            {"internal/targets"},
	"golang.org/x/sync":             {"poll"},
	"golang.org/x/text":             {"status/expr"},
	"golang.org/x/term":             {"internal/ui/term"},
	"golang.org/x/sys":              {"internal/system", "internal/ui/term", "poll/internal/process"},
}

// systems are the systems whose files are checked, since a file for only one system has its own imports.
var systems = []string{"linux", "darwin", "freebsd", "windows"}

func TestArrows(t *testing.T) {
	root := filepath.Join("..", "..")
	for _, dir := range packageDirs(t, root) {
		for _, system := range systems {
			for _, imported := range importsOf(t, filepath.Join(root, dir), system) {
				if why := forbidden(dir, imported); why != "" {
					t.Errorf("%s (%s) imports %s: %s", path.Join(module, dir), system, imported, why)
				}
			}
		}
	}
}

// The list is in order: no package imports a package above itself.
func TestArrows_pointDown(t *testing.T) {
	height := func(pkg string) int {
		for i := range floors {
			if floors[i].pkg == pkg {
				return i
			}
		}
		t.Errorf("%s is on no floor", pkg)
		return -1
	}
	for i, floor := range floors {
		for _, below := range floor.below {
			if height(below) <= i {
				t.Errorf("%s stands above %s, which may import it", below, floor.pkg)
			}
		}
	}
}

// The public packages import only a few packages of internal/, and these packages import nothing of the
// module.
func TestArrows_leaves(t *testing.T) {
	for _, floor := range floors {
		_, ofLine := strings.CutPrefix(floor.pkg, "internal/")
		switch {
		case slices.Contains(leaves, floor.pkg):
			if floor.below != nil {
				t.Errorf("%s is a leaf, and may import %q", floor.pkg, floor.below)
			}
		case !ofLine && floor.pkg != "":
			for _, below := range floor.below {
				if strings.HasPrefix(below, "internal/") && !slices.Contains(leaves, below) {
					t.Errorf("%s may import %s, which is not a leaf", floor.pkg, below)
				}
			}
		}
	}
}

// forbidden returns the reason against an import of the package imported by the package in dir. It returns ""
// for an allowed import.
func forbidden(dir, imported string) string {
	own, inside := strings.CutPrefix(imported, module+"/")
	first, _, _ := strings.Cut(imported, "/")
	switch {
	case strings.HasPrefix(dir, "scripts/"):
		return "" // people run scripts by hand, so scripts may import anything
	case inside:
		for _, floor := range floors {
			if floor.pkg == dir {
				if slices.Contains(floor.below, own) {
					return ""
				}
				return "it does not stand below"
			}
		}
		return "it stands on no floor"
	case !strings.Contains(first, "."):
		return "" // the standard library
	}
	for name, importers := range only {
		if imported != name && !strings.HasPrefix(imported, name+"/") {
			continue
		}
		if slices.Contains(importers, dir) {
			return ""
		}
		return "that is for " + strings.Join(importers, ", ")
	}
	return "nobody may"
}

// packageDirs returns the directories with Go files below root, with slashes, and "" for root. It omits
// directories that the go command ignores, and directories of other modules.
func packageDirs(t *testing.T, root string) []string {
	t.Helper()
	var dirs []string
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		base := entry.Name()
		if name != root {
			_, err := os.Stat(filepath.Join(name, "go.mod"))
			if err == nil || base == "testdata" || strings.HasPrefix(base, "_") || strings.HasPrefix(base, ".") {
				return filepath.SkipDir
			}
		}
		sources, err := filepath.Glob(filepath.Join(name, "*.go"))
		if len(sources) > 0 {
			dir, _ := filepath.Rel(root, name)
			dirs = append(dirs, strings.TrimPrefix(filepath.ToSlash(dir), "."))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) < len(floors) {
		t.Fatalf("only the packages %q were found", dirs)
	}
	return dirs
}

// importsOf returns the imports of a package on a system, without the imports of tests.
func importsOf(t *testing.T, dir, system string) []string {
	t.Helper()
	context := build.Default
	context.GOOS = system
	context.CgoEnabled = false
	p, err := context.ImportDir(dir, 0)
	if err != nil {
		if _, none := err.(*build.NoGoError); none {
			return nil
		}
		t.Fatal(err)
	}
	return p.Imports
}

// Calls between two files of a package go in one direction.
func TestFiles_callOneWay(t *testing.T) {
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
	for _, dir := range []string{"internal/cli", "internal/ui", "internal/cli/read", "internal/cli/run", "internal/cli/commands", "internal/argv", "internal/targets", "internal/resume", "poll/internal/request", "status/expr", "status", "poll/internal/meaning", "poll/internal/coach"} {
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
	pkg := must(build.Default.ImportDir(dir, 0))
	files := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range pkg.GoFiles {
		file := must(parser.ParseFile(files, filepath.Join(dir, name), nil, parser.SkipObjectResolution))
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

// The public packages name no flag, since other programs have different flags.
func TestTheLibraryNamesNoFlag(t *testing.T) {
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
	entries := must(os.ReadDir(dir))
	var list []*ast.BasicLit
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file := must(parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, 0))
		ast.Inspect(file, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				list = append(list, l)
			}
			return true
		})
	}
	return list
}

// must returns value, and panics if err is not nil: the preparation of a test has failed.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
