//go:build linux

// Command bench compares poll with the minimal cost of the same work, and with
// other tools that are installed, and prints tables.
//
//	scripts/bench [-rounds N] [-write] [-run REGEXP] [-before FILE]
//
// Every figure is the median of several rounds, in which all entries of a table
// take turns, so that other load on the machine affects all alike. The cost of a
// program is its user and system time, with that of its children. Tools not found
// in PATH are skipped.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
)

func main() {
	if err := bench(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func bench() error {
	rounds := flag.Int("rounds", 15, "how often everything is measured")
	write := flag.Bool("write", false, "write docs/bench.md, too")
	before := flag.String("before", "", "another build of poll, measured where a wait for one target is: `FILE`")
	only := flag.String("run", "", "only the tables whose titles match this `REGEXP`")
	flag.Parse()
	chosen, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("-run: %w", err)
	}
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b, err := prepare(dir, *before, *rounds)
	if err != nil {
		return err
	}
	defer b.close()
	var page bytes.Buffer
	out := io.MultiWriter(os.Stdout, &page)
	fmt.Fprint(out, heading())
	for _, t := range tables() {
		if !chosen.MatchString(t.title) {
			continue
		}
		fmt.Fprintf(out, "\n## %s\n\n%s\n\n", t.title, t.about)
		if err := t.print(out, b); err != nil {
			return fmt.Errorf("%s: %w", t.title, err)
		}
	}
	if *write {
		return os.WriteFile(filepath.Join("docs", "bench.md"), page.Bytes(), 0o644)
	}
	return nil
}

// A table is one measurement.
type table struct {
	title string
	about string // what is measured, its limit, and the reason for a gap
	print func(io.Writer, *workshop) error
}

func tables() []table {
	return []table{
		startUp(), commandAttempt(), httpAttempt(), memory(), size(), expressions(), sweep(), waits(), manyTargets(), oneLook(),
	}
}
