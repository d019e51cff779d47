package run

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
)

// readGroup reads the goal and the limits of a wait for several targets. It also adds the notes to print before
// the wait. If the number of targets is less than --expect, it returns a usage error.
func (w *wait) readGroup(r *read.Reader) (err error) {
	s, n, isOpen := w.spec, len(r.Targets), false
	if r.List != nil {
		n, isOpen = r.List.Size, !r.List.Known // unless the list is complete, later responses may add elements
	}
	if n < s.Expect && !isOpen {
		return tooFew(s, n)
	}
	w.group = newGroup(s)
	w.group.Start, w.group.Timeout = w.process.Began, s.Timeout
	if w.group.AtLeast, err = readGoal(s, n, isOpen); err != nil {
		return err
	}
	part := "all"
	if isOpen && w.group.AtLeast > 0 && strings.HasSuffix(s.AtLeast, "%") { // a share of the final number of elements, which is still unknown
		part, w.group.AtLeast = fmt.Sprintf("at least %s of all", s.AtLeast), 0
		w.group.Percent, _ = strconv.ParseFloat(strings.TrimSuffix(s.AtLeast, "%"), 64)
	}
	w.output.PerTarget = !s.Any
	w.report.Targets, w.report.Timeout = n, s.Timeout
	w.report.Goal = read.GoalWords(n, w.group.AtLeast, "target")
	w.note(r.Repeated())
	if r.List != nil {
		w.report.Goal = r.List.Goal(w.group.AtLeast, part)
		w.note(r.List.Note(s))
	}
	return nil
}

// newGroup returns a group with the limits for parallel attempts and for the request rate. The default limit is
// [read.DefaultParallelHost] attempts at a time for each host, and the number of CPUs for programs.
func newGroup(s *read.Run) *poll.Group {
	host, programs := read.DefaultParallelHost, runtime.GOMAXPROCS(0)
	if s.Has("parallel-max") {
		host, programs = s.Group.Parallel, s.Group.Parallel
	}
	host, programs = cmp.Or(s.ParallelMaxHost, host), cmp.Or(s.ParallelMaxHost, programs)
	g := s.Group
	g.ParallelOrigin = func(origin string) int {
		if argv.HasScheme(origin) {
			return host
		}
		return programs
	}
	g.Limiter = &poll.Pacer{PerSecond: s.Fleet.PerSecond, Known: s.Fleet.Known, Rand: s.Waits.Rand(0)}
	g.Rand = s.Waits.Rand(0)
	return &g
}

// readGoal returns how many of n targets must succeed, or 0 for all targets. If isOpen is true, n may still grow,
// so --at-least may be greater than n.
func readGoal(s *read.Run, n int, isOpen bool) (least int, err error) {
	isShare, things := strings.HasSuffix(s.AtLeast, "%"), "targets"
	if s.Each != "" {
		things = "elements"
	}
	switch {
	case s.Any && (n > 0 || isOpen):
		return 1, nil
	case n == 0 && !isOpen, s.AtLeast == "":
		return 0, nil
	case isOpen && !isShare:
		n = math.MaxInt
	case n == 0:
		if _, err := argv.ParseShare(s.AtLeast, 100, things); err != nil {
			return 0, argv.Usagef("%s: %w", s.Origin("at-least"), err)
		}
		return 0, argv.Usagef("%s %s: the number of elements is not known", s.Origin("at-least"), s.AtLeast).
			Hint("--expect N gives their minimum, --targets FILE their names")
	}
	if least, err = argv.ParseShare(s.AtLeast, n, things); err != nil {
		return 0, argv.Usagef("%s: %w", s.Origin("at-least"), err)
	}
	return least, nil
}

// tooFew returns the usage error for fewer targets than --expect requires. The parameter have is the number of
// targets on the command line or in the targets file.
func tooFew(s *read.Run, have int) error {
	if have > 0 {
		return argv.Usagef("%s %d, and only %s given", s.Origin("expect"), s.Expect, words.Count(have, "target")).
			Advise(fmt.Sprint("expect ", s.Expect))
	}
	err := argv.Usagef("%s names no target", s.TargetsFile())
	if s.Expect == 1 {
		err.Hint("give --expect 0 if there may be no targets")
	}
	return err
}
