package run

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/resume"
	"github.com/pollcli/poll/internal/system"
	"github.com/pollcli/poll/internal/ui"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

const (
	// longCommand is how long a command runs before poll prints a note that it waits for the command to end.
	longCommand = 10 * time.Second

	// savingTime limits how long poll may take to save the runs of all targets, because another process may hold
	// the lock of the history. leastSaving is the minimum time, which applies even at the deadline and after a
	// signal.
	savingTime  = 2 * time.Second
	leastSaving = 100 * time.Millisecond
)

// An ending describes how a run ended.
type ending struct {
	how  poll.Ending
	code ExitCode
	fate resume.Fate // whether the job log is still needed
}

// The endings collect data about the targets that have ended.
type endings struct {
	result  ui.Result                // the result of the last target that ended
	codes   map[poll.Ending]ExitCode // for each ending, the exit code of the first target with this ending, or ExitInternal if any target with this ending has that code
	records []func()                 // to call when all results are written: each function records one result in the job log
}

// run waits for targets, reports the events of the wait, and writes the results to stdout. It returns an error if
// a result could not be written.
func (w *wait) run(ctx context.Context, targets []*read.Target) (ending, error) {
	ctx = w.withHost(ctx)
	inTime, cancel := w.withDeadline(ctx)
	defer cancel()
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
			event = resume.WaitOut(inTime, event, w.group == nil)
		}
		w.log.Observe(event)
		cmp.Or(w.learns[0], w.learns[event.N]).Observe(event)
		switch event.Kind {
		case poll.EventEnd:
			if w.group == nil {
				event.Outcome = resume.CheckAgain(ctx, targets[0].Poller, *event.Outcome)
			}
			if err := w.endTarget(ctx, inTime, event, &ended); err != nil {
				return ending{}, err
			}
			continue
		case poll.EventGoal:
			goal = event.Summary
			if w.spec.Slice > 0 && goal.Ending == poll.Succeeded {
				w.log.CheckAgain(inTime, poll.Group{Parallel: w.group.Parallel, ParallelOrigin: w.group.ParallelOrigin, Limiter: w.group.Limiter}, goal)
			}
			for _, note := range goal.Hints {
				if w.spec.HTTP.Next == "" {
					w.reporter.Note(note.Text + ": --next EXPR reads the next page, --expect N is the number of elements that are enough, --next none if this page is all")
				}
			}
			for _, warning := range w.learns[0].Warnings() { // w.learns[0] records a whole list
				w.reporter.Note(warning)
			}
		}
		w.reporter.Event(event)
	}
	return w.conclude(ctx, goal, &ended)
}

// events yields the events of the wait. The group copies the targets as it reads them, so events sets the elements
// of targets to nil to free their memory.
func (w *wait) events(ctx context.Context, targets []*read.Target) iter.Seq[poll.Event] {
	switch {
	case w.group == nil:
		return targets[0].Poller.Events(ctx)
	case len(targets) == 0: // possible with --expect 0
		return slices.Values([]poll.Event{{Kind: poll.EventGoal, At: time.Now(), Summary: &poll.Summary{Ending: poll.Succeeded}}})
	}
	return w.group.Events(ctx, func(yield func(poll.Poller) bool) {
		for i, t := range targets {
			if targets[i] = nil; !yield(t.Poller) {
				return
			}
		}
	})
}

// finalize evaluates what poll prints to stdout for the outcome o, and returns the final outcome. If an expression
// of --print fails, the final outcome is not SUCCESS.
func (w *wait) finalize(o poll.Outcome) poll.Outcome {
	result := w.output.Evaluate(o)
	result.Outcome.Value = result
	return result.Outcome
}

// noticeLong returns a timer that prints a note once, when a command has run for longCommand.
func noticeLong(reporter *ui.Reporter) *time.Timer {
	return time.AfterFunc(longCommand, sync.OnceFunc(func() {
		reporter.Note("the command has run for 10 s: its output is evaluated when it ends; --stream evaluates each line as it comes, and --attempt-timeout ends it sooner")
	}))
}

// noticeStream returns a function that receives each HTTP response. Without --stream, a stream of events is only
// evaluated when it ends, so the function prints a note about the first such response.
func noticeStream(reporter *ui.Reporter) func(*http.Response) {
	say := sync.OnceFunc(func() {
		reporter.Note("the response is a stream of events, and is evaluated when it ends: --stream evaluates each event as it comes")
	})
	return func(r *http.Response) {
		if strings.HasPrefix(r.Header.Get("Content-Type"), "text/event-stream") {
			say()
		}
	}
}

// endTarget reports that a target has ended. In a group, it also writes the target's result. The deadline does not
// cancel the write: if the reader of stdout stops reading, the [Guard] ends the process.
func (w *wait) endTarget(ctx, inTime context.Context, event poll.Event, ended *endings) error {
	if w.group == nil {
		event.Outcome.Hints = append(event.Outcome.Hints, status.Notes(w.log.Notes(event.Outcome.Ending)...)...)
	}
	result := w.resultOf(inTime, event)
	event.Outcome = &result.Outcome // the reporter may keep the pointer
	code := w.codeOf(event)
	record := w.log.End(event, int(code)) // on disk before poll prints "call again"
	w.reporter.Event(event)
	how := event.Outcome.Ending
	if _, known := ended.codes[how]; !known || code == ExitInternal {
		ended.codes[how] = code
	}
	ended.result = result
	err := w.process.Deliver(ctx, func() error { return w.reporter.WriteTarget(event.N, result, int(code)) })
	switch {
	case err != nil:
		return err
	case result.AtEnd():
		ended.records = append(ended.records, record)
	case w.process.Streams.OutNull: // stdout discards the result, so a later run must check the target again
	default:
		record()
	}
	return nil
}

// resultOf returns the result of a target that has ended. It also records the run for --learn, even if the result
// cannot be printed.
func (w *wait) resultOf(inTime context.Context, end poll.Event) ui.Result {
	o := *end.Outcome
	if o.Ending == poll.CannotRun && w.advice != "" {
		o.Hints = append(o.Hints, status.Hint{Text: w.advice})
	}
	result, isFinal := o.Value.(ui.Result)
	if !isFinal {
		result = w.output.Evaluate(o)
	}
	if recorder := w.learns[end.N]; w.group == nil || end.N > 0 { // the recorder for a whole list gets events instead
		seen := o
		if isFinal {
			seen.Ending = poll.Succeeded
		}
		if w.log == nil || o.State.Ended() { // otherwise a later run continues the wait, and records it
			recorder.End(inTime, seen)
		}
		o.Hints = slices.Concat(o.Hints, status.Notes(recorder.Warnings()...))
	}
	result.Outcome.State, result.Outcome.Hints = o.State, o.Hints
	return result
}

// codeOf returns the exit code for a target that has ended. If the only target ended in an earlier run, the exit
// code is the one in the job log. With --pass-exit-code, a failed command's own exit code is used, unless a signal
// interrupted poll.
func (w *wait) codeOf(end poll.Event) ExitCode {
	o, code := end.Outcome, outcomeCode(*end.Outcome)
	if o.Resumed && w.group == nil {
		if exit := w.log.Exit(end); exit != nil {
			return ExitCode(*exit)
		}
	}
	hasFailed := code != ExitSuccess && o.Ending != poll.Interrupted && o.Observation != nil
	if w.spec.PassExitCode && hasFailed && o.Observation.Exit != nil {
		return cmp.Or(ExitCode(*o.Observation.Exit), code)
	}
	return code
}

// conclude writes the last result or the summary, and updates the job log and the history of past runs. For a
// single wait, goal is nil. The history is saved after the result is written, so that the result is not delayed
// while other processes use the history.
func (w *wait) conclude(ctx context.Context, goal *poll.Summary, ended *endings) (ending, error) {
	w.reporter.Close()
	end := w.endingOf(goal, ended)
	err := w.process.Deliver(ctx, func() error {
		if goal != nil {
			return w.reporter.WriteSummary(w.output, *goal, int(end.code))
		}
		return w.writeResult(ended.result, end.code)
	})
	if err != nil {
		return ending{}, err
	}
	for _, record := range ended.records {
		record()
	}
	if w.group != nil {
		for _, note := range w.log.Notes(end.how) {
			w.reporter.AfterEnd(note)
		}
	}
	if end.fate != resume.Over {
		delete(w.learns, 0) // a later run continues the list, and records it when it ends
	}
	if problem := w.remember(ctx); problem != nil {
		w.reporter.AfterEnd(problem.Error())
	}
	return end, nil
}

// endingOf returns how the run ended. For a single wait, goal is nil.
func (w *wait) endingOf(goal *poll.Summary, ended *endings) ending {
	how := ended.result.Outcome.Ending
	if goal != nil {
		how = goal.Ending
	}
	code := ExitSuccess
	if how != poll.Succeeded {
		known, isKnown := ended.codes[how]
		if code = known; !isKnown { // no single target had this ending
			code = outcomeCode(poll.Outcome{Ending: how, Cause: goal.Cause})
		}
		if code <= ExitNotFound && w.log.Err() != nil { // the job log is incomplete, so no later run can continue the wait
			code = ExitInternal
		}
	}
	return ending{how, code, w.log.Fate(how)}
}

// writeResult writes the result of a single wait to stdout, and to the --result-file if one is set.
func (w *wait) writeResult(result ui.Result, code ExitCode) error {
	o, file := result.Outcome, w.spec.ResultFile
	if file != "" && (!o.Resumed || o.Observation != nil) {
		if err := system.WriteFile(file, result.Answer(false)); err != nil {
			return fmt.Errorf("write the result: %w", err)
		}
	}
	return w.reporter.WriteResult(result, int(code))
}

// remember saves the runs in the history, for later waits with --learn. It returns the first error.
func (w *wait) remember(ctx context.Context) (problem error) {
	left := max(leastSaving, min(savingTime, time.Until(w.deadline())))
	if ctx.Err() != nil { // a signal must not prevent the saving
		ctx, left = context.WithoutCancel(ctx), leastSaving
	}
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	for _, n := range slices.Sorted(maps.Keys(w.learns)) {
		problem = cmp.Or(problem, w.learns[n].Save(ctx))
	}
	return problem
}
