package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/learning"
	"github.com/pollcli/poll/internal/cli/plan"
	"github.com/pollcli/poll/internal/report"
	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// newWait returns a wait with only its limits read from the command line.
func newWait(l *argv.Line, world World) *wait {
	w := &wait{world: world, grace: l.Duration("grace", poll.DefaultGrace)}
	w.poller.Start = world.began
	w.poller.Timeout = l.Duration("timeout", plan.DefaultTimeout)
	return w
}

// leastPreparing is the minimum time for finding errors in the command line,
// however short the timeout.
const leastPreparing = 250 * time.Millisecond

// prepare reads the rest. That may read from a pipe, so a signal or the deadline
// ends it.
func (w *wait) prepare(ctx context.Context, l *argv.Line) error {
	w.world.limit(limit{w.poller.Timeout, w.deadline(), w.grace})
	deadline := w.deadline()
	if least := w.poller.Start.Add(leastPreparing); deadline.Before(least) {
		deadline = least
	}
	reading, cancel := context.WithDeadlineCause(ctx, deadline, &timeoutError{w.poller.Timeout})
	defer cancel()
	err := await(reading, func() error { return w.read(ctx, l) })
	if err != nil && !argv.IsUsage(err) && l.On("json") {
		return errors.Join(err, report.WriteFailure(w.world.Streams, int(exitCode(err)), err.Error()))
	}
	return err
}

// read reads and checks everything, so that nothing is attempted if something is
// wrong. Past runs come last.
func (w *wait) read(ctx context.Context, l *argv.Line) error {
	if len(l.Operands) == 0 {
		return nothingToWaitFor(l)
	}
	for _, step := range []func(context.Context, *argv.Line) error{
		w.readTarget, w.readRules, w.readSchedule, w.readOutput, w.readLearning,
	} {
		if err := l.ErrOr(step(ctx, l)); err != nil {
			return err
		}
	}
	return nil
}

func (w *wait) readTarget(ctx context.Context, l *argv.Line) error {
	switch {
	case l.Err() != nil:
		return l.Err() // before anything is read
	case l.IsCommand():
		return w.readCommand(ctx, l)
	case len(l.Operands) > 1:
		return argv.Usagef("%d URLs are given, but poll waits for one", len(l.Operands))
	}
	return w.readURL(l)
}

func nothingToWaitFor(l *argv.Line) error {
	for _, g := range slices.Backward(l.Given) {
		if !g.Variable && hasScheme(g.Value) {
			return argv.Usagef("nothing to wait for: %s took the URL as its value", g.Origin).Hint("%s %s URL", g.Origin, g.Flag.Value)
		}
	}
	return argv.Usagef("nothing to wait for: give a URL or a command").
		Hint("poll --until '.state==\"done\"' https://api.example.com/jobs/42").
		Hint("poll -- COMMAND [ARG...]     and poll --help for the rest")
}

func (w *wait) readRules(_ context.Context, l *argv.Line) error {
	for _, kind := range status.RuleKinds() {
		for _, condition := range l.Strings(kind.Name) {
			rule, err := status.NewRule(kind.Status, condition)
			if err == nil {
				err = depends(rule.Expr)
			}
			if err == nil {
				err = applies(rule.Expr.Uses(), w.kind)
			}
			if err != nil {
				return badExpression(l.Origin(kind.Name), err)
			}
			rule.Origin = "--" + kind.Name
			w.poller.Rules.Own = append(w.poller.Rules.Own, rule)
		}
	}
	w.poller.Rules.Strict = l.On("strict")
	return w.readPreset(l)
}

// depends refuses a condition that reads nothing of an attempt: it would end the
// wait whatever the answer, or never.
func depends(condition *expr.Expr) error {
	if condition.Uses() != (expr.Uses{}) {
		return nil
	}
	err := argv.Usagef("%s is the same for every answer", condition)
	if m := find(`["'](\.[A-Za-z_][\w.\[\]]*)["']`, condition.String()); m != nil {
		return err.Hint("in quotes it is text; the field is written %s", m[1])
	}
	return err.Hint(`a condition reads something, such as .state == "done", $status == 200 or $exit == 0`)
}

// applies refuses a rule on variables that the probe does not set: it would
// silently always be false, or true.
func applies(uses expr.Uses, kind status.Kind) error {
	switch {
	case kind == status.KindTCP && (uses.JSON || uses.IsJSON || uses.Answer()):
		return argv.Usagef("a TCP address gives no answer to test").Hint("without a condition, a connection is SUCCESS")
	case uses.Exit && kind != status.KindCommand:
		return argv.Usagef("$exit is a command's exit code, but the target is a URL").Hint("write $status for the HTTP status code")
	case (uses.Stdout || uses.Stderr) && kind != status.KindCommand:
		return argv.Usagef("$stdout and $stderr are a command's, but the target is a URL").Hint("write $body for the response body")
	case uses.Status && kind != status.KindHTTP:
		return argv.Usagef("$status is an HTTP status code, but the target is not an HTTP URL").Hint("write $exit for a command's exit code")
	case uses.Header && kind != status.KindHTTP:
		return argv.Usagef("$header is an HTTP header, but the target is not an HTTP URL")
	}
	return nil
}

func (w *wait) readPreset(l *argv.Line) error {
	name := l.String("preset")
	if name == "" {
		return nil
	}
	preset, ok := status.LookupPreset(name)
	if !ok {
		return unknownPreset(l.Origin("preset"), name)
	}
	if err := applies(expr.Uses{JSON: true}, w.kind); err != nil {
		return argv.Usagef("%s: %w", l.Origin("preset"), err)
	}
	rules, err := preset.Compile(w.kind)
	if err != nil {
		return fmt.Errorf("compile preset %s: %w", name, err)
	}
	w.poller.Rules.Preset = rules
	return nil
}

func unknownPreset(origin, name string) error {
	var names []string
	for _, c := range offeredPresets() {
		names = append(names, c.Word)
	}
	err := argv.Usagef("%s: there is no preset %q", origin, name).Meant(name, names)
	if len(err.Hints) == 0 {
		err.Hint("poll presets lists them")
	}
	return err
}

// readSchedule reads the waits, and the limits of attempts.
func (w *wait) readSchedule(_ context.Context, l *argv.Line) (err error) {
	if w.config, err = plan.ReadConfig(l, backoff.DefaultBase, backoff.DefaultMaxWait); err != nil {
		return err
	}
	if w.poller.Schedule, w.poller.Throttled, err = plan.Schedules(l, w.config); err != nil {
		return err
	}
	w.poller.Immediate = plan.Immediate(l)
	w.poller.InitialDelay = l.Duration("initial-delay", 0)
	w.poller.Rand = plan.Source(l)
	attemptTimeout := 30 * time.Second
	if w.command != nil {
		attemptTimeout = 0
	}
	w.poller.AttemptTimeout = l.Duration("attempt-timeout", attemptTimeout)
	w.poller.MaxAttempts = l.Count("max-attempts", 0, 0)
	w.poller.SuccessThreshold = l.Count("success-threshold", 1, 1)
	w.poller.ErrorThreshold = l.Count("error-threshold", 1, 1)
	return nil
}

// readOutput reads what is shown, and what goes to stdout.
func (w *wait) readOutput(ctx context.Context, l *argv.Line) error {
	face := report.Face(l.Choice("progress"))
	if l.On("quiet") {
		face = report.None
	}
	w.report = report.Config{
		Streams: w.world.Streams,
		Palette: w.world.Streams.Palette(term.ColorMode(l.Choice("color"))),
		Face:    face,
		Verbose: l.On("verbose"),
		Until:   l.Strings("until"),
		Getenv:  l.Getenv,
	}
	if l.Has("heartbeat") {
		w.report.Heartbeat = new(l.Duration("heartbeat", 0))
	}
	if name := l.String("preset"); name != "" {
		w.report.Until = append(w.report.Until, "preset "+name)
	}
	w.output.JSON = l.On("json")
	w.resultFile = l.String("result-file")
	w.showStderr = l.On("show-stderr") && w.command != nil
	w.passExitCode = l.On("pass-exit-code")
	return w.readPrint(ctx, l)
}

func (w *wait) readPrint(ctx context.Context, l *argv.Line) error {
	if !l.Has("print") {
		return nil
	}
	if n := len(l.Strings("print")); n > 1 {
		return argv.Usagef("--print is given %d times, but only one value can be printed", n)
	}
	e, err := compileValue(l, "print")
	if err == nil {
		err = applies(e.Uses(), w.kind)
	}
	if err != nil {
		return badExpression(l.Origin("print"), err)
	}
	w.output.Print = func(o *status.Observation) (report.Value, error) {
		inTime, cancel := w.withDeadline(ctx)
		defer cancel()
		return printed(inTime, e, o)
	}
	return nil
}

// printed returns the value of --print. A missing or unknown value is an error.
func printed(ctx context.Context, e *expr.Expr, o *status.Observation) (report.Value, error) {
	env := status.Environment(o)
	env.Context = ctx
	result := e.Eval(env)
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

// readLearning reads the past runs, once everything else is found valid; without
// --learn it does nothing.
func (w *wait) readLearning(_ context.Context, l *argv.Line) error {
	if err := learning.RefuseUnlearned(l); err != nil || !l.Has("learn") {
		return err
	}
	r, err := learning.NewRecorder(l, w.config, compileValue)
	if err != nil {
		return err
	}
	w.learns = r
	if r.Model == nil {
		w.report.Opening = append(w.report.Opening, fmt.Sprintf("no past run of %s is known yet", r.Name))
		return nil
	}
	w.poller.Resend = w.poller.Schedule
	w.poller.Schedule, w.poller.Throttled = learning.Schedules(l, r.Model, w.config, w.poller.Throttled)
	w.report.Forecast = r.Model
	return nil
}
