// Package run waits for the targets of a [read.Run]. It prepares the wait, reports its events, writes the results,
// and returns the exit code.
//
// The files:
//
//	prepare.go         steps before the first attempt; goals and limits of groups
//	wait.go            the parts of a wait: deadline, output, job log, shared limit
//	loop.go            events and results, from the first attempt to the end
//	exit.go            exit codes, usage errors on stderr, the program after "--"
//	guard.go           the end of a stuck process, after a signal or the deadline
//	become_unix.go     replacement of the process by the program after "--", on Unix
//	become_windows.go  the same on Windows
package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/resume"
	"github.com/pollcli/poll/internal/system"
	"github.com/pollcli/poll/internal/ui"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// Wait finishes reading the settings of s, and waits for its targets. It returns nil after SUCCESS. For any error,
// [CodeOf] returns the exit code. After SUCCESS, Wait may replace the process with the program that the command line
// names after "--".
func (p Host) Wait(ctx context.Context, s *read.Run) error {
	w := &wait{spec: s, process: p}
	err := InTime(ctx, p, s, func() error {
		p.Guard.setDeadline(s.Timeout, w.deadline(), s.Grace)
		return w.read(ctx)
	})
	if err != nil {
		return err
	}
	watching, stop, err := watchProcesses(ctx, s)
	if err != nil {
		w.close(resume.Kept)
		return err
	}
	defer stop(nil)
	end, err := w.run(watching, w.targets)
	w.close(end.fate)
	return w.then(ctx, cmp.Or(err, ExitWith(end.code)))
}

// InTime calls read, which reads files, and returns its error. Because a read from a pipe or a network file system
// may block, InTime stops waiting for read at the deadline or when a signal arrives. With --json, it also reports an
// error on stdout, unless the error is a usage error. With --slice, the error for a timeout is the usual message at
// the end of a slice, "call again".
func InTime(ctx context.Context, p Host, s *read.Run, read func() error) error {
	deadline := p.Began.Add(max(cmp.Or(s.Timeout, math.MaxInt64), leastPreparing))
	reading, cancel := context.WithDeadlineCause(ctx, deadline, &timeoutError{s.Timeout})
	defer cancel()
	err := Await(reading, read)
	if err == nil || argv.IsUsage(err) {
		return err
	}
	var failure error
	again := s.Slice > 0 && CodeOf(err) == ExitTimeout
	if s.Output.JSON {
		failure = ui.WriteFailure(p.Streams, int(CodeOf(err)), again, err.Error())
	}
	if again {
		err = fmt.Errorf("NOT_READY after 0 attempts in %.1fs: %w: call again", time.Since(p.Began).Seconds(), err)
	}
	return errors.Join(err, failure)
}

// leastPreparing is the minimum time for reading files and finding errors in the command line, even if the timeout
// is shorter.
const leastPreparing = 250 * time.Millisecond

// read reads and checks all settings before the first attempt. After an error, nothing has been attempted.
func (w *wait) read(ctx context.Context) error {
	s := w.spec
	if err := w.readThen(); err != nil {
		return err
	}
	if w.process.Streams.OutClosed && len(s.Then) == 0 { // if a program follows the wait, stdout belongs to the program
		return errors.New("stdout is not open for writing, so poll attempts nothing")
	}
	if s.ResultFile != "" {
		if err := system.CheckFile(s.ResultFile); err != nil {
			return argv.Usagef("%s: %w", s.Origin("result-file"), err)
		}
	}
	r := read.NewReader(s, w.process.Env)
	if err := nothingToWaitFor(s); err != nil {
		return err
	}
	if err := r.Read(); err != nil {
		return err
	}
	w.advice, w.learns = r.Advice, r.Learns
	err := w.readOutput(ctx, r.Kinds)
	switch {
	case err != nil:
	case r.Several:
		err = w.readGroup(r)
	default:
		err = w.readAlone(&r.Targets[0].Poller)
	}
	if err != nil {
		return err
	}
	w.targets = r.Targets
	if w.process.Release != nil && slices.Contains(r.Kinds, status.KindCommand) { // a wait for commands is never followed by another program
		system.AdoptOrphans()
	}
	return w.open(r.Targets)
}

// readAlone applies the timeout and the request rate to the Poller of a single target. It returns a usage error if
// --expect or --at-least requires more than one target.
func (w *wait) readAlone(p *poll.Poller) error {
	s := w.spec
	if s.Timeout > 0 {
		p.Timeout = min(s.Timeout, cmp.Or(p.Timeout, s.Timeout))
	}
	if s.Expect > 1 {
		return tooFew(s, 1)
	}
	if _, err := s.AtLeast.Of(1, "target"); err != nil {
		return argv.Usagef("%s: %w", s.Origin("at-least"), err)
	}
	if rate := s.Fleet.PerSecond; s.Fleet.Known && rate > 0 && (s.Share == "" || s.IsCommand && s.Fleet.Name == "") {
		spaced := backoff.Fixed(max(time.Nanosecond, words.Nanoseconds(float64(time.Second)/rate)))
		p.Schedule, p.Throttled = backoff.Max(p.Schedule, spaced), backoff.Max(p.Throttled, spaced)
	}
	return nil
}

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
	if isOpen && s.AtLeast.IsPercent { // a share of the final number of elements, which is still unknown
		part = fmt.Sprintf("at least %v%% of all", s.AtLeast.Number)
		w.group.AtLeast, w.group.Percent = 0, s.AtLeast.Number
	}
	w.output.PerTarget = !s.Any
	w.report.Targets, w.report.Timeout = n, s.Timeout
	w.report.Goal = read.GoalWords(n, w.group.AtLeast, "target")
	if r.Repeats > 0 {
		w.note(words.Count(r.Repeats, "target") + " given again: poll waits for each target once")
	}
	if r.List != nil {
		w.report.Goal = r.List.Goal(w.group.AtLeast, part)
		w.note(r.List.Note(s))
	}
	return nil
}

// newGroup returns a group with the limits for parallel attempts and for the request rate. The default limit is
// [read.DefaultParallelHost] attempts at a time for each host, and the number of CPUs for programs.
func newGroup(s *read.Run) *poll.Group {
	g, most := s.Group, s.ParallelMaxHost
	if most == 0 && s.Has("parallel-max") {
		most = g.Parallel
	}
	g.ParallelOrigin = func(origin string) int {
		if argv.HasScheme(origin) {
			return cmp.Or(most, read.DefaultParallelHost)
		}
		return cmp.Or(most, runtime.GOMAXPROCS(0))
	}
	g.Limiter = &poll.Pacer{PerSecond: s.Fleet.PerSecond, Known: s.Fleet.Known, Rand: s.Waits.Rand(0)}
	g.Rand = s.Waits.Rand(0)
	return &g
}

// readGoal returns how many of n targets must succeed, or 0 for all targets. If isOpen is true, n may still grow,
// so --at-least may be greater than n.
func readGoal(s *read.Run, n int, isOpen bool) (least int, err error) {
	things := "targets"
	if s.Each != "" {
		things = "elements"
	}
	switch {
	case s.Any && (n > 0 || isOpen):
		return 1, nil
	case n == 0 && !isOpen, s.AtLeast.Number == 0:
		return 0, nil
	case isOpen && !s.AtLeast.IsPercent:
		n = math.MaxInt
	case n == 0:
		return 0, argv.Usagef("%s %v%%: the number of elements is not known", s.Origin("at-least"), s.AtLeast.Number).
			Hint("--expect N gives their minimum, --targets FILE their names")
	}
	if least, err = s.AtLeast.Of(n, things); err != nil {
		return 0, argv.Usagef("%s: %w", s.Origin("at-least"), err)
	}
	return least, nil
}

// tooFew returns the usage error for fewer targets than --expect requires. have is the number of targets on the
// command line or in the targets file.
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

// open opens the job log and the limit that --share names, and creates the reporter.
func (w *wait) open(targets []*read.Target) (err error) {
	s := w.spec
	isStart := func(t *read.Target) bool { return resume.Starts(t.Poller.Probe) }
	mayRepeat := s.Resume || s.Slice > 0 || s.Joblog == "" && !slices.ContainsFunc(targets, isStart)
	if w.log, err = openLog(s, targets); err != nil {
		return err
	}
	continues := w.log.Note()
	if s.Slice == 0 {
		w.note(continues)
	}
	w.note(warnings(s)...)
	w.report.Slice = s.Slice > 0
	w.report.Again = func() bool { return mayRepeat && w.log.Err() == nil }
	if w.group == nil && targets[0].Poller.Past != nil {
		w.report.Timeout = targets[0].Poller.Timeout
	}
	w.reporter = ui.New(w.report)
	noticed := noticeStream(w.reporter)
	for _, t := range targets {
		if request, ok := t.Poller.Probe.(*poll.HTTP); ok && !request.Stream {
			request.Received = noticed
		}
		t.Poller.Finalize, t.Poller.Start = w.finalize, w.process.Began  // the Timeout counts from the start of the process
		if c, ok := t.Poller.Probe.(*poll.Command); ok && s.ShowStderr { // --show-stderr requires a single target
			c.Stderr = w.reporter.Stderr()
		}
	}
	switch {
	case s.Slice == 0 || continues == "":
	case w.report.Face == ui.JSON: // --progress json reports the note at the end
		w.reporter.Note(continues)
	default: // print the note even with --quiet
		fmt.Fprintf(w.process.Streams.Err, "poll: %s\n", continues)
	}
	if w.share, err = openShare(s, targets, w.reporter.Note); err != nil {
		w.close(resume.Kept)
		return err
	}
	switch {
	case w.share == nil:
	case w.group == nil:
		targets[0].Poller.Limiter = w.share
	default:
		w.group.Limiter = w.share
	}
	return nil
}

// watchEvery is the interval for checking whether a process given with --pid has ended.
const watchEvery = 100 * time.Millisecond

// watchProcesses returns a context that is canceled as soon as any process given with --pid has ended. The cause is
// then a permanent error, which makes the wait fail. The caller must call stop to end the watching.
func watchProcesses(ctx context.Context, s *read.Run) (watching context.Context, stop context.CancelCauseFunc, err error) {
	watching, stop = context.WithCancelCause(ctx)
	for _, pid := range s.Pid {
		hasEnded, err := system.WatchProcess(pid)
		if err != nil {
			stop(nil)
			return nil, nil, argv.Usagef("%s %d: %w", s.Origin("pid"), pid, err)
		}
		var watch func()
		watch = func() {
			switch {
			case hasEnded():
				stop(poll.Permanent(fmt.Errorf("process %d has ended", pid)))
			case watching.Err() == nil:
				time.AfterFunc(watchEvery, watch)
			}
		}
		watch()
	}
	return watching, stop, nil
}

// close closes the reporter, the shared limit and the job log. The fate of the job log determines whether the
// log's file is removed.
func (w *wait) close(fate resume.Fate) {
	w.reporter.Close()
	if w.share != nil {
		w.share.Close()
	}
	if err := w.log.Close(fate); err != nil {
		w.reporter.AfterEnd(err.Error() + "; a later run checks the missing part again")
	}
}

// warnings returns notes on arguments that the user may have misunderstood.
func warnings(s *read.Run) []string {
	notes := slices.Compact(slices.Clone(s.Notes()))
	if !s.IsCommand {
		return notes
	}
	if name := s.Misplaced(); name != "" {
		notes = append(notes, "note: "+name+" comes after --, so it is an argument of the command, not a flag of poll")
	}
	line := strings.Join(s.Operands, " ")
	abouts := []string{"runs:" + line, "runs any:" + strings.Join(s.Operands, "\n")}
	if !slices.ContainsFunc([]string{"until", "error-if", "not-ready-if", "preset", "stream"}, s.Has) {
		abouts = append(abouts, "unconditional:"+line)
	}
	for _, about := range abouts {
		if _, hint := argv.Advice(about); hint != "" {
			notes = append(notes, "note: "+hint)
		}
	}
	return notes
}

// nothingToWaitFor returns a usage error if the command line names no target, and nil otherwise.
func nothingToWaitFor(s *read.Run) error {
	if len(s.Operands) > 0 || s.Targets != "" && s.Each == "" {
		return nil
	}
	if len(s.Pid) > 0 {
		return argv.Usagef("nothing to wait for: --pid only watches a process while poll waits for something else").
			Hint("poll --until '$exit != 0' -- kill -0 %d waits until the process has ended", s.Pid[0])
	}
	return argv.Usagef("nothing to wait for: give a URL or a command").
		Hint("poll --until '.state==\"done\"' https://api.example.com/jobs/42").
		Hint("... | poll eval EXPR -     for a document on stdin").
		Hint("poll -- COMMAND [ARG...]     and poll --help for the rest")
}
