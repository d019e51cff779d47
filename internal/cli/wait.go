package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/report"
	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// mainCommand waits: it is what poll does without a subcommand.
func mainCommand() *command {
	return &command{flags: mainFlags(), run: (*invocation).wait}
}

// wait checks everything first, then runs the poller, shows what happens and
// leaves the result on stdout.
func (in *invocation) wait() error {
	if in.split.on("version") {
		return in.writeOut(version() + "\n")
	}
	w, err := in.prepare()
	if err != nil {
		return err
	}
	talk := report.New(w.report)
	defer talk.Close()
	if w.command != nil && in.split.on("show-stderr") {
		w.command.Stderr = talk.Stderr()
		w.poller.Probe = *w.command
	}
	_, err = in.watch(w, talk)
	return err
}

// leastPreparing is the time there is to find what is wrong with a command
// line, however short that of the wait.
const leastPreparing = 250 * time.Millisecond

// prepare configures the wait. What is read for that may be a pipe, so it is
// given up at a signal, and when the time for everything is over.
func (in *invocation) prepare() (w *wait, err error) {
	early := *in.values // what is wrong with them is said in its turn
	timeout := early.duration("timeout", defaultTimeout)
	in.limit(limit{timeout, in.began.Add(timeout), early.duration("grace", poll.DefaultGrace)})
	ctx := in.ctx
	if timeout > 0 {
		deadline := in.began.Add(max(timeout, leastPreparing))
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, deadline, &timeoutError{timeout})
		defer cancel()
	}
	err = await(ctx, func() (err error) {
		w, err = in.configure()
		return err
	})
	if err != nil && !isUsage(err) && in.split.on("json") {
		return nil, errors.Join(err, report.WriteFailure(in.Streams, int(exitCode(err)), err.Error()))
	}
	if err != nil {
		return nil, err
	}
	w.poller.Start = in.began
	return w, nil
}

// watch runs the poller, shows its events and leaves the result on stdout. The
// error says what to exit with.
func (in *invocation) watch(w *wait, talk *report.Reporter) (result report.Result, err error) {
	for event := range w.poller.Events(in.ctx) {
		w.lesson.see(event)
		if event.Kind == poll.EventEnd {
			result, err = in.end(w, talk, event)
			continue
		}
		talk.Event(event)
	}
	return result, err
}

// end says how the run has ended and leaves the result on stdout. That does not
// wait for others who have the history to themselves; the last words do.
func (in *invocation) end(w *wait, talk *report.Reporter, event poll.Event) (result report.Result, err error) {
	outcome := in.advised(*event.Outcome)
	// The command is gone: what may still be stuck has no use for its grace.
	in.limit(limit{w.poller.Timeout, w.end(), min(w.grace, poll.DefaultGrace)})
	ctx, cancel := w.whileThereIsTime(in.ctx)
	defer cancel()
	held := w.lesson.keep(ctx, outcome)
	result = w.output.Settle(outcome)
	result.Outcome.Notes = slices.Concat(outcome.Notes, w.lesson.said())
	event.Outcome = &result.Outcome
	if held {
		talk.Clear()
		err = in.conclude(w, talk, result)
		w.lesson.insist(in.ctx, w.left())
		result.Outcome.Notes = slices.Concat(outcome.Notes, w.lesson.said())
	}
	talk.Event(event)
	talk.Close()
	if !held {
		err = in.conclude(w, talk, result)
	}
	return result, err
}

// advised adds what else a program that does not exist may have been meant to be.
func (in *invocation) advised(o poll.Outcome) poll.Outcome {
	if o.Ending == poll.CannotRun && in.meant != "" {
		o.Notes = append(o.Notes, "did you mean "+in.meant)
	}
	return o
}

// conclude writes the result and returns the error that says what to exit with.
func (in *invocation) conclude(w *wait, talk *report.Reporter, result report.Result) error {
	code := outcomeCode(result.Outcome)
	if in.split.on("pass-exit-code") {
		code = passedCode(code, result.Outcome)
	}
	timeline := talk.Timeline(result.Outcome.Run)
	err := in.deliver(in.ctx, func() error {
		if err := in.writeResultFile(result); err != nil {
			return err
		}
		return result.Write(in.Streams, int(code), timeline)
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
func (in *invocation) writeResultFile(result report.Result) error {
	path := in.values.String("result-file")
	if path == "" {
		return nil
	}
	err := writeFile(path, func(w io.Writer) error { _, err := w.Write(result.Answer()); return err })
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

// A wait is what the command line asks for, checked.
type wait struct {
	kind    status.Kind
	poller  poll.Poller
	config  backoff.Config // of the poller's schedules
	command *poll.Command  // the probe, when it is one
	report  report.Config
	output  report.Output
	lesson  *lesson // nil without --learn
	grace   time.Duration
}

// end is when the time for everything is over, if there is a timeout.
func (w *wait) end() time.Time { return w.poller.Start.Add(w.poller.Timeout) }

// left is what is left of the time for everything.
func (w *wait) left() time.Duration {
	if w.poller.Timeout == 0 {
		return math.MaxInt64
	}
	return time.Until(w.end())
}

// whileThereIsTime returns a context that is also done when the time for
// everything is over.
func (w *wait) whileThereIsTime(ctx context.Context) (context.Context, context.CancelFunc) {
	if w.poller.Timeout == 0 {
		return ctx, func() {}
	}
	return context.WithDeadlineCause(ctx, w.end(), &timeoutError{w.poller.Timeout})
}

// configure reads and checks everything, so that nothing is attempted if
// something is wrong.
func (in *invocation) configure() (*wait, error) {
	var w wait
	for _, step := range []func(*wait) error{
		in.configureProbe, in.configureRules, in.configureSchedule, in.configureLimits, in.configureReport,
		in.configureLearning,
	} {
		err := step(&w)
		// A value that makes no sense comes first: the step may have failed of it.
		if in.values.err != nil {
			err = in.values.err
		}
		if err != nil {
			return nil, err
		}
	}
	return &w, nil
}

func (in *invocation) configureReport(w *wait) error {
	v := in.values
	face, err := report.ParseFace(v.word("progress", "auto", report.FaceNames()))
	if err != nil {
		return usagef("%s: %w", v.origin("progress"), err)
	}
	if in.split.on("quiet") {
		face = report.None
	}
	color, err := term.ParseColorMode(v.word("color", "auto", term.ColorModeNames()))
	if err != nil {
		return usagef("%s: %w", v.origin("color"), err)
	}
	heartbeat := report.DefaultHeartbeat()
	if v.IsSet("heartbeat") {
		d := v.duration("heartbeat", 0)
		heartbeat = report.Heartbeat{First: d, Max: d}
	}
	w.report = report.Config{
		Streams:   in.Streams,
		Palette:   in.Streams.Palette(color),
		Face:      face,
		Verbose:   in.split.on("verbose"),
		Heartbeat: heartbeat,
		Until:     v.texts("until"),
		Getenv:    in.getenv,
	}
	if name := v.String("preset"); name != "" {
		w.report.Until = append(w.report.Until, "preset "+name)
	}
	w.output.JSON = in.split.on("json")
	return in.configurePrint(w)
}

func (in *invocation) configurePrint(w *wait) error {
	if !in.values.IsSet("print") {
		return nil
	}
	if n := len(in.values.texts("print")); n > 1 {
		return usagef("--print is given %d times, and one value can be printed", n)
	}
	e, err := expr.CompileValue(in.values.String("print"))
	if err != nil {
		return badExpression(in.values.origin("print"), err)
	}
	if err := applies(e.Uses(), w.kind); err != nil {
		return usagef("%s: %w", in.values.origin("print"), err)
	}
	w.output.Print = func(o *status.Observation) (report.Value, error) {
		ctx, cancel := w.whileThereIsTime(in.ctx)
		defer cancel()
		return printed(ctx, e, o)
	}
	return nil
}

// printed is the value of --print. A value that is missing or unknown is an error.
func printed(ctx context.Context, e *expr.Expr, o *status.Observation) (report.Value, error) {
	result := resultIn(ctx, e, o)
	if cause := context.Cause(ctx); result.Abandoned() && cause != nil {
		ending := poll.Interrupted
		if _, over := errors.AsType[*timeoutError](cause); over {
			ending = poll.TimedOut
		}
		return report.Value{}, &report.GivenUp{Ending: ending, Cause: fmt.Errorf("--print %s: %w", e, cause)}
	}
	value := result.Value()
	if !value.Exists() {
		why := append([]string{value.Reason}, result.Hints(false)...)
		return report.Value{}, fmt.Errorf("--print %s: %s", e, strings.Join(why, "; hint: "))
	}
	return report.Value{Text: value.Text(), JSON: []byte(value.Raw)}, nil
}

// valueIn is the value of an expression in an answer.
func valueIn(ctx context.Context, e *expr.Expr, o *status.Observation) expr.Value {
	return resultIn(ctx, e, o).Value()
}

// resultIn is what an expression says of an answer, unknown if ctx is done long
// before that is found.
func resultIn(ctx context.Context, e *expr.Expr, o *status.Observation) expr.Result {
	env := status.Environment(o)
	env.Context = ctx
	return e.Eval(env)
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
