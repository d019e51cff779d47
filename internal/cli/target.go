package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/plan"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A target is what the command line says about one operation to wait for, checked.
// What it says about the waiting as a whole is in a [wait].
type target struct {
	kind    status.Kind
	poller  poll.Poller     // without the limits of the whole
	http    *poll.HTTP      // the probe, if it is a request
	command *poll.Command   // the probe, if it is a command
	missing *status.Failure // why its program cannot be run, nil if it can
	advice  string          // about such a program
	learns  *plan.Recorder  // nil without --learn
	spec    *Spec           // its settings, of one of several
	named   string          // by its entry, of one of several
}

// A targetReader reads targets, and makes once what several of them have in common.
type targetReader struct {
	world   World
	grace   time.Duration // for commands
	several bool          // there may be more than one
	perHost int           // connections to one host that are kept, 0 for as many as for one target
	bodies  *poll.Bodies  // nil for one target

	connections map[string]connection // by the [poll.Connect] in Go's syntax
	programs    map[string]bool       // that can be run
	nested      *poll.Command         // what all commands have in common; nil until there is one
}

// read reads and checks everything about the target that the operands name, but for its
// past runs.
func (r *targetReader) read(s *Spec) (target, error) {
	kind := status.KindCommand
	var err error
	if !s.IsCommand {
		if kind, err = kindOfURL(s.Operands[0]); err != nil {
			return target{}, err
		}
	}
	t, err := r.readCommon(s, kind)
	if err != nil {
		return t, err
	}
	return t, r.aim(s, &t, s.Operands)
}

// readCommon reads all but what the target looks at.
func (r *targetReader) readCommon(s *Spec, kind status.Kind) (target, error) {
	t, err := r.readProbe(s, kind)
	if err != nil {
		return t, err
	}
	if err := r.readRules(s, &t); err != nil {
		return t, err
	}
	return t, s.ErrOr(r.readSchedule(s, &t))
}

// readRules reads the conditions, which have to be about what the target answers.
func (r *targetReader) readRules(s *Spec, t *target) error {
	for _, verdict := range status.Ruled() {
		flag := verdict.RuleName()
		for _, text := range s.Strings(flag) {
			rule, err := r.rule(verdict, text)
			if err == nil {
				if err = applies(rule.Expr.Uses(), t.kind, s.Each != ""); err != nil && r.isForOthers(t, s.Flag(flag)) {
					continue
				}
			}
			if err != nil {
				return badExpression(s.Origin(flag), err)
			}
			rule.Origin = "--" + flag
			t.poller.Rules.Own = append(t.poller.Rules.Own, rule)
		}
	}
	if err := r.readGone(s, t); err != nil {
		return err
	}
	decides := func(rule status.Rule) bool { return rule.Status == status.Success || rule.Status == status.NotReady }
	if s.Each != "" && s.Preset == "" && !slices.ContainsFunc(t.poller.Rules.Own, decides) {
		return s.needsCondition() // those of variables are for others
	}
	t.poller.Rules.Strict = s.Strict
	return r.readPreset(s, t)
}

// readGone makes the rule of --gone. A reset is none of it: a server that closes an idle
// connection resets the next request.
func (r *targetReader) readGone(s *Spec, t *target) error {
	condition := `$error in ["refused", "dns"]`
	switch {
	case !s.Gone || t.kind == status.KindCommand: // among several
		return nil
	case t.kind == status.KindHTTP:
		condition += " or $status in [404, 410]"
	}
	rule, err := r.rule(status.Success, condition)
	rule.Origin, rule.Here = "--gone", true
	t.poller.Rules.Own = append(t.poller.Rules.Own, rule)
	return err
}

// isForOthers reports whether a condition that a target cannot have is meant for others: if a
// variable says it; and a TCP address gives no answer, so among several targets what is said
// of all their answers is not said of it.
func (r *targetReader) isForOthers(t *target, f *argv.Flag) bool {
	return f.Rank() == argv.Variable || r.several && t.kind == status.KindTCP && f.Rank() < argv.Entry
}

// rule compiles a condition.
func (r *targetReader) rule(verdict status.Status, condition string) (status.Rule, error) {
	rule, err := status.NewRule(verdict, condition, expr.WithEnviron(r.world.Lookup))
	if err == nil {
		err = depends(rule.Expr)
	}
	return rule, err
}

// put puts a value into a map, which it makes if it has to.
func put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = make(map[K]V)
	}
	(*m)[key] = value
}

// depends refuses a condition that reads nothing of an attempt: it would end the
// wait whatever the answer, or never.
func depends(condition *expr.Expr) error {
	if condition.Uses() != 0 {
		return nil
	}
	err := argv.Usagef("%s is the same for every answer", condition)
	if m := find(`["'](\.[A-Za-z_][\w.\[\]]*)["']`, condition.String()); m != nil {
		return err.Hint("in quotes it is text; the field is written %s", m[1])
	}
	return err.Hint(`a condition reads something, such as .state == "done", $status == 200 or $exit == 0`)
}

// applies refuses a rule on variables that the probe does not set: it would
// silently always be false, or true. It may be about an element of an answer.
func applies(uses expr.Uses, kind status.Kind, element bool) error {
	switch {
	case uses.Any(expr.UsesGone) && !element:
		return argv.Usagef("$gone is about an element of a list, and there is no --each").
			Hint("--each EXPR makes each element of a list a target; --gone waits until nothing is there")
	case kind == status.KindTCP && uses.Any(^(expr.UsesError | expr.UsesAttempt | expr.UsesElapsed)):
		return argv.Usagef("a TCP address gives no answer to test").
			Hint("without a condition, a connection is SUCCESS; $error, $attempt and $elapsed can be tested")
	case uses.Any(expr.UsesExit) && kind != status.KindCommand:
		return argv.Usagef("$exit is a command's exit code, but the target is a URL").Hint("write $status for the HTTP status code")
	case uses.Any(expr.UsesStdout|expr.UsesStderr) && kind != status.KindCommand:
		return argv.Usagef("$stdout and $stderr are a command's, but the target is a URL").Hint("write $body for the response body")
	case uses.Any(expr.UsesStatus) && kind != status.KindHTTP:
		return argv.Usagef("$status is an HTTP status code, but the target is not an HTTP URL").Hint("write $exit for a command's exit code")
	case uses.Any(expr.UsesHeader) && kind != status.KindHTTP:
		return argv.Usagef("$header is an HTTP header, but the target is not an HTTP URL")
	}
	return nil
}

func (r *targetReader) readPreset(s *Spec, t *target) error {
	if s.Preset == "" {
		return nil
	}
	preset, ok := status.LookupPreset(s.Preset)
	if !ok {
		return unknownPreset(s.Origin("preset"), s.Preset)
	}
	if err := applies(expr.UsesJSON, t.kind, false); err != nil {
		if r.isForOthers(t, s.Flag("preset")) {
			s.DropVariable("preset")
			return nil
		}
		return argv.Usagef("%s: %w", s.Origin("preset"), err)
	}
	rules, err := preset.Compile(t.kind, s.Each != "" && !s.followsEach())
	if err != nil {
		return fmt.Errorf("compile preset %s: %w", s.Preset, err)
	}
	t.poller.Rules.Preset = rules
	return nil
}

// unknownPreset refuses a name, with the presets of the service that it may stand for.
func unknownPreset(origin, name string) error {
	err := argv.Usagef("%s: there is no preset %q", origin, name)
	var names, related []string
	for _, c := range offeredPresets() {
		names = append(names, c.Word)
		if len(name) > 2 && strings.Contains(" "+strings.ToLower(c.Word+" "+c.About), " "+strings.ToLower(name)) {
			related = append(related, c.Word)
		}
	}
	if len(related) > 0 {
		return err.Hint("did you mean %s?", strings.Join(related, " or "))
	}
	if err.Meant(name, names); len(err.Hints) == 0 {
		err.Hint("poll presets lists them")
	}
	return err
}

// readSchedule reads the waits, and the limits of attempts.
func (r *targetReader) readSchedule(s *Spec, t *target) error {
	t.poller.Schedule, t.poller.Throttled = s.Waits.Resolved(backoff.DefaultBase, backoff.DefaultMaxWait).Schedules()
	t.poller.Immediate, t.poller.InitialDelay = s.Waits.AtOnce(), s.Waits.InitialDelay
	t.poller.Rand = s.Waits.Rand()
	switch {
	case s.AttemptTimeout != nil:
		t.poller.AttemptTimeout = *s.AttemptTimeout
	case t.command == nil:
		t.poller.AttemptTimeout = 30 * time.Second
	}
	t.poller.Timeout = s.TargetTimeout
	if s.Flag("timeout").Rank() == argv.Entry {
		t.poller.Timeout = s.Timeout
	}
	t.poller.MaxAttempts = s.MaxAttempts
	t.poller.SuccessThreshold, t.poller.SuccessFor = s.SuccessThreshold.times, s.SuccessThreshold.span
	t.poller.ErrorThreshold = s.ErrorThreshold
	return nil
}

// readLearning reads the past runs, once everything else is found valid; without
// --learn it does nothing.
func (t *target) readLearning(s *Spec) error {
	if s.Learning.Learn == "" {
		return nil
	}
	r, err := s.Learning.Recorder(s.Line, s.Waits, s.Each != "", compileValue)
	if err != nil {
		return err
	}
	t.learns = r
	if r.Model != nil {
		t.poller.Resend = t.poller.Schedule
		t.poller.Schedule, t.poller.Throttled = s.Waits.Learned(r.Model, t.poller.Throttled)
	}
	return nil
}
