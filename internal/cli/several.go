package cli

import (
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
)

const (
	defaultRate         = 50 // attempts a second at one place
	defaultParallelHost = 6
	defaultParallel     = 50
)

// tooFew says that there are not as many targets as are expected.
func (s *Spec) tooFew(have int) error {
	if have > 0 {
		return argv.Usagef("%s %d, and only %s given", s.Origin("expect"), s.Expect, words.Count(have, "target")).
			Advise(fmt.Sprint("expect ", s.Expect))
	}
	err := argv.Usagef("%s names no target", s.targetsFile())
	if s.Expect == 1 {
		err.Hint("--expect 0 if there may be none")
	}
	return err
}

// perSecond returns how many requests a second one place gets at most, 0 for no limit.
func (s *Spec) perSecond() float64 {
	if s.Rate == nil {
		return defaultRate
	}
	return *s.Rate
}

// readGroup reads the goal of several targets, the limits of them together, and what is to be
// said before it begins.
func (w *wait) readGroup(r *reader) (err error) {
	s, n, isOpen := w.spec, len(r.targets), false
	if r.list != nil {
		n, isOpen = r.list.size, !r.list.known // others may join
	}
	if n < s.Expect && !isOpen {
		return s.tooFew(n)
	}
	w.group = s.newGroup()
	w.group.Start, w.group.Timeout = w.process.began, s.Timeout
	if w.group.AtLeast, err = s.readGoal(n, isOpen); err != nil {
		return err
	}
	part := "all"
	if isOpen && w.group.AtLeast > 0 && strings.HasSuffix(s.AtLeast, "%") { // of those that there turn out to be
		part, w.group.AtLeast = fmt.Sprintf("at least %s of all", s.AtLeast), 0
		w.group.Percent, _ = strconv.ParseFloat(strings.TrimSuffix(s.AtLeast, "%"), 64)
	}
	w.output.PerTarget = !s.Any
	w.report.Targets, w.report.Timeout = n, s.Timeout
	w.report.Goal = goalWords(n, w.group.AtLeast, "target")
	w.note(r.repeated())
	if r.list != nil {
		w.report.Goal = r.list.goal(w.group.AtLeast, part)
		w.note(r.list.note(s))
	}
	return nil
}

// newGroup returns a group with how much is done at once, and how often.
func (s *Spec) newGroup() *poll.Group {
	host, programs := defaultParallelHost, runtime.GOMAXPROCS(0)
	if s.Has("parallel-max") {
		host, programs = s.ParallelMax, s.ParallelMax
	}
	if s.ParallelMaxHost != nil {
		host, programs = *s.ParallelMaxHost, *s.ParallelMaxHost
	}
	return &poll.Group{
		FailFast: s.FailFast,
		Parallel: s.ParallelMax,
		ParallelPlace: func(place string) int {
			if argv.HasScheme(place) {
				return host
			}
			return programs
		},
		Limiter: &poll.Pacer{PerSecond: s.perSecond(), Known: s.Rate != nil, Rand: s.Waits.Rand()},
		Rand:    s.Waits.Rand(),
	}
}

// readGoal returns how many of n targets have to succeed, 0 for all. If the number is open, others
// may join.
func (s *Spec) readGoal(n int, isOpen bool) (least int, err error) {
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
	case n == 0 && s.Rank("at-least") == argv.Variable:
		return 0, nil
	case n == 0:
		return 0, argv.Usagef("%s %s: the number of elements is not known", s.Origin("at-least"), s.AtLeast).
			Hint("--expect N says how many there are at least, and --targets FILE which")
	}
	if least, err = argv.ParseShare(s.AtLeast, n, things); err != nil {
		return 0, argv.Usagef("%s: %w", s.Origin("at-least"), err)
	}
	return least, nil
}

func goalWords(n, need int, thing string) string {
	of := words.Count(n, thing)
	switch {
	case n == 0:
		return "there is no " + thing
	case need == 0 || need == n:
		return "all of " + of
	case need == 1:
		return "any of " + of
	}
	return fmt.Sprintf("at least %d of %s", need, of)
}
