package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/plan"
	"github.com/pollcli/poll/internal/schedule"
	"github.com/pollcli/poll/internal/ui"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// newWait returns a wait with only its limits read from the command line.
func newWait(l *argv.Line, world World) *wait {
	return &wait{
		world:   world,
		start:   world.began,
		timeout: l.Duration("timeout", plan.DefaultTimeout),
		grace:   l.Duration("grace", poll.DefaultGrace),
	}
}

// leastPreparing is the minimum time for finding errors in the command line,
// however short the timeout.
const leastPreparing = 250 * time.Millisecond

// prepare reads the rest. That may read from a pipe, so a signal or the deadline
// ends it.
func (w *wait) prepare(ctx context.Context, l *argv.Line) error {
	w.world.limit(limit{w.timeout, w.deadline(), w.grace})
	deadline := w.deadline()
	if least := w.start.Add(leastPreparing); deadline.Before(least) {
		deadline = least
	}
	reading, cancel := context.WithDeadlineCause(ctx, deadline, &timeoutError{w.timeout})
	defer cancel()
	err := await(reading, func() error { return w.read(ctx, l) })
	w.report.Opening = append(w.report.Opening, w.world.doubts(l)...)
	if err != nil && !argv.IsUsage(err) && l.On("json") {
		return errors.Join(err, ui.WriteFailure(w.world.Streams, int(exitCode(err)), err.Error()))
	}
	return err
}

// read reads and checks everything, so that nothing is attempted if something is
// wrong. Past runs come last.
func (w *wait) read(ctx context.Context, l *argv.Line) error {
	if err := cmp.Or(w.readThen(l), refuseForList(l), refuseResume(l), refuseShare(l)); err != nil {
		return err
	}
	if n := len(l.Operands); n > 0 && !l.Has("each") && (!hasPlaceholder(l) || n > 1 && !l.IsCommand()) {
		l.DropVariable("targets") // no entry of it would be waited for
	}
	switch {
	case isSeveral(l):
		return w.readSeveral(ctx, l)
	case len(l.Operands) == 0:
		return nothingToWaitFor(l)
	}
	reader := targetReader{world: w.world, grace: w.grace}
	var err error
	if w.target, err = reader.read(ctx, l); err != nil {
		return err
	}
	if err := w.readAlone(l); err != nil {
		return err
	}
	if err := l.ErrOr(w.readOutput(ctx, l, []status.Kind{w.kind})); err != nil {
		return err
	}
	if err := l.ErrOr(w.readLearning(l)); err != nil {
		return err
	}
	w.reportLearning()
	if w.share, err = openShare(l, []*poll.Poller{&w.poller}, []*argv.Line{l}); err != nil {
		return err
	}
	if w.share != nil {
		w.poller.Limiter, w.report.Shared = w.share.Fleet, true
	}
	if w.jobs, err = openJobs(l, []*poll.Poller{&w.poller}, []*argv.Line{l}, []string{w.poller.Target}); err != nil {
		return err
	}
	if past := w.poller.Past; past != nil {
		w.report.Timeout = w.poller.Timeout
		w.report.Opening = append(w.report.Opening, w.jobs.note())
	}
	return nil
}

// readAlone reads what the flags for several targets mean for one.
func (w *wait) readAlone(l *argv.Line) error {
	w.poller.Start, w.poller.Target = w.start, l.String("name")
	if w.timeout > 0 {
		w.poller.Timeout = min(w.timeout, cmp.Or(w.poller.Timeout, w.timeout))
	}
	if expect := l.Count("expect", 0, 1); expect > 1 && !l.DropVariable("expect") {
		return tooFew(l, 1, expect)
	}
	l.DropVariable("at-least")
	l.Share("at-least", 1, "target")
	if rate := l.Rate("rate", 0); rate > 0 && !l.Has("share") {
		apart := schedule.Config{Strategy: schedule.StrategyFixed, Base: time.Duration(float64(time.Second) / rate), MaxWait: backoff.NoCap}
		spaced, _, err := apart.Schedules()
		if err != nil {
			return argv.Usagef("%s: %w", l.Origin("rate"), err)
		}
		w.poller.Schedule, w.poller.Throttled = backoff.Max(w.poller.Schedule, spaced), backoff.Max(w.poller.Throttled, spaced)
	}
	return l.Err()
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

// readOutput reads what is shown, and what goes to stdout.
func (w *wait) readOutput(ctx context.Context, l *argv.Line, kinds []status.Kind) error {
	face := ui.Face(l.Choice("progress"))
	if l.On("quiet") {
		face = ui.None
	}
	w.report = ui.Config{
		Streams: w.world.Streams,
		Palette: w.world.Streams.Palette(term.ColorMode(l.Choice("color"))),
		Face:    face,
		Verbose: l.On("verbose"),
		Until: slices.DeleteFunc(l.Strings("until"), func(condition string) bool { // what variables say may be for others
			e, err := expr.Compile(condition, expr.WithEnviron(l.LookupEnv))
			return err == nil && appliesToSome(e.Uses(), kinds, l.Has("each")) != nil
		}),
		Getenv: l.Getenv,
	}
	if l.Has("heartbeat") {
		w.report.Heartbeat = new(l.Duration("heartbeat", 0))
	}
	if l.On("gone") {
		w.report.Until = append(w.report.Until, "gone")
	}
	if name := l.String("preset"); name != "" {
		w.report.Until = append(w.report.Until, "preset "+name)
	}
	w.output.JSON = l.On("json")
	w.resultFile = l.String("result-file")
	w.showStderr = l.On("show-stderr") && w.command != nil
	w.passExitCode = l.On("pass-exit-code")
	if err := w.readShow(l, kinds); err != nil {
		return err
	}
	return w.readPrint(ctx, l, kinds)
}

// readShow reads what is shown of each answer. Of several targets it need not apply to all.
func (w *wait) readShow(l *argv.Line, kinds []status.Kind) error {
	for g := range l.All("show") {
		e, err := expr.CompileValue(g.Value, expr.WithEnviron(l.LookupEnv))
		switch {
		case err != nil:
		case e.NamesEnviron():
			err = argv.Usagef("%s names the environment, which may hold secrets and is not shown", e)
		default:
			err = depends(e)
		}
		if err == nil {
			if err = appliesToSome(e.Uses(), kinds, l.Has("each")); err != nil && g.Variable {
				continue
			}
		}
		if err != nil {
			return badExpression(g.Origin, err)
		}
		w.report.Show = append(w.report.Show, e)
	}
	return nil
}

// appliesToSome refuses an expression that no target can answer.
func appliesToSome(uses expr.Uses, kinds []status.Kind, element bool) (err error) {
	for _, kind := range kinds {
		if err = applies(uses, kind, element); err == nil {
			return nil
		}
	}
	return err
}

func (w *wait) readPrint(ctx context.Context, l *argv.Line, kinds []status.Kind) error {
	for g := range l.All("print") {
		e, err := expr.CompileValue(g.Value, expr.WithEnviron(l.LookupEnv))
		for _, kind := range kinds {
			if err == nil {
				err = applies(e.Uses(), kind, l.Has("each"))
			}
		}
		if err != nil && e != nil && g.Variable {
			continue // it is for other waits
		}
		if err != nil {
			return badExpression(g.Origin, err)
		}
		w.output.Print = append(w.output.Print, func(o *status.Observation) (ui.Value, error) {
			inTime, cancel := w.withDeadline(ctx)
			defer cancel()
			return printed(inTime, e, o)
		})
	}
	return nil
}

// printed returns the value of --print. A missing or unknown value is an error.
func printed(ctx context.Context, e *expr.Expr, o *status.Observation) (ui.Value, error) {
	env := status.Environment(o)
	env.Context = ctx
	result := e.Eval(env)
	if cause := context.Cause(ctx); result.Abandoned() && cause != nil {
		ending := poll.Interrupted
		if _, over := errors.AsType[*timeoutError](cause); over {
			ending = poll.TimedOut
		}
		return ui.Value{}, &ui.GivenUp{Ending: ending, Cause: fmt.Errorf("--print %s: %w", e, cause)}
	}
	value := result.Value()
	if !value.Exists() {
		why := result.Explain()
		words := slices.Concat([]string{value.Reason}, why.Near, why.Hints)
		return ui.Value{}, fmt.Errorf("--print %s: %s", e, strings.Join(words, "; hint: "))
	}
	return ui.Value{Text: value.Text(), JSON: []byte(value.Raw)}, nil
}

// reportLearning shows what past runs say about this one.
func (w *wait) reportLearning() {
	switch {
	case w.learns == nil:
	case w.learns.Model == nil:
		w.report.Opening = append(w.report.Opening, fmt.Sprintf("no past run of %s is known yet", w.learns.Name))
	default:
		w.report.Forecast = w.learns.Model
	}
}
