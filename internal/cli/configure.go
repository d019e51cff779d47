package cli

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// defaultTimeout bounds a wait that nobody has bounded, so that a CI job does
// not hang; defaultAttemptTimeout bounds a request.
const (
	defaultTimeout        = 10 * time.Minute
	defaultAttemptTimeout = 30 * time.Second
)

func (in *invocation) configureLimits(w *wait) error {
	v := in.values
	attemptTimeout := defaultAttemptTimeout
	if w.command != nil {
		attemptTimeout = 0
	}
	w.poller.Timeout = v.duration("timeout", defaultTimeout)
	w.grace = v.duration("grace", poll.DefaultGrace)
	w.poller.AttemptTimeout = v.duration("attempt-timeout", attemptTimeout)
	w.poller.MaxAttempts = v.count("max-attempts", 0, 0)
	w.poller.SuccessThreshold = v.count("success-threshold", 1, 1)
	w.poller.ErrorThreshold = v.count("error-threshold", 1, 1)
	return nil
}

func (in *invocation) configureSchedule(w *wait) error {
	v := in.values
	var err error
	if w.config, err = in.schedule(backoff.DefaultBase, backoff.DefaultMaxWait); err != nil {
		return err
	}
	w.poller.Schedule, w.poller.Throttled, err = w.config.Schedules()
	if err != nil {
		return in.badParameter(err)
	}
	w.poller.Immediate = in.immediate()
	w.poller.InitialDelay = v.duration("initial-delay", 0)
	w.poller.Rand = in.source()
	return nil
}

// immediate reports whether the first attempt comes at once: where that is asked
// for and, unless told otherwise, with --interval.
func (in *invocation) immediate() bool {
	if in.split.has("immediate") {
		return in.split.on("immediate")
	}
	return in.values.IsSet("interval")
}

// badParameter names the flag or variable that a parameter of the schedule came from.
func (in *invocation) badParameter(err error) error {
	e, ok := errors.AsType[*backoff.ParameterError](err)
	if !ok {
		return usagef("%w", err)
	}
	origin := in.values.origin(strings.ReplaceAll(e.Parameter, " ", "-"))
	if e.Parameter == "base" && in.values.IsSet("interval") {
		origin = in.values.origin("interval")
	}
	return usagef("%s: %s", origin, e.Problem)
}

// schedule reads the flags that shape the waits. base and maxWait hold where the
// command line says nothing else.
func (in *invocation) schedule(base, maxWait time.Duration) (backoff.Config, error) {
	v := in.values
	c := backoff.Config{
		Strategy: backoff.Strategy(v.word("strategy", string(backoff.StrategyExponential), names(backoff.Strategies()))),
		Jitter:   backoff.Jitter(v.word("jitter", string(backoff.JitterAuto), names(backoff.Jitters()))),
		Base:     cmp.Or(v.duration("base", base), backoff.NoWait),
		Factor:   v.number("factor", 1, backoff.DefaultFactor),
		Power:    v.number("power", 0, backoff.DefaultPower),
		MaxWait:  cmp.Or(v.duration("max-wait", maxWait), backoff.NoCap),
	}
	if c.Power == 0 {
		v.fail("power", usagef("0 is not above 0"))
	}
	if v.IsSet("interval") {
		c.Strategy, c.Base = backoff.StrategyFixed, cmp.Or(v.duration("interval", 0), backoff.NoWait)
	}
	if v.IsSet("overshoot") {
		c.Factor = 1 + v.percent("overshoot")
	}
	if !v.IsSet("max-wait") {
		c.MaxWait = in.defaultMaxWait(c)
	}
	if g := in.split.last("power"); g != nil && !g.env && c.Strategy != backoff.StrategyPolynomial && !in.split.has("compare") {
		return c, usagef("--power is for --strategy polynomial")
	}
	return c, nil
}

// defaultMaxWait is the cap when --max-wait is not given. --overshoot has none,
// and a fixed wait must fit below it.
func (in *invocation) defaultMaxWait(c backoff.Config) time.Duration {
	switch {
	case in.values.IsSet("overshoot"):
		return backoff.NoCap
	case c.Strategy == backoff.StrategyFixed && c.MaxWait != backoff.NoCap:
		return max(c.MaxWait, 2*c.Base)
	}
	return c.MaxWait
}

// source is the source of all jitter: nil leaves it to the poller.
func (in *invocation) source() *rand.Rand {
	if !in.values.IsSet("seed") {
		return nil
	}
	return rand.New(rand.NewPCG(in.values.seed(), 0))
}

func (in *invocation) configureRules(w *wait) error {
	for _, kind := range status.RuleKinds() {
		for _, condition := range in.values.texts(kind.Name) {
			rule, err := status.NewRule(kind.Status, condition)
			if err != nil {
				return badExpression(in.values.origin(kind.Name), err)
			}
			if err := depends(rule.Expr); err != nil {
				return usagef("%s: %w", in.values.origin(kind.Name), err)
			}
			rule.Origin = "--" + kind.Name
			if err := applies(rule.Expr.Uses(), w.kind); err != nil {
				return usagef("%s: %w", in.values.origin(kind.Name), err)
			}
			w.poller.Rules.Own = append(w.poller.Rules.Own, rule)
		}
	}
	w.poller.Rules.Strict = in.split.on("strict")
	return in.configurePreset(w)
}

// applies refuses a rule that speaks of what the probe does not have: it would
// silently be false for ever, or true.
func applies(uses expr.Uses, kind status.Kind) error {
	switch {
	case kind == status.KindTCP && (uses.JSON || uses.IsJSON || uses.Answer()):
		return usagef("a TCP address gives no answer to look at").hint("without a condition, a connection is SUCCESS")
	case uses.Exit && kind != status.KindCommand:
		return usagef("$exit is the exit code of a command, and a URL is waited for").hint("write $status for the HTTP status code")
	case (uses.Stdout || uses.Stderr) && kind != status.KindCommand:
		return usagef("$stdout and $stderr are a command's, and a URL is waited for").hint("write $body for the response body")
	case uses.Status && kind != status.KindHTTP:
		return usagef("$status is the status code of an HTTP answer, and none is waited for").hint("write $exit for a command's exit code")
	case uses.Header && kind != status.KindHTTP:
		return usagef("$header is a header of an HTTP answer, and none is waited for")
	}
	return nil
}

func (in *invocation) configurePreset(w *wait) error {
	name := in.values.String("preset")
	if name == "" {
		return nil
	}
	preset, ok := status.LookupPreset(name)
	if !ok {
		return unknownPreset(in.values.origin("preset"), name)
	}
	if w.kind == status.KindTCP {
		return usagef("%s: a TCP address gives no answer to look at", in.values.origin("preset"))
	}
	rules, err := preset.Compile(w.kind)
	if err != nil {
		return fmt.Errorf("compile preset %s: %w", name, err)
	}
	w.poller.Rules.Preset = rules
	return nil
}

func unknownPreset(origin, name string) error {
	err := usagef("%s: there is no preset %q", origin, name)
	if near := nearest(name, presetNames()); near != "" {
		return err.hint("did you mean %s?", near)
	}
	return err.hint("poll presets lists them")
}

// configureProbe sets up what the operands name.
func (in *invocation) configureProbe(w *wait) error {
	operands := in.split.operands
	switch {
	case len(operands) == 0:
		return in.nothingToWaitFor()
	case in.split.command:
		return in.configureCommand(w, operands)
	case len(operands) > 1:
		return usagef("%d URLs are given, and one can be waited for", len(operands))
	}
	return in.configureURL(w, operands[0])
}

func (in *invocation) nothingToWaitFor() error {
	if g := in.split.tookURL(); g != nil {
		return usagef("nothing to wait for: %s took the URL as its value", g.origin()).hint("%s %s URL", g.origin(), g.flag.value)
	}
	return usagef("nothing to wait for: give a URL or a command").
		hint("poll --until '.state==\"done\"' https://api.example.com/jobs/42").
		hint("poll -- COMMAND [ARG...]     and poll --help for the rest")
}
