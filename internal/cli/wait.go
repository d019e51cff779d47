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
	"github.com/pollcli/poll/internal/learn"
	"github.com/pollcli/poll/internal/resume"
	"github.com/pollcli/poll/internal/system"
	"github.com/pollcli/poll/internal/ui"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/poll/fleet"
	"github.com/pollcli/poll/status"
)

// wait waits as the spec says.
func (p Host) runWait(ctx context.Context, s *Spec) error {
	w, err := inTime(ctx, p, s, func() (*wait, error) {
		w := &wait{spec: s, process: p}
		p.Guard.setDeadline(s.Timeout, w.deadline(), s.Grace)
		return w, w.read(ctx)
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
	return w.then(ctx, cmp.Or(err, exitWith(end.code)))
}

// close closes what is open. The job log of a slice that is over is removed.
func (w *wait) close(fate resume.Fate) {
	w.reporter.Close()
	if w.share != nil {
		w.share.Close()
	}
	if err := w.log.Close(fate); err != nil {
		w.reporter.AfterEnd(err.Error() + "; what the file lacks is looked at again by a later run")
	}
}

// A wait is what the command line says about waiting, checked, and what is built from that. Nothing
// of it changes while it runs. A single wait is a group of one, but for what goes to stdout.
type wait struct {
	spec    *Spec
	process Host

	targets []*target

	group  *poll.Group             // nil for a single wait
	learns map[int]*learn.Recorder // of targets by number; 0 is a single wait, or a list
	log    *resume.Log             // nil without --joblog
	share  *fleet.Fleet            // nil without --share
	advice string                  // about a program that cannot be run

	report   ui.Config
	output   ui.Output
	reporter *ui.Reporter
}

// deadline returns when the time for everything is over: in centuries if there is
// no timeout.
func (w *wait) deadline() time.Time {
	return w.process.Began.Add(cmp.Or(w.spec.Timeout, math.MaxInt64))
}

// withDeadline returns a context that is also done at the deadline.
func (w *wait) withDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithDeadlineCause(ctx, w.deadline(), &timeoutError{w.spec.Timeout})
}

// leastPreparing is the minimum time for finding errors in the command line,
// however short the timeout.
const leastPreparing = 250 * time.Millisecond

// inTime reads files. A file may be a pipe, or be in a directory that hangs, so a signal or the deadline ends the
// reading. An error that is not a usage error is reported on stdout with --json, and as the end of a slice.
func inTime[T any](ctx context.Context, p Host, s *Spec, read func() (T, error)) (v T, err error) {
	deadline := p.Began.Add(max(cmp.Or(s.Timeout, math.MaxInt64), leastPreparing))
	reading, cancel := context.WithDeadlineCause(ctx, deadline, &timeoutError{s.Timeout})
	defer cancel()
	if v, err = awaitValue(reading, read); err == nil || argv.IsUsage(err) {
		return v, err
	}
	var failure error
	again := s.Slice > 0 && exitCode(err) == ExitTimeout
	if s.Output.JSON {
		failure = ui.WriteFailure(p.Streams, int(exitCode(err)), again, err.Error())
	}
	if again {
		err = fmt.Errorf("NOT_READY after 0 attempts in %.1fs: %w: call again", time.Since(p.Began).Seconds(), err)
	}
	return v, errors.Join(err, failure)
}

// read reads and checks everything, so that nothing is attempted if something is
// wrong.
func (w *wait) read(ctx context.Context) error {
	s := w.spec
	if err := cmp.Or(w.readThen(), s.refuseJoblog()); err != nil {
		return err
	}
	if w.process.Streams.OutClosed && len(s.Then) == 0 { // otherwise stdout is the program's
		return errors.New("stdout is not open for writing, so poll attempts nothing")
	}
	if s.ResultFile != "" {
		if err := system.CheckFile(s.ResultFile); err != nil {
			return argv.Usagef("%s: %w", s.Origin("result-file"), err)
		}
	}
	r := newReader(s, w.process.Env)
	if err := s.nothingToWaitFor(); err != nil {
		return err
	}
	if err := r.read(); err != nil {
		return err
	}
	w.advice, w.learns = r.advice, make(map[int]*learn.Recorder)
	for i, t := range r.targets {
		switch {
		case t.learns == nil:
		case r.list != nil || !r.several:
			w.learns[0] = t.learns
		default:
			w.learns[i+1] = t.learns
		}
	}
	err := w.readOutput(ctx, r.kinds)
	switch {
	case err != nil:
	case r.several:
		err = w.readGroup(r)
	default:
		err = w.readAlone(&r.targets[0].poller)
	}
	if err != nil {
		return err
	}
	w.targets = r.targets
	if w.process.Release != nil && slices.Contains(r.kinds, status.KindCommand) { // the process becomes no other program
		system.AdoptOrphans()
	}
	return w.open(r.targets)
}

// readAlone reads what the limits of a group, and the flags for several targets, mean for one.
func (w *wait) readAlone(p *poll.Poller) error {
	s := w.spec
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
	if rate := s.Fleet.PerSecond; s.Fleet.Known && rate > 0 && (s.Share == "" || s.IsCommand && s.Fleet.Name == "") {
		spaced := backoff.Fixed(max(time.Nanosecond, time.Duration(float64(time.Second)/rate)))
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
func (w *wait) open(targets []*target) (err error) {
	s := w.spec
	isStart := func(t *target) bool { return resume.Starts(t.poller.Probe) }
	mayRepeat := s.Resume || s.Slice > 0 || s.Joblog == "" && !slices.ContainsFunc(targets, isStart)
	if w.log, err = openLog(s, targets); err != nil {
		return err
	}
	continues := w.log.Note()
	if s.Slice == 0 {
		w.note(continues)
	}
	w.note(s.warnings()...)
	w.report.Slice = s.Slice > 0
	w.report.Again = func() bool { return mayRepeat && w.log.Err() == nil }
	if w.group == nil && targets[0].poller.Past != nil {
		w.report.Timeout = targets[0].poller.Timeout
	}
	w.reporter = ui.New(w.report)
	for _, t := range targets {
		t.poller.Finalize, t.poller.Start = w.finalize, w.process.Began  // of its Timeout: that is of one run
		if c, ok := t.poller.Probe.(*poll.Command); ok && s.ShowStderr { // of one target only
			c.Stderr = w.reporter.Stderr()
		}
	}
	switch {
	case s.Slice == 0 || continues == "":
	case w.report.Face == ui.JSON: // told at the end
		w.reporter.Say(continues)
	default: // however quiet the run is
		fmt.Fprintf(w.process.Streams.Err, "poll: %s\n", continues)
	}
	if w.share, err = openShare(s, targets, w.reporter.Say); err != nil {
		w.close(resume.Kept)
		return err
	}
	switch {
	case w.share == nil:
	case w.group == nil:
		targets[0].poller.Limiter = w.share
	default:
		w.group.Limiter = w.share
	}
	return nil
}

// watchProcesses returns a context that is also done as soon as one of the processes of
// --pid has ended: the wait has failed then. The caller calls stop.
func watchProcesses(ctx context.Context, s *Spec) (watching context.Context, stop context.CancelCauseFunc, err error) {
	watching, stop = context.WithCancelCause(ctx)
	for _, pid := range s.Pid {
		ended, err := system.ProcessEnd(pid)
		if err != nil {
			stop(nil)
			return nil, nil, argv.Usagef("%s %d: %w", s.Origin("pid"), pid, err)
		}
		cause := poll.Permanent(fmt.Errorf("process %d has ended", pid))
		select {
		case <-ended: // before the first attempt
			stop(cause)
		default:
			go func() {
				<-ended
				stop(cause)
			}()
		}
	}
	return watching, stop, nil
}
