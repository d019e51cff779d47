package cli

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/system"
	"github.com/pollcli/poll/internal/ui"
	"github.com/pollcli/poll/poll"
)

// runWait reads the operands and the environment of a wait, checks what needs no file, and
// hands it all to wait.
func (w World) runWait(ctx context.Context, s *Spec, words *argv.Words, wait func(context.Context, *Spec) error) error {
	kinds, misplaced := s.place(words)
	if wrong := cmp.Or(words.Err, s.Err()); wrong == nil && (s.Help || s.Version) {
		return w.about(ctx, s)
	} else if wrong != nil {
		misplaced = wrong
		if words.Err == nil && len(s.Operands) == 0 {
			misplaced = cmp.Or(s.tookURL(), wrong)
		}
	}
	s.Environ(kinds)
	if err := cmp.Or(misplaced, s.Err()); err != nil {
		return err
	}
	if s.IsCommand {
		if err := w.checkCommand(s); err != nil {
			return err
		}
	}
	s.Entries = s.Targets != ""
	if err := s.Settle(kinds, argv.Variable, unfit(kinds)); err != nil {
		if s.IsCommand {
			return cmp.Or(refuseNoProgram(s.Operands), err)
		}
		return err
	}
	return wait(ctx, s)
}

// about answers -h and -V, which other programs give other meanings: they stand alone.
func (w World) about(ctx context.Context, s *Spec) error {
	switch {
	case len(s.Operands) > 0 && s.Help:
		return argv.Usagef("-h is --help, and stands alone").
			Hint("a host and a port are waited for as tcp://HOST:PORT")
	case len(s.Operands) > 0:
		return argv.Usagef("-V is --version, and stands alone")
	case s.Help:
		return s.Write(ctx, shortHelp())
	}
	return s.Write(ctx, version()+"\n")
}

// wait waits as the spec says.
func (w World) wait(ctx context.Context, s *Spec) error {
	own := newWait(s, w)
	if err := own.prepare(ctx, s); err != nil {
		return err
	}
	watching, stop, err := watchProcesses(ctx, s)
	if err != nil {
		return err
	}
	defer stop()
	if own.group != nil {
		err = own.runSeveral(watching)
	} else {
		_, err = own.run(watching)
	}
	own.share.close()
	own.jobs.close(own.world)
	return own.then(ctx, s, err)
}

// A wait is what the command line says about waiting, checked.
type wait struct {
	target        // the one that is waited for
	group  *group // or several; nil for one
	jobs   *jobs  // nil without --joblog
	share  *share // nil without --share

	world          World
	start          time.Time
	timeout, grace time.Duration // 0 for none
	report         ui.Config
	output         ui.Output
	resultFile     string // "" for none
	showStderr     bool
	passExitCode   bool
}

// deadline returns when the time for everything is over: in centuries if there is
// no timeout.
func (w *wait) deadline() time.Time {
	return w.start.Add(cmp.Or(w.timeout, math.MaxInt64))
}

// withDeadline returns a context that is also done at the deadline.
func (w *wait) withDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithDeadlineCause(ctx, w.deadline(), &timeoutError{w.timeout})
}

// run runs the poller, reports its events and writes the result to stdout. The
// error determines the exit code.
func (w *wait) run(ctx context.Context) (result ui.Result, err error) {
	reporter := ui.New(w.report)
	defer reporter.Close()
	w.share.tell(reporter)
	if w.showStderr {
		w.command.Stderr = reporter.Stderr()
	}
	long := noticeLong(reporter)
	defer long.Stop()
	for event := range w.poller.Events(ctx) {
		switch {
		case event.Kind == poll.EventStart && w.command != nil:
			long.Reset(longCommand)
		case event.Kind != poll.EventStart:
			long.Stop()
		}
		w.learns.Observe(event)
		w.jobs.observe(event)
		if event.Kind == poll.EventEnd {
			result, err = w.end(ctx, reporter, event)
			continue
		}
		reporter.Event(event)
	}
	return result, err
}

// longCommand is how long a command runs until poll says what it waits for.
const longCommand = 10 * time.Second

// noticeLong returns a timer that says once of a command that its end is waited for. It is stopped.
func noticeLong(reporter *ui.Reporter) *time.Timer {
	var once sync.Once
	timer := time.AfterFunc(longCommand, func() {
		once.Do(func() {
			reporter.Say("the command has run for 10 s: its output is judged when it ends, and --attempt-timeout ends it sooner")
		})
	})
	timer.Stop()
	return timer
}

// end reports how the run ended and writes the result to stdout. A run that is learned from is
// remembered after the result, which does not wait for others who hold the history; the last
// words do.
func (w *wait) end(ctx context.Context, reporter *ui.Reporter, event poll.Event) (result ui.Result, err error) {
	outcome := w.lookAgain(ctx, *event.Outcome)
	if outcome.Ending == poll.CannotRun && w.advice != "" {
		outcome.Notes = append(outcome.Notes, w.advice)
	}
	// The command is gone: whatever is still stuck needs no grace.
	w.world.limit(limit{w.timeout, w.deadline(), min(w.grace, poll.DefaultGrace)})
	inTime, cancel := w.withDeadline(ctx)
	defer cancel()
	w.learns.End(inTime, outcome)
	result = w.output.Settle(outcome)
	result.Outcome.Notes = slices.Concat(outcome.Notes, w.learns.Warnings())
	event.Outcome = &result.Outcome
	if w.learns != nil {
		reporter.Clear()
		err = w.conclude(ctx, reporter, result, event)
		if problem := w.learns.Save(ctx, time.Until(w.deadline())); problem != nil {
			result.Outcome.Notes = append(result.Outcome.Notes, problem.Error())
		}
	}
	reporter.Event(event)
	reporter.Close()
	if w.learns == nil {
		err = w.conclude(ctx, reporter, result, event)
	}
	return result, err
}

// conclude writes the result, notes the end, and returns the error that determines the exit
// code.
func (w *wait) conclude(ctx context.Context, reporter *ui.Reporter, result ui.Result, end poll.Event) error {
	code := outcomeCode(result.Outcome)
	if w.passExitCode {
		code = passedCode(code, result.Outcome)
	}
	if result.Outcome.Resumed {
		code = w.jobs.exit(end)
	}
	ended := w.jobs.end(end, code)
	code = w.jobs.code(code)
	err := w.world.deliver(ctx, func() error {
		if w.resultFile != "" && (!result.Outcome.Resumed || result.Outcome.Observation != nil) {
			if err := system.WriteFile(w.resultFile, result.Answer()); err != nil {
				return &ui.ResultError{Err: err}
			}
		}
		return reporter.WriteResult(result, int(code))
	})
	if err != nil {
		return err
	}
	ended()
	if code != ExitSuccess {
		return &exitError{code}
	}
	return nil
}

// passedCode returns the exit code of the command when the wait failed, if that
// code means failure, too. A signal to poll takes precedence.
func passedCode(code ExitCode, o poll.Outcome) ExitCode {
	if code == ExitSuccess || o.Ending == poll.Interrupted || o.Observation == nil {
		return code
	}
	if exit := o.Observation.Exit; exit != nil && *exit != 0 {
		return ExitCode(*exit)
	}
	return code
}
