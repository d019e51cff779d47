//go:build linux

// Command torture maltreats the built program in ways that smaller tests cannot:
// floods and the memory they take, clocks, signals at random moments, many
// attempts, many targets. It prints one line per case and "N passed, N failed" at the end; the
// exit code is 1 if any failed. It uses only the loopback interface and leaves no
// process or file behind.
//
//	scripts/torture [-run REGEXP] [-seed N] [-poll FILE]
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

func main() {
	if len(os.Args) == 4 && os.Args[1] == floodWord {
		os.Exit(writeFlood(os.Args[2], os.Args[3]))
	}
	failed, err := torture()
	if err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		os.Exit(125)
	}
	if failed > 0 {
		os.Exit(1)
	}
}

func torture() (failed int, err error) {
	only := flag.String("run", "", "only the cases whose names match this `REGEXP`")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the random moments")
	built := flag.String("poll", "", "the program, if it is built already: `FILE`")
	flag.Parse()
	chosen, err := regexp.Compile(*only)
	if err != nil {
		return 0, fmt.Errorf("-run: %w", err)
	}
	s, err := newSuite(*built, *seed)
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(s.dir)
	fmt.Printf("seed %d\n", *seed)
	return s.runCases(chosen), nil
}

// A suite is what all cases share.
type suite struct {
	poll string // the program
	self string // this program, which is also the command that floods
	dir  string // for files, removed at the end
	rand *rand.Rand
}

func newSuite(built string, seed uint64) (*suite, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	dir, err := os.MkdirTemp("", "torture")
	if err != nil {
		return nil, fmt.Errorf("make a directory: %w", err)
	}
	s := &suite{poll: built, self: self, dir: dir, rand: rand.New(rand.NewPCG(seed, 0))}
	if built == "" {
		s.poll = s.file("poll")
		err = s.build(s.poll)
	} else {
		s.poll, err = filepath.Abs(built)
	}
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	return s, nil
}

// build builds the program from the module in the working directory.
func (s *suite) build(to string, flags ...string) error {
	args := append([]string{"build", "-trimpath"}, flags...)
	out, err := exec.Command("go", append(args, "-o", to, "github.com/pollcli/poll")...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("build the program: %w\n%s", err, out)
	}
	return nil
}

func (s *suite) file(name string) string { return filepath.Join(s.dir, name) }

// A testCase reports what happened, in a few words, and what was wrong.
type testCase struct {
	name string
	try  func(*suite) (said string, err error)
}

// skipped is the reason why a case could not be tried here.
type skipped string

func (s skipped) Error() string { return string(s) }

func (s *suite) runCases(chosen *regexp.Regexp) (failed int) {
	passed, skips := 0, 0
	began := time.Now()
	for _, t := range cases() {
		if !chosen.MatchString(t.name) {
			continue
		}
		said, err := t.try(s)
		word := "ok"
		switch err := err.(type) {
		case nil:
			passed++
		case skipped:
			word, said = "skipped", err.Error()
			skips++
		default:
			word, said = "NOT OK", strings.TrimPrefix(said+"; "+err.Error(), "; ")
			failed++
		}
		fmt.Printf("%-34s  %-70s  %s\n", t.name, said, word)
	}
	fmt.Printf("%d passed, %d failed", passed, failed)
	if skips > 0 {
		fmt.Printf(", %d skipped", skips)
	}
	fmt.Printf(" in %s\n", time.Since(began).Round(time.Second))
	return failed
}

func cases() []testCase {
	var all []testCase
	for _, group := range [][]testCase{floods(), clocks(), kills(), crowds(), manyTargets(), resumed()} {
		all = append(all, group...)
	}
	return all
}
