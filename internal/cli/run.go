package cli

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/pollcli/poll/internal/system"
	"github.com/pollcli/poll/internal/ui"
	"github.com/pollcli/poll/poll"
)

const (
	// thousands is how many targets keep so much while they wait that memory counts more than
	// time: of 10,000 targets a third less memory for a third more time of the processor.
	thousands        = 1000
	thousandsPercent = 18

	// longCommand is how long a command runs until poll says what it waits for.
	longCommand = 10 * time.Second

	// savingTime is how long remembering the runs of all targets may take, since others may hold
	// the history, and leastSaving how long also at the deadline and after a signal.
	savingTime  = 2 * time.Second
	leastSaving = 100 * time.Millisecond
)

// run waits, reports what happens and writes the results to stdout. The error determines the
// exit code.
func (w *wait) run(ctx context.Context) error {
	ctx = w.hosted(ctx)
	inTime, cancel := w.withDeadline(ctx)
	defer cancel()
	if _, isSet := w.world.Lookup("GOGC"); !isSet && len(w.targets) >= thousands {
		defer debug.SetGCPercent(debug.SetGCPercent(thousandsPercent))
	}
	long := noticeLong(w.reporter)
	defer long.Stop()
	var goal *poll.Summary
	for event := range w.events(ctx) {
		if event.Kind == poll.EventStart && w.group == nil && w.spec.IsCommand {
			long.Reset(longCommand)
		} else {
			long.Stop()
		}
		if w.spec.Slice > 0 {
			event = w.sliced(inTime, event)
		}
		w.jobs.observe(event)
		cmp.Or(w.learns[0], w.learns[event.N]).Observe(event)
		switch event.Kind {
		case poll.EventEnd:
			if err := w.end(ctx, inTime, event); err != nil {
				return err
			}
			continue
		case poll.EventGoal:
			goal = event.Summary
			for _, warning := range w.learns[0].Warnings() { // of a list
				w.reporter.Say(warning)
			}
		}
		w.reporter.Event(event)
	}
	return w.conclude(ctx, goal)
}

// events yields what happens. Results are evaluated before they count.
func (w *wait) events(ctx context.Context) iter.Seq[poll.Event] {
	pollers := func(yield func(poll.Poller) bool) {
		targets := w.targets
		w.targets = nil // the group has its own
		for _, t := range targets {
			if !yield(w.evaluating(t.poller)) {
				return
			}
		}
	}
	switch {
	case w.group == nil:
		p := w.evaluating(w.targets[0].poller)
		if c, ok := p.Probe.(*poll.Command); ok && w.spec.ShowStderr {
			c.Stderr = w.reporter.Stderr()
		}
		return p.Events(ctx)
	case len(w.targets) == 0: // and none had to be
		return slices.Values([]poll.Event{{Kind: poll.EventGoal, At: time.Now(), Summary: &poll.Summary{Ending: poll.Succeeded}}})
	}
	return w.group.Events(ctx, pollers)
}

// evaluating returns a target whose result is evaluated as it succeeds.
func (w *wait) evaluating(p poll.Poller) poll.Poller {
	p.Finalize = func(o poll.Outcome) poll.Outcome {
		result := w.output.Evaluate(o)
		result.Outcome.Value = result
		return result.Outcome
	}
	return p
}

// noticeLong returns a timer that says once of a command that its end is waited for. It is stopped.
func noticeLong(reporter *ui.Reporter) *time.Timer {
	timer := time.AfterFunc(longCommand, sync.OnceFunc(func() {
		reporter.Say("the command has run for 10 s: its output is judged when it ends, and --attempt-timeout ends it sooner")
	}))
	timer.Stop()
	return timer
}

// end reports how a target ended, and writes the result of one of several. The deadline does not
// break that off: the guard does, if nobody reads.
func (w *wait) end(ctx, inTime context.Context, event poll.Event) error {
	outcome := *event.Outcome
	if w.group == nil {
		outcome = w.lookAgain(ctx, outcome)
	}
	unclear := w.spec.Slice > 0 && w.jobs.isUnclear(event)
	if unclear {
		w.unclear = true
		outcome.Notes = append(outcome.Notes, w.jobs.holds())
	}
	if outcome.Ending == poll.CannotRun && w.advice != "" {
		outcome.Notes = append(outcome.Notes, w.advice)
	}
	seen := outcome // of which is learned, though its result may be of no use
	result, isEvaluated := outcome.Value.(ui.Result)
	if isEvaluated {
		seen.Ending = poll.Succeeded
	} else {
		result = w.output.Evaluate(outcome)
	}
	result.Outcome.State, result.Outcome.Notes = outcome.State, outcome.Notes // the board may keep it
	if recorder := w.learns[event.N]; !w.isList {
		recorder.End(inTime, seen)
		result.Outcome.Notes = slices.Concat(outcome.Notes, recorder.Warnings())
	}
	w.result, event.Outcome = result, &result.Outcome
	code := w.codeOf(event)
	ended := func() {} // of what is unclear the log keeps the start, so that the same line does not send it again
	if !unclear {
		ended = w.jobs.end(event, code) // on the disk before anybody is told to call again
	}
	w.reporter.Event(event)
	if _, known := w.codes[event.Outcome.Ending]; !known || code == ExitInternal {
		w.codes[event.Outcome.Ending] = code
	}
	w.left = w.left || event.Outcome.Ending == poll.Failed && !event.State.Ended()
	w.started = w.started || event.Outcome.Ending == poll.Cancelled && event.State.Sent > 0
	err := w.world.deliver(ctx, func() error { return w.reporter.WriteTarget(event.N, result, int(code)) })
	switch {
	case err != nil:
		return err
	case result.AtEnd():
		w.ended = append(w.ended, ended)
	case w.world.Streams.OutNull: // nobody has the result: a later run looks for it again
	default:
		ended()
	}
	return nil
}

// codeOf returns the exit code of a wait for the target that has ended: with --pass-exit-code that
// of a command which failed, unless a signal to poll comes first.
func (w *wait) codeOf(end poll.Event) ExitCode {
	o, code := end.Outcome, outcomeCode(*end.Outcome)
	if o.Resumed && w.group == nil {
		return w.jobs.exit(end)
	}
	if !w.spec.PassExitCode || code == ExitSuccess || o.Ending == poll.Interrupted || o.Observation == nil {
		return code
	}
	if exit := o.Observation.Exit; exit != nil && *exit != 0 {
		return ExitCode(*exit)
	}
	return code
}

// conclude ends stdout, notes what ended, and returns the error that determines the exit code. goal
// is nil for a single wait. The runs are remembered after the result, which does not wait for
// others who hold the history.
func (w *wait) conclude(ctx context.Context, goal *poll.Summary) error {
	w.reporter.Close()
	how := w.result.Outcome.Ending
	code := w.codes[how]
	if goal != nil {
		how = goal.Ending
		code = cmp.Or(w.codes[goal.Ending], ExitError)
		if goal.Ending == poll.Succeeded {
			code = ExitSuccess
		}
	}
	code = w.jobs.code(code)
	err := w.world.deliver(ctx, func() error {
		if goal != nil {
			return w.reporter.WriteSummary(w.output, *goal, int(code))
		}
		return w.writeResult(code)
	})
	if err != nil {
		return err
	}
	for _, ended := range w.ended {
		ended()
	}
	isOver := how == poll.Succeeded || how == poll.CannotRun || how == poll.Failed && !w.left && !w.started
	if how == poll.Failed && w.started && w.spec.Slice > 0 {
		w.reporter.AfterEnd(w.jobs.holds())
	}
	w.over = isOver && !w.unclear && code != ExitInternal
	if w.over || w.spec.Slice == 0 { // a wait in slices is one run
		if problem := w.remember(ctx); problem != nil {
			w.reporter.AfterEnd(problem.Error())
		}
	}
	return exitWith(code)
}

// writeResult writes the result of a single wait.
func (w *wait) writeResult(code ExitCode) error {
	o, file := w.result.Outcome, w.spec.ResultFile
	if file != "" && (!o.Resumed || o.Observation != nil) {
		if err := system.WriteFile(file, w.result.Answer()); err != nil {
			return &ui.ResultError{Err: err}
		}
	}
	return w.reporter.WriteResult(w.result, int(code))
}

// remember keeps the runs for the next, and returns the first problem, which is most often that
// of all.
func (w *wait) remember(ctx context.Context) (problem error) {
	left := max(leastSaving, min(savingTime, time.Until(w.deadline())))
	if ctx.Err() != nil { // the signal that ended the run does not end this
		ctx, left = context.WithoutCancel(ctx), leastSaving
	}
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	for _, n := range slices.Sorted(maps.Keys(w.learns)) {
		problem = cmp.Or(problem, w.learns[n].Save(ctx))
	}
	return problem
}
