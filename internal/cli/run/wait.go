package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/learn"
	"github.com/pollcli/poll/internal/resume"
	"github.com/pollcli/poll/internal/targets"
	"github.com/pollcli/poll/internal/ui"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/poll/fleet"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A wait holds the checked settings of a run, and the values built from the settings. A wait for a single
// target has no group.
type wait struct {
	spec    *read.Run
	process Host

	targets []*read.Target

	group  *poll.Group             // nil for a single wait
	learns map[int]*learn.Recorder // by target number; 0 is the recorder of a single wait or a list
	log    *resume.Log             // nil without --joblog
	share  *fleet.Fleet            // nil without --share
	advice string                  // about a program that cannot be run

	report   ui.Config
	output   ui.Output
	reporter *ui.Reporter
}

// deadline returns the latest end of the whole run. Without a timeout the end is centuries ahead.
func (w *wait) deadline() time.Time {
	return w.process.Began.Add(cmp.Or(w.spec.Timeout, math.MaxInt64))
}

// withDeadline returns a context that is also done at the deadline, with a [timeoutError] as cause.
func (w *wait) withDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithDeadlineCause(ctx, w.deadline(), &timeoutError{w.spec.Timeout})
}

// note adds texts to the notes that are printed before the wait. It ignores empty texts.
func (w *wait) note(texts ...string) {
	isEmpty := func(text string) bool { return text == "" }
	w.report.Opening = append(w.report.Opening, slices.DeleteFunc(texts, isEmpty)...)
}

// readOutput reads the settings of the report and of stdout. kinds are the kinds of the targets.
func (w *wait) readOutput(ctx context.Context, kinds []status.Kind) error {
	s := w.spec
	w.report, w.output = s.UI, s.Output
	w.report.Streams, w.report.Palette, w.report.Getenv = w.process.Streams, w.process.Streams.Palette(s.Color), s.Getenv
	w.report.Until = slices.Clone(s.Until)
	if s.Gone {
		w.report.Until = append(w.report.Until, "gone")
	}
	if s.Preset != "" {
		w.report.Until = append(w.report.Until, "preset "+s.Preset)
	}
	if learns := w.learns[0]; learns != nil && learns.Model != nil {
		w.report.Forecast = learns.Model
	} else if learns != nil {
		w.note("no past run of " + learns.Name + " is known yet")
	}
	if err := w.readShow(kinds); err != nil {
		return err
	}
	return w.readPrint(ctx, kinds)
}

// readShow reads the values of --show, which are shown for each response. With several targets, a value must
// apply to at least one kind.
func (w *wait) readShow(kinds []status.Kind) (err error) {
	s := w.spec
	w.report.Show, err = s.Values("show", s.Show, func(e *expr.Expr) (err error) {
		for _, kind := range kinds {
			if err = read.Applies(e, kind, s.Each != ""); err == nil {
				break
			}
		}
		return cmp.Or(read.MayShow(e), err)
	})
	return err
}

// readPrint reads the values of --print, which are printed for the result. A value must apply to every kind.
func (w *wait) readPrint(ctx context.Context, kinds []status.Kind) error {
	s := w.spec
	texts := slices.Clone(s.Print)
	for i, text := range texts {
		if text == targets.Item && s.Targets != "" {
			texts[i] = "$name"
		}
	}
	values, err := s.Values("print", texts, func(e *expr.Expr) (err error) {
		for _, kind := range kinds {
			err = cmp.Or(err, read.Applies(e, kind, s.Each != ""))
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

// printed returns the value of e for o. A missing or unknown value is an error, except for a jq expression
// without outputs.
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
	case strings.HasPrefix(e.String(), "jq:") && value.Reason == "it gives no value": // jq's "empty" is deliberate
		return ui.Nothing(), nil
	default:
		near, others := result.Explain().Hints()
		words := slices.Concat([]string{value.Reason}, near, others)
		return ui.Value{}, fmt.Errorf("--print %s: %s", e, strings.Join(words, "; hint: "))
	}
	return ui.Value{Text: value.Text(), JSON: []byte(value.Raw)}, nil
}
