// Command vet is go vet for what differs between systems, on the one that GOOS and GOARCH
// name. It reads everything from source, while go vet compiles the standard library first.
package main

import (
	"log"
	"os"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/passes/copylock"
	"golang.org/x/tools/go/analysis/passes/lostcancel"
	"golang.org/x/tools/go/analysis/passes/printf"
	"golang.org/x/tools/go/analysis/passes/unsafeptr"
	"golang.org/x/tools/go/packages"
)

func main() {
	log.SetFlags(0)
	found, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax | packages.NeedModule, Tests: true}, os.Args[1:]...)
	if err != nil {
		log.Fatal(err)
	}
	if packages.PrintErrors(found) > 0 {
		os.Exit(1)
	}
	analyzers := []*analysis.Analyzer{copylock.Analyzer, lostcancel.Analyzer, printf.Analyzer, unsafeptr.Analyzer}
	graph, err := checker.Analyze(analyzers, found, nil)
	if err != nil {
		log.Fatal(err)
	}
	graph.PrintText(os.Stdout, 0)
	for _, action := range graph.Roots {
		if action.Err != nil || len(action.Diagnostics) > 0 {
			os.Exit(1)
		}
	}
}
