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
	"github.com/pollcli/poll/internal/ui"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// newWait returns a wait with only its limits read from the command line.
func newWait(s *Spec, world World) *wait {
	return &wait{
		world:   world,
		start:   world.began,
		timeout: s.Timeout,
		grace:   s.Grace,
	}
}

// leastPreparing is the minimum time for finding errors in the command line,
// however short the timeout.
const leastPreparing = 250 * time.Millisecond

// prepare reads the rest. That may read from a pipe, so a signal or the deadline
// ends it.
func (w *wait) prepare(ctx context.Context, s *Spec) error {
	w.world.limit(limit{w.timeout, w.deadline(), w.grace})
	deadline := w.deadline()
	if least := w.start.Add(leastPreparing); deadline.Before(least) {
		deadline = least
	}
	reading, cancel := context.WithDeadlineCause(ctx, deadline, &timeoutError{w.timeout})
	defer cancel()
	err := await(reading, func() error { return w.read(ctx, s) })
	w.report.Opening = append(w.report.Opening, w.world.doubts(s)...)
	if err != nil && !argv.IsUsage(err) && s.JSON {
		return errors.Join(err, ui.WriteFailure(w.world.Streams, int(exitCode(err)), err.Error()))
	}
	return err
}

// read reads and checks everything, so that nothing is attempted if something is
// wrong. Past runs come last.
func (w *wait) read(ctx context.Context, s *Spec) error {
	if err := cmp.Or(w.readThen(s), s.refuseForList(), s.refuseStore()); err != nil {
		return err
	}
	if n := len(s.Operands); n > 0 && s.Each == "" && (!s.hasPlaceholder() || n > 1 && !s.IsCommand) {
		s.DropVariable("targets") // no entry of it would be waited for
	}
	switch {
	case s.isSeveral():
		return w.readSeveral(ctx, s)
	case len(s.Operands) == 0:
		return s.nothingToWaitFor()
	}
	reader := targetReader{world: w.world, grace: w.grace}
	var err error
	if w.target, err = reader.read(s); err != nil {
		return err
	}
	if err := w.readAlone(s); err != nil {
		return err
	}
	if err := w.readOutput(ctx, s, []status.Kind{w.kind}); err != nil {
		return err
	}
	if err := s.ErrOr(w.readLearning(s)); err != nil {
		return err
	}
	w.reportLearning()
	if err := w.openStores(s, []*poll.Poller{&w.poller}, []*Spec{s}, []string{w.poller.Target}); err != nil {
		return err
	}
	if w.share != nil {
		w.poller.Limiter = w.share.Fleet
	}
	if w.poller.Past != nil {
		w.report.Timeout = w.poller.Timeout
	}
	return nil
}

// openStores opens what targets share with others, and their job log.
func (w *wait) openStores(s *Spec, pollers []*poll.Poller, specs []*Spec, names []string) (err error) {
	if w.share, err = openShare(s, pollers, specs); err != nil {
		return err
	}
	w.report.Shared = w.share != nil
	if w.jobs, err = openJobs(s, pollers, specs, names); err != nil {
		return err
	}
	if note := w.jobs.note(); note != "" {
		w.report.Opening = append(w.report.Opening, note)
	}
	return nil
}

// readAlone reads what the flags for several targets mean for one.
func (w *wait) readAlone(s *Spec) error {
	w.poller.Start, w.poller.Target = w.start, s.Name
	if w.timeout > 0 {
		w.poller.Timeout = min(w.timeout, cmp.Or(w.poller.Timeout, w.timeout))
	}
	if s.Expect > 1 && !s.DropVariable("expect") {
		return s.tooFew(1)
	}
	if s.AtLeast != "" && !s.DropVariable("at-least") {
		if _, err := argv.ParseShare(s.AtLeast, 1, "target"); err != nil {
			return argv.Usagef("%s: %w", s.Origin("at-least"), err)
		}
	}
	if s.Rate != nil && *s.Rate > 0 && s.Share == "" {
		w.space(s)
	}
	return nil
}

// space makes the attempts of a single target as seldom as --rate says.
func (w *wait) space(s *Spec) {
	between := max(time.Nanosecond, time.Duration(float64(time.Second) / *s.Rate))
	spaced := backoff.Fixed(between)
	w.poller.Schedule, w.poller.Throttled = backoff.Max(w.poller.Schedule, spaced), backoff.Max(w.poller.Throttled, spaced)
}

// tookURL refuses a flag that took the URL as its value, and returns nil if none did.
func (s *Spec) tookURL() error {
	for i := range s.Command.Flags {
		f := &s.Command.Flags[i]
		if f.Rank() == argv.Typed && hasScheme(s.String(f.Name)) && !slices.Contains([]string{"proxy", "share", "data"}, f.Name) {
			return argv.Usagef("nothing to wait for: %s took the URL as its value", f.Origin()).Hint("%s %s URL", f.Origin(), f.Value)
		}
	}
	return nil
}

func (s *Spec) nothingToWaitFor() error {
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

// readOutput reads what is shown, and what goes to stdout.
func (w *wait) readOutput(ctx context.Context, s *Spec, kinds []status.Kind) error {
	face := s.Progress
	if s.Quiet {
		face = ui.None
	}
	w.report = ui.Config{
		Streams: w.world.Streams,
		Palette: w.world.Streams.Palette(s.Color),
		Face:    face,
		Verbose: s.Verbose,
		Until: slices.DeleteFunc(slices.Clone(s.Until), func(condition string) bool { // what variables say may be for others
			e, err := expr.Compile(condition, expr.WithEnviron(s.LookupEnv))
			return err == nil && appliesToSome(e.Uses(), kinds, s.Each != "") != nil
		}),
		Heartbeat: s.Heartbeat,
		Getenv:    s.Getenv,
	}
	if s.Gone {
		w.report.Until = append(w.report.Until, "gone")
	}
	if s.Preset != "" {
		w.report.Until = append(w.report.Until, "preset "+s.Preset)
	}
	w.output.JSON, w.resultFile = s.JSON, s.ResultFile
	w.showStderr = s.ShowStderr && w.command != nil
	w.passExitCode = s.PassExitCode
	if err := w.readShow(s, kinds); err != nil {
		return err
	}
	return w.readPrint(ctx, s, kinds)
}

// readShow reads what is shown of each answer. Of several targets it need not apply to all.
func (w *wait) readShow(s *Spec, kinds []status.Kind) (err error) {
	w.report.Show, err = s.values("show", func(e *expr.Expr) error {
		if e.NamesEnviron() {
			return argv.Usagef("%s names the environment, which may hold secrets and is not shown", e)
		}
		return cmp.Or(depends(e), appliesToSome(e.Uses(), kinds, s.Each != ""))
	})
	return err
}

// values compiles the expressions of a flag, and checks each. A variable that does not fit is
// for other waits.
func (s *Spec) values(flag string, check func(*expr.Expr) error) (list []*expr.Expr, err error) {
	for _, text := range s.Strings(flag) {
		e, err := expr.CompileValue(text, expr.WithEnviron(s.LookupEnv))
		if err == nil {
			if err = check(e); err != nil && s.isVariable(flag) {
				continue
			}
		}
		if err != nil {
			return nil, badExpression(s.Origin(flag), err)
		}
		list = append(list, e)
	}
	return list, nil
}

// isVariable reports whether a variable has set a flag.
func (s *Spec) isVariable(name string) bool { return s.Flag(name).Rank() == argv.Variable }

// appliesToSome refuses an expression that no target can answer.
func appliesToSome(uses expr.Uses, kinds []status.Kind, element bool) (err error) {
	for _, kind := range kinds {
		if err = applies(uses, kind, element); err == nil {
			return nil
		}
	}
	return err
}

// readPrint reads what is printed of the answer of each target.
func (w *wait) readPrint(ctx context.Context, s *Spec, kinds []status.Kind) error {
	values, err := s.values("print", func(e *expr.Expr) (err error) {
		for _, kind := range kinds {
			err = cmp.Or(err, applies(e.Uses(), kind, s.Each != ""))
		}
		return err
	})
	for _, e := range values {
		w.output.Print = append(w.output.Print, func(o *status.Observation) (ui.Value, error) {
			inTime, cancel := w.withDeadline(ctx)
			defer cancel()
			return printed(inTime, e, o)
		})
	}
	return err
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
	switch {
	case value.Exists():
	case strings.HasPrefix(e.String(), "jq:") && value.Reason == "it gives no value": // which is what was asked for
		return ui.Nothing(), nil
	default:
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
