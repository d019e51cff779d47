package cli

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/pollcli/poll/internal/store"
	"github.com/pollcli/poll/internal/system"
	"github.com/pollcli/poll/internal/ui"
	"github.com/pollcli/poll/poll"
)

const (
	// thousands is how many targets keep so much while they wait that memory counts more than
	// time: of 10,000 targets a third less memory for two thirds more time of the processor.
	thousands        = 1000
	thousandsPercent = 18

	// longCommand is how long a command runs until poll says what it waits for.
	longCommand = 10 * time.Second

	// savingTime is how long remembering the runs of all targets may take, since others may hold
	// the history, and leastSaving how long also at the deadline and after a signal.
	savingTime  = 2 * time.Second
	leastSaving = 100 * time.Millisecond
)

// An ending is how a run ended.
type ending struct {
	how    poll.Ending
	code   ExitCode
	isOver bool // no later run is to go on with it
}

// The endings are what the targets that have ended came to.
type endings struct {
	result      ui.Result                // of the last
	codes       map[poll.Ending]ExitCode // of the first with each ending
	undelivered []store.Entry            // for the job log, once all results are written

	isResumable  bool // a target has Failed, and a later run may continue its wait
	isUnfinished bool // an operation was started, and no response has reported its end

	reopened string // a target that succeeded in an earlier slice and is open now; "" without such a target
}

// run waits, reports what happens and writes the results to stdout.
func (w *wait) run(ctx context.Context, targets []*target) (ending, error) {
	ctx = w.withHost(ctx)
	inTime, cancel := w.withDeadline(ctx)
	defer cancel()
	if _, isSet := w.process.Lookup("GOGC"); !isSet && len(targets) >= thousands {
		defer debug.SetGCPercent(debug.SetGCPercent(thousandsPercent))
	}
	long := noticeLong(w.reporter)
	defer long.Stop()
	var goal *poll.Summary
	ended := endings{codes: make(map[poll.Ending]ExitCode)}
	for event := range w.events(ctx, targets) {
		long.Stop()
		if event.Kind == poll.EventStart && w.group == nil && w.spec.IsCommand && !w.spec.HTTP.Stream {
			long.Reset(longCommand)
		}
		if w.spec.Slice > 0 {
			event = sliced(inTime, event, w.group == nil)
		}
		w.log.observe(event)
		cmp.Or(w.learns[0], w.learns[event.N]).Observe(event)
		switch event.Kind {
		case poll.EventEnd:
			if w.group == nil {
				event.Outcome = w.lookAgain(ctx, targets[0].poller, *event.Outcome)
			}
			if err := w.endTarget(ctx, inTime, event, &ended); err != nil {
				return ending{}, err
			}
			continue
		case poll.EventGoal:
			goal = event.Summary
			if w.spec.Slice > 0 && goal.Ending == poll.Succeeded {
				w.checkAgain(inTime, goal, &ended)
			}
			for _, note := range goal.Notes {
				if w.spec.HTTP.Next == "" {
					w.reporter.Say(note + ": --next EXPR reads it, --expect N says how many elements are enough, --next none if this page is all")
				}
			}
			for _, warning := range w.learns[0].Warnings() { // of a list
				w.reporter.Say(warning)
			}
		}
		w.reporter.Event(event)
	}
	return w.conclude(ctx, goal, &ended)
}

// events yields what happens. A group has its own copies of the targets, which are dropped here.
func (w *wait) events(ctx context.Context, targets []*target) iter.Seq[poll.Event] {
	switch {
	case w.group == nil:
		return targets[0].poller.Events(ctx)
	case len(targets) == 0: // and none had to be
		return slices.Values([]poll.Event{{Kind: poll.EventGoal, At: time.Now(), Summary: &poll.Summary{Ending: poll.Succeeded}}})
	}
	return w.group.Events(ctx, func(yield func(poll.Poller) bool) {
		for i, t := range targets {
			if targets[i] = nil; !yield(t.poller) {
				return
			}
		}
	})
}

// finalize evaluates the result of a target before its SUCCESS counts.
func (w *wait) finalize(o poll.Outcome) poll.Outcome {
	result := w.output.Evaluate(o)
	result.Outcome.Value = result
	return result.Outcome
}

// noticeLong returns a timer that says once of a command that its end is waited for.
func noticeLong(reporter *ui.Reporter) *time.Timer {
	return time.AfterFunc(longCommand, sync.OnceFunc(func() {
		reporter.Say("the command has run for 10 s: its output is judged when it ends; --stream judges each line as it comes, and --attempt-timeout ends it sooner")
	}))
}

// lookAgain returns the outcome of a target that had succeeded in an earlier run, with the
// answer to one more look, which starts nothing. Any other outcome is as it was.
func (w *wait) lookAgain(ctx context.Context, p poll.Poller, o poll.Outcome) *poll.Outcome {
	if !o.Resumed {
		return &o
	}
	note := "that was in an earlier run"
	if o.Ending == poll.Succeeded {
		note += w.look(ctx, p, &o)
	}
	o.Notes = append(o.Notes, note)
	return &o
}

// look looks at a target once more for its result, and returns what came of that.
func (w *wait) look(ctx context.Context, p poll.Poller, o *poll.Outcome) string {
	if h, ok := p.Probe.(*poll.HTTP); ok && h.Follow == "none" && !slices.Contains([]string{"", http.MethodGet, http.MethodHead}, h.Method) {
		return ", and the " + h.Method + " is not sent again to get its result"
	}
	p = checkedAgain(p)
	again, _ := p.Run(ctx)
	if again.Ending != poll.Succeeded {
		return ", and poll does not print its result again: " + again.Reason
	}
	o.Verdict, o.Observation, o.Reason = again.Verdict, again.Observation, again.Reason
	return ", and poll asked again for its result"
}

// checkAgain makes one more attempt at each target that succeeded in an earlier slice: the same line may be of
// another account by now. A target is open again if a successful response reports that. The slice then lasts to its
// end, and the next slice goes on with the target. Attempts for which no time is left are those of the next slice,
// which makes as many as it can.
func (w *wait) checkAgain(ctx context.Context, goal *poll.Summary, ended *endings) {
	began := time.Now()
	defer func() { goal.Elapsed += time.Since(began) }()
	group := poll.Group{Parallel: w.group.Parallel, ParallelPlace: w.group.ParallelPlace, Limiter: w.group.Limiter}
	for e := range group.Events(ctx, slices.Values(w.log.earlier)) {
		if e.Kind != poll.EventEnd || e.N == 0 || e.Outcome.Ending == poll.Succeeded {
			continue
		}
		o, how := e.Outcome.Observation, e.Outcome.Ending
		isCut := how == poll.Interrupted || how == poll.TimedOut && goal.Attempts > 0
		if isSeen := o != nil && o.Good() && o.Doubt == "" && o.Presence == 0; isSeen { // an element is there
			ended.reopened = e.Target
			w.log.log.End(w.log.entry(e)) // its end does not hold
		} else if !isCut {
			continue
		}
		if how != poll.Failed {
			how = poll.TimedOut
		}
		goal.Endings[poll.Succeeded]--
		goal.Endings[how]++
	}
	ended.codes[poll.TimedOut], ended.codes[poll.Failed] = ExitTimeout, ExitError
	switch {
	case goal.Endings[poll.Succeeded] >= goal.Need:
		return
	case goal.Endings[poll.TimedOut]+goal.Endings[poll.Cancelled] > 0: // the goal may be reached yet
		<-ctx.Done()
		goal.Ending = poll.TimedOut
	default:
		goal.Ending = poll.Failed
	}
	if signal, isSignal := errors.AsType[*system.SignalError](context.Cause(ctx)); isSignal {
		goal.Ending, goal.Cause, ended.codes[poll.Interrupted] = poll.Interrupted, signal, exitCode(signal)
	}
}

// endTarget reports how a target ended, and writes the result of one of several. The deadline does not
// break that off: the guard does, if nobody reads.
func (w *wait) endTarget(ctx, inTime context.Context, event poll.Event, ended *endings) error {
	ended.isUnfinished = ended.isUnfinished || event.Outcome.Unfinished
	if w.group == nil && event.Outcome.Ending == poll.Failed {
		event.Outcome.Notes = append(event.Outcome.Notes, w.keepsNote(ended)...)
	}
	result := w.resultOf(inTime, event)
	event.Outcome = &result.Outcome // the board may keep it
	code := w.codeOf(event)
	due := w.log.noteEnd(event, code) // on the disk before anybody is told to call again
	w.reporter.Event(event)
	how := event.Outcome.Ending
	if _, known := ended.codes[how]; !known || code == ExitInternal {
		ended.codes[how] = code
	}
	ended.result = result
	ended.isResumable = ended.isResumable || how == poll.Failed && !event.State.Ended()
	err := w.process.deliver(ctx, func() error { return w.reporter.WriteTarget(event.N, result, int(code)) })
	switch {
	case err != nil:
		return err
	case result.AtEnd():
		ended.undelivered = append(ended.undelivered, due...)
	case w.process.Streams.OutNull: // nobody has the result: a later run looks for it again
	default:
		w.log.delivered(due)
	}
	return nil
}

// resultOf returns the result of a target that has ended, of which is learned even if its result is of
// no use.
func (w *wait) resultOf(inTime context.Context, end poll.Event) ui.Result {
	o := *end.Outcome
	if o.Ending == poll.CannotRun && w.advice != "" {
		o.Notes = append(o.Notes, w.advice)
	}
	result, isFinal := o.Value.(ui.Result)
	if !isFinal {
		result = w.output.Evaluate(o)
	}
	if recorder := w.learns[end.N]; w.group == nil || end.N > 0 { // and not that of a list
		seen := o
		if isFinal {
			seen.Ending = poll.Succeeded
		}
		if w.log == nil || o.State.Ended() { // otherwise a later run learns from the operation
			recorder.End(inTime, seen)
		}
		o.Notes = slices.Concat(o.Notes, recorder.Warnings())
	}
	result.Outcome.State, result.Outcome.Notes = o.State, o.Notes
	return result
}

// codeOf returns the exit code of a wait for the target that has ended: with --pass-exit-code that
// of a command which failed, unless a signal to poll comes first.
func (w *wait) codeOf(end poll.Event) ExitCode {
	o, code := end.Outcome, outcomeCode(*end.Outcome)
	if o.Resumed && w.group == nil {
		return w.log.exit(end)
	}
	if !w.spec.PassExitCode || code == ExitSuccess || o.Ending == poll.Interrupted || o.Observation == nil {
		return code
	}
	if exit := o.Observation.Exit; exit != nil && *exit != 0 {
		return ExitCode(*exit)
	}
	return code
}

// conclude ends stdout, and notes what ended. goal is nil for a single wait. The runs are remembered
// after the result, which does not wait for others who hold the history.
func (w *wait) conclude(ctx context.Context, goal *poll.Summary, ended *endings) (ending, error) {
	w.reporter.Close()
	end := w.endingOf(goal, ended)
	err := w.process.deliver(ctx, func() error {
		if goal != nil {
			return w.reporter.WriteSummary(w.output, *goal, int(end.code))
		}
		return w.writeResult(ended.result, end.code)
	})
	if err != nil {
		return ending{}, err
	}
	w.log.delivered(ended.undelivered)
	if ended.reopened != "" {
		w.reporter.AfterEnd(ended.reopened + " had succeeded in an earlier slice, and is not done now: another account needs a --name")
	}
	if w.group != nil && (end.how == poll.Failed || end.how == poll.CannotRun) {
		for _, note := range w.keepsNote(ended) {
			w.reporter.AfterEnd(note)
		}
	}
	if w.log != nil && !end.isOver {
		delete(w.learns, 0) // a later run continues the list
	}
	if problem := w.remember(ctx); problem != nil {
		w.reporter.AfterEnd(problem.Error())
	}
	return end, nil
}

// endingOf returns how all ended: goal is nil for a single wait.
func (w *wait) endingOf(goal *poll.Summary, ended *endings) ending {
	how := ended.result.Outcome.Ending
	if goal != nil {
		how = goal.Ending
	}
	code := ExitSuccess
	if how != poll.Succeeded {
		code = cmp.Or(ended.codes[how], ExitError)
	}
	code = w.log.code(code)
	isFailure := how == poll.CannotRun || how == poll.Failed
	isEnd := how == poll.Succeeded || isFailure && !ended.isResumable && !ended.isUnfinished
	return ending{how, code, isEnd && code != ExitInternal}
}

// keepsNote explains how to start an operation again whose end is not known.
func (w *wait) keepsNote(ended *endings) []string {
	if !ended.isUnfinished || w.spec.Slice == 0 && !w.spec.Resume {
		return nil
	}
	return []string{"the same line does not send the start again while its job log exists: rm '" + w.log.path + "'"}
}

// writeResult writes the result of a single wait.
func (w *wait) writeResult(result ui.Result, code ExitCode) error {
	o, file := result.Outcome, w.spec.ResultFile
	if file != "" && (!o.Resumed || o.Observation != nil) {
		if err := system.WriteFile(file, result.Answer()); err != nil {
			return &ui.ResultError{Err: err}
		}
	}
	return w.reporter.WriteResult(result, int(code))
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
