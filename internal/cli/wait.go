package cli

import (
	"context"
	"errors"
	"io"
	"math"
	"runtime/debug"
	"slices"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/learning"
	"github.com/pollcli/poll/internal/newfile"
	"github.com/pollcli/poll/internal/report"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// waitCommand waits: it is what poll does without a subcommand.
func waitCommand(world World) *argv.Command {
	return &argv.Command{
		About: "poll waits for a URL or a command: it asks again and again until a condition\n" +
			"holds, and ends with an exit code that a script can trust.",
		Examples: []argv.Example{
			{Line: `poll --until '.state=="done"' https://api.example.com/jobs/42`},
			{Line: `poll --until '.status.phase=="Running"' -- kubectl get pod web-0 -o json`},
			{Line: `poll --timeout 2m --interval 1s http://localhost:8080/health`},
			{Line: `url=$(poll --preset replicate --print '.output[0]' "$prediction") || exit`},
		},
		Usage: []string{
			"poll [flags] URL                    http, https or tcp; flags may follow it",
			"poll [flags] [--] COMMAND [ARG...]  all after COMMAND is the command's own",
		},
		Flags: waitFlags(),
		After: "Times need a unit (500ms, 30s, 1h30m). Every flag has a variable: POLL_MAX_WAIT.\n" +
			"Exit codes: 0 SUCCESS, 1 ERROR, 2 usage, 3 attempts exhausted, 4 throttled past\n" +
			"the deadline, 124 timeout, 125 poll failed, 126/127 cannot run, 128+n signal n.",
		Most:      argv.Any,
		Conflicts: waitConflicts(),
		Run: func(ctx context.Context, l *argv.Line) error {
			if l.On("version") {
				return l.Write(ctx, version()+"\n")
			}
			w, err := prepare(ctx, l, world)
			if err != nil {
				return err
			}
			_, err = w.run(ctx)
			return err
		},
	}
}

// A wait is what the command line asks for, checked.
type wait struct {
	world   World
	kind    status.Kind
	poller  poll.Poller
	config  backoff.Config // of the poller's schedules
	command *poll.Command  // the probe, when it is one
	report  report.Config
	output  report.Output
	learns  *learning.Recorder // nil without --learn

	resultFile   string // "" for none
	showStderr   bool
	passExitCode bool
	meant        string // what a program that does not exist may have been meant to be
	grace        time.Duration
}

// left is what is left of the time for everything.
func (w *wait) left() time.Duration {
	if w.poller.Timeout == 0 {
		return math.MaxInt64
	}
	return time.Until(w.deadline())
}

// deadline is when the time for everything is over, if there is a timeout.
func (w *wait) deadline() time.Time { return w.poller.Start.Add(w.poller.Timeout) }

// whileThereIsTime returns a context that is also done when the time for
// everything is over.
func (w *wait) whileThereIsTime(ctx context.Context) (context.Context, context.CancelFunc) {
	if w.poller.Timeout == 0 {
		return ctx, func() {}
	}
	return context.WithDeadlineCause(ctx, w.deadline(), &timeoutError{w.poller.Timeout})
}

// leastPreparing is the time there is to find what is wrong with a command
// line, however short that of the wait.
const leastPreparing = 250 * time.Millisecond

// prepare reads the wait. What is read for that may be a pipe, so it is given up
// at a signal, and when the time for everything is over.
func prepare(ctx context.Context, l *argv.Line, world World) (w *wait, err error) {
	early := *l // what is wrong with these is said in its turn
	timeout := early.Duration("timeout", defaultTimeout)
	world.limit(limit{timeout, world.began.Add(timeout), early.Duration("grace", poll.DefaultGrace)})
	reading := ctx
	if timeout > 0 {
		deadline := world.began.Add(max(timeout, leastPreparing))
		var cancel context.CancelFunc
		reading, cancel = context.WithDeadlineCause(ctx, deadline, &timeoutError{timeout})
		defer cancel()
	}
	err = await(reading, func() (err error) {
		w, err = readWait(ctx, l, world)
		return err
	})
	if err != nil && !argv.IsUsage(err) && l.On("json") {
		return nil, errors.Join(err, report.WriteFailure(world.Streams, int(exitCode(err)), err.Error()))
	}
	if err != nil {
		return nil, err
	}
	w.poller.Start = world.began
	return w, nil
}

// run runs the poller, shows its events and leaves the result on stdout. The
// error says what to exit with.
func (w *wait) run(ctx context.Context) (result report.Result, err error) {
	reporter := report.New(w.report)
	defer reporter.Close()
	if w.showStderr {
		w.command.Stderr = reporter.Stderr()
		w.poller.Probe = *w.command
	}
	for event := range w.poller.Events(ctx) {
		w.learns.See(event)
		if event.Kind == poll.EventEnd {
			result, err = w.end(ctx, reporter, event)
			continue
		}
		reporter.Event(event)
	}
	return result, err
}

// end says how the run has ended and leaves the result on stdout. That does not
// wait for others who have the history to themselves; the last words do.
func (w *wait) end(ctx context.Context, reporter *report.Reporter, event poll.Event) (result report.Result, err error) {
	outcome := *event.Outcome
	if outcome.Ending == poll.CannotRun && w.meant != "" {
		outcome.Notes = append(outcome.Notes, "did you mean "+w.meant)
	}
	// The command is gone: what may still be stuck has no use for its grace.
	w.world.limit(limit{w.poller.Timeout, w.deadline(), min(w.grace, poll.DefaultGrace)})
	inTime, cancel := w.whileThereIsTime(ctx)
	defer cancel()
	held := w.learns.Keep(inTime, outcome)
	result = w.output.Settle(outcome)
	result.Outcome.Notes = slices.Concat(outcome.Notes, w.learns.Trouble())
	event.Outcome = &result.Outcome
	if held {
		reporter.Clear()
		err = w.conclude(ctx, reporter, result)
		w.learns.Insist(ctx, w.left())
		result.Outcome.Notes = slices.Concat(outcome.Notes, w.learns.Trouble())
	}
	reporter.Event(event)
	reporter.Close()
	if !held {
		err = w.conclude(ctx, reporter, result)
	}
	return result, err
}

// conclude writes the result and returns the error that says what to exit with.
func (w *wait) conclude(ctx context.Context, reporter *report.Reporter, result report.Result) error {
	code := outcomeCode(result.Outcome)
	if w.passExitCode {
		code = passedCode(code, result.Outcome)
	}
	timeline := reporter.Timeline(result.Outcome.Run)
	err := w.world.deliver(ctx, func() error {
		if err := w.writeResultFile(result); err != nil {
			return err
		}
		return result.Write(w.world.Streams, int(code), timeline)
	})
	if err != nil {
		return err
	}
	if code != ExitSuccess {
		return &exitError{code}
	}
	return nil
}

// writeResultFile writes the answer to the file of --result-file, if there is one.
func (w *wait) writeResultFile(result report.Result) error {
	if w.resultFile == "" {
		return nil
	}
	err := newfile.Write(w.resultFile, func(file io.Writer) error { _, err := file.Write(result.Answer()); return err })
	if err != nil {
		return &report.ResultError{Err: err}
	}
	return nil
}

// passedCode is the code of the command that was waited for, when the wait has
// failed and the command's last code says so, too. A signal to poll comes first.
func passedCode(code ExitCode, o poll.Outcome) ExitCode {
	if code == ExitSuccess || o.Ending == poll.Interrupted || o.Observation == nil {
		return code
	}
	if exit := o.Observation.Exit; exit != nil && *exit != 0 {
		return ExitCode(*exit)
	}
	return code
}

// version names the build: the module's version, or the commit it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "poll (unknown version)"
	}
	text := "poll " + info.Main.Version
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if commit := settings["vcs.revision"]; commit != "" {
		text += " (" + commit[:min(12, len(commit))]
		if settings["vcs.modified"] == "true" {
			text += ", modified"
		}
		text += ")"
	}
	return text + " " + info.GoVersion
}
