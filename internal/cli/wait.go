package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/plan"
	"github.com/pollcli/poll/internal/system"
	"github.com/pollcli/poll/internal/ui"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/poll/fleet"
)

// runWait reads the operands and the environment of a wait, checks what needs no file, and
// hands it all to wait. s is not filled yet.
func (p Process) runWait(ctx context.Context, s *Spec, wait func(context.Context, *Spec) error) error {
	kinds, misplaced := classifyOperands(s.Line)
	switch {
	case s.Err == nil && (s.IsOn("help") || s.IsOn("version")):
		return p.about(ctx, s)
	case s.Err != nil && len(s.Operands) == 0 && !s.Misread:
		misplaced = cmp.Or(s.tookURL(), s.Err)
	case s.Err != nil:
		misplaced = s.Err
	}
	s.Environ(kinds)
	if err := cmp.Or(misplaced, s.Err); err != nil {
		return err
	}
	if err := s.fill(); err != nil {
		return err
	}
	if s.Preset != "" {
		err := p.inTime(ctx, s.Timeout, func() (err error) {
			s, err = p.withPreset(s, kinds, argv.Preset)
			return err
		})
		if err != nil {
			return err
		}
	}
	if s.IsCommand {
		if err := p.checkCommand(s); err != nil {
			return err
		}
	}
	settled, err := s.settled(kinds)
	switch {
	case err != nil && s.IsCommand:
		return cmp.Or(refuseNoProgram(s.Operands), err)
	case err != nil:
		return err
	}
	return wait(ctx, settled)
}

// about answers -h and -V, which other programs give other meanings: they stand alone.
func (p Process) about(ctx context.Context, s *Spec) error {
	switch {
	case len(s.Operands) > 0 && s.IsOn("help"):
		return argv.Usagef("-h is --help, and stands alone").
			Hint("a host and a port are waited for as tcp://HOST:PORT")
	case len(s.Operands) > 0:
		return argv.Usagef("-V is --version, and stands alone")
	case s.IsOn("help"):
		return s.Write(ctx, shortHelp())
	}
	return s.Write(ctx, version()+"\n")
}

// tookURL refuses a flag that took the URL as its value, and returns nil if none did.
func (s *Spec) tookURL() error {
	for _, f := range s.Flags {
		texts := s.Texts(&f)
		if s.Rank(f.Name) == argv.Typed && argv.HasScheme(texts[len(texts)-1]) && !slices.Contains([]string{"proxy", "share", "data"}, f.Name) {
			return argv.Usagef("nothing to wait for: --%s took the URL as its value", f.Name).Hint("--%s %s URL", f.Name, f.Value)
		}
	}
	return nil
}

// nothingToWaitFor refuses a line without a target.
func (s *Spec) nothingToWaitFor() error {
	if len(s.Operands) > 0 || s.isSeveral() {
		return nil
	}
	if err := s.tookURL(); err != nil {
		return err
	}
	if len(s.Pid) > 0 {
		return argv.Usagef("nothing to wait for: --pid only watches a process while poll waits for something else").
			Hint("poll --until '$exit != 0' -- kill -0 %d waits until the process has ended", s.Pid[0])
	}
	return argv.Usagef("nothing to wait for: give a URL or a command").
		Hint("poll --until '.state==\"done\"' https://api.example.com/jobs/42").
		Hint("poll -- COMMAND [ARG...]     and poll --help for the rest")
}

// wait waits as the spec says.
func (p Process) wait(ctx context.Context, s *Spec) error {
	own := newWait(s, p)
	if err := own.prepare(ctx); err != nil {
		return err
	}
	watching, stop, err := watchProcesses(ctx, s)
	if err != nil {
		own.close()
		return err
	}
	defer stop()
	err = own.run(watching)
	own.close()
	return own.then(ctx, err)
}

// close closes what is open.
func (w *wait) close() {
	w.reporter.Close()
	if w.share != nil {
		w.share.Close()
	}
	if err := w.jobs.close(w.over && w.spec.Slice > 0); err != nil {
		w.reporter.Late(err.Error() + "; what the file lacks is looked at again by a later run")
	}
}

// A wait is what the command line says about waiting, checked, and what comes of it. A single
// wait is a group of one, but for what goes to stdout.
type wait struct {
	spec    *Spec
	world   Process
	group   *poll.Group            // nil for a single wait
	isList  bool                   // the targets are elements of an answer
	targets []*target              // until a group has them
	learns  map[int]*plan.Recorder // of targets by number; 0 is a single wait, or a list
	jobs    *jobs                  // nil without --joblog
	share   *fleet.Fleet           // nil without --share
	advice  string                 // about a program that cannot be run

	report   ui.Config
	output   ui.Output
	reporter *ui.Reporter

	result  ui.Result // of the target that has ended last
	codes   map[poll.Ending]ExitCode
	ended   []func() // to be called when all results are written
	left    bool     // a target has Failed, and a later run may go on with it
	started bool     // a target was started, and Cancelled
	unclear bool     // what became of a start is not known
	over    bool     // all was written, and no run is to go on with it
}

func newWait(s *Spec, world Process) *wait {
	return &wait{spec: s, world: world, learns: make(map[int]*plan.Recorder), codes: make(map[poll.Ending]ExitCode)}
}

// deadline returns when the time for everything is over: in centuries if there is
// no timeout.
func (w *wait) deadline() time.Time {
	return w.world.began.Add(cmp.Or(w.spec.Timeout, math.MaxInt64))
}

// withDeadline returns a context that is also done at the deadline.
func (w *wait) withDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithDeadlineCause(ctx, w.deadline(), &timeoutError{w.spec.Timeout})
}

// leastPreparing is the minimum time for finding errors in the command line,
// however short the timeout.
const leastPreparing = 250 * time.Millisecond

// prepare reads the rest.
func (w *wait) prepare(ctx context.Context) error {
	s := w.spec
	w.world.guard.limit(s.Timeout, w.deadline(), s.Grace)
	err := w.world.inTime(ctx, s.Timeout, func() error { return w.read(ctx) })
	if err != nil && !argv.IsUsage(err) && s.JSON {
		return errors.Join(err, ui.WriteFailure(w.world.Streams, int(exitCode(err)), err.Error()))
	}
	return err
}

// inTime reads what may be a pipe, or a directory that hangs, so a signal or the deadline ends it.
func (p Process) inTime(ctx context.Context, timeout time.Duration, read func() error) error {
	deadline := p.began.Add(max(cmp.Or(timeout, math.MaxInt64), leastPreparing))
	reading, cancel := context.WithDeadlineCause(ctx, deadline, &timeoutError{timeout})
	defer cancel()
	return await(reading, read)
}

// read reads and checks everything, so that nothing is attempted if something is
// wrong.
func (w *wait) read(ctx context.Context) error {
	s := w.spec
	if err := cmp.Or(w.readThen(), s.refuseStore(), w.refuseOut()); err != nil {
		return err
	}
	r := newReader(s, w.world)
	if err := s.nothingToWaitFor(); err != nil {
		return err
	}
	if err := r.read(); err != nil {
		return err
	}
	w.targets, w.isList, w.advice = r.targets, r.list != nil, r.advice
	for i, t := range w.targets {
		switch {
		case t.learns == nil:
		case w.isList || !r.several:
			w.learns[0] = t.learns
		default:
			w.learns[i+1] = t.learns
		}
	}
	if err := w.readOutput(ctx, r.kinds); err != nil {
		return err
	}
	readGoal := w.readAlone
	if r.several {
		readGoal = func() error { return w.readGroup(r) }
	}
	if err := readGoal(); err != nil {
		return err
	}
	return w.open()
}

// refuseOut refuses to begin what has nowhere to write its results. It is no fault of the line.
func (w *wait) refuseOut() error {
	if w.world.Streams.OutClosed && len(w.spec.Then) == 0 { // otherwise stdout is the program's
		return errors.New("stdout is closed, or not open for writing: nothing is attempted")
	}
	return nil
}

// readAlone reads what the limits of a group, and the flags for several targets, mean for one.
func (w *wait) readAlone() error {
	s, p := w.spec, &w.targets[0].poller
	p.Start = w.world.began
	if s.Timeout > 0 {
		p.Timeout = min(s.Timeout, cmp.Or(p.Timeout, s.Timeout))
	}
	if s.Expect > 1 {
		return s.tooFew(1)
	}
	if s.AtLeast != "" {
		if _, err := argv.ParseShare(s.AtLeast, 1, "target"); err != nil {
			return argv.Usagef("%s: %w", s.Origin("at-least"), err)
		}
	}
	if s.Rate != nil && *s.Rate > 0 && s.Share == "" {
		spaced := backoff.Fixed(max(time.Nanosecond, time.Duration(float64(time.Second) / *s.Rate)))
		p.Schedule, p.Throttled = backoff.Max(p.Schedule, spaced), backoff.Max(p.Throttled, spaced)
	}
	return nil
}

// note adds what is said before the wait begins, unless it is empty.
func (w *wait) note(texts ...string) {
	isEmpty := func(text string) bool { return text == "" }
	w.report.Opening = append(w.report.Opening, slices.DeleteFunc(texts, isEmpty)...)
}

// open opens the job log, and what is shared with other processes, and makes the reporter.
func (w *wait) open() (err error) {
	again := w.spec.Resume || w.spec.Slice > 0 || w.spec.Joblog == "" && !slices.ContainsFunc(w.targets, func(t *target) bool { return starts(t.poller.Probe) })
	if w.jobs, err = openJobs(w.spec, w.targets); err != nil {
		return err
	}
	w.note(w.jobs.note(w.spec))
	w.note(w.world.warnings(w.spec)...)
	w.report.Shared = w.spec.Share != ""
	w.report.Slice = w.spec.Slice > 0
	w.report.Again = func() bool { return again && w.jobs.code(ExitTimeout) == ExitTimeout }
	if w.group == nil && w.targets[0].poller.Past != nil {
		w.report.Timeout = w.targets[0].poller.Timeout
	}
	w.reporter = ui.New(w.report)
	switch isKnown := w.spec.Slice > 0 && w.jobs.knows > 0; {
	case isKnown && w.report.Face == ui.JSON: // told at the end
		w.reporter.Say("resumes " + w.jobs.past(w.spec))
	case isKnown: // however quiet the run is
		fmt.Fprintf(w.world.Streams.Err, "poll: resumes %s\n", w.jobs.past(w.spec))
	}
	if w.share, err = openShare(w.spec, w.targets, w.reporter.Say); err != nil {
		w.close()
		return err
	}
	switch {
	case w.share == nil:
	case w.group == nil:
		w.targets[0].poller.Limiter = w.share
	default:
		w.group.Limiter = w.share
	}
	return nil
}

// watchProcesses returns a context that is also done as soon as one of the processes of
// --pid has ended: the wait has failed then. The caller calls stop.
func watchProcesses(ctx context.Context, s *Spec) (watching context.Context, stop func(), err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	for _, pid := range s.Pid {
		ended, err := system.ProcessEnd(pid)
		if err != nil {
			cancel(nil)
			return nil, nil, argv.Usagef("%s %d: %w", s.Origin("pid"), pid, err)
		}
		over := func() {
			<-ended
			cancel(poll.Permanent(fmt.Errorf("process %d has ended", pid)))
		}
		select {
		case <-ended: // before the first attempt
			over()
		default:
			go over()
		}
	}
	return ctx, func() { cancel(nil) }, nil
}
