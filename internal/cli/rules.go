package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// readRules reads the conditions, which have to be about what the target answers.
func (r *reader) readRules(t *target) error {
	for _, verdict := range status.Ruled() {
		flag := verdict.RuleName()
		compile := func(text string) (status.Rule, error) { return r.rule(verdict, text, "--"+flag) }
		fits := func(rule status.Rule) error { return applies(rule.Expr.Uses(), t.kind, r.Each != "") }
		rules, err := compileAll(r.Spec, flag, compile, fits, r.isForOthers(t, r.Flag(flag)))
		if err != nil {
			return err
		}
		t.poller.Rules.Own = append(t.poller.Rules.Own, rules...)
	}
	r.readGone(t)
	decides := func(rule status.Rule) bool { return rule.Status == status.Success || rule.Status == status.NotReady }
	if r.Each != "" && r.Preset == "" && !slices.ContainsFunc(t.poller.Rules.Own, decides) {
		return r.needsCondition() // those of variables are for others
	}
	t.poller.Rules.Strict = r.Strict
	return r.readPreset(t)
}

// readGone makes the rule of --gone. A reset is none of it: a server that closes an idle
// connection resets the next request.
func (r *reader) readGone(t *target) {
	condition := `$error in ["refused", "dns"]`
	switch {
	case !r.Gone || t.kind == status.KindCommand: // among several
		return
	case t.kind == status.KindHTTP:
		condition += " or $status in [404, 410]"
	}
	rule, _ := r.rule(status.Success, condition, "--gone") // it compiles
	rule.Here = true
	t.poller.Rules.Own = append(t.poller.Rules.Own, rule)
}

// isForOthers reports whether a condition that a target cannot have is meant for others: if a
// variable says it; and a TCP address gives no answer, so among several targets what is said
// of all their answers is not said of it.
func (r *reader) isForOthers(t *target, f *argv.Flag) bool {
	return f.Rank() == argv.Variable || r.several && t.kind == status.KindTCP && f.Rank() < argv.Entry
}

// rule compiles a condition.
func (r *reader) rule(verdict status.Status, condition, flag string) (status.Rule, error) {
	rule, err := status.NewRule(verdict, condition, expr.WithEnviron(r.world.Lookup))
	if err == nil {
		err = depends(rule.Expr)
	}
	rule.Origin = flag
	return rule, err
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

func (r *reader) readPreset(t *target) error {
	if r.Preset == "" || t.kind == status.KindTCP { // among several
		return nil
	}
	rules, err := r.preset.Compile(t.kind, r.Each != "" && !r.followsEach())
	if err != nil {
		return fmt.Errorf("compile preset %s: %w", r.Preset, err)
	}
	t.poller.Rules.Preset = rules
	return nil
}

// unknownPreset refuses a name, with the presets of the service that it may stand for.
func unknownPreset(origin, name string, mine []status.Preset) error {
	err := argv.Usagef("%s: there is no preset %q", origin, name)
	if _, missing := os.Stat(name); missing == nil {
		return err.Hint("the file of that name: --preset ./%s", name)
	}
	if service, _, isAWS := strings.Cut(name, "/"); isAWS {
		return err.Hint("poll presets %s lists the waiters of that service", service)
	}
	var names, related []string
	for _, c := range candidates(mine, status.Presets()) {
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
