package read

import (
	"cmp"
	"math"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// readRules sets the rules of t: the compiled conditions, the rules of --gone and --preset, and the expressions of
// --detail. It skips conditions that are meant for other targets (see isForOthers). It returns a usage error if an
// expression is invalid, or reads a variable that targets of t's kind never set. It also returns a usage error if there
// is --each, but no preset and no condition for SUCCESS or NOT_READY.
func (r *Reader) readRules(t *Target) (err error) {
	s := t.Run
	for _, verdict := range []status.Status{status.Throttled, status.Error, status.Success, status.NotReady} {
		name := verdict.RuleName()
		texts := s.Texts(name)
		for _, text := range texts {
			rule, err := status.NewRule(verdict, text, expr.WithEnviron(r.process.Lookup))
			if err == nil {
				if err = t.mayRead(rule.Expr); err != nil && r.isForOthers(t, s.Rank(name)) {
					continue
				}
			}
			if err != nil {
				return BadExpression(s.Origin(name), err)
			}
			rule.Origin = "--" + name
			t.Poller.Rules.Own = append(t.Poller.Rules.Own, rule)
		}
		isAtList := func(text string) bool {
			return strings.Contains(text, strings.TrimSuffix(s.Each, "[]")+"[") && !strings.Contains(text, "$json")
		}
		if s.Each != "" && s.Each != "." && slices.ContainsFunc(texts, isAtList) {
			s.Note("with %s a path begins at the element, not at the response: --%s '.name == \"x\"'", s.Origin("each"), name)
		}
	}
	if until := s.Texts("until"); len(until) > 1 && !strings.HasPrefix(until[1], find(`^[^\s=!<>~]*`, until[0])[0]) {
		s.Note("one true --until is enough; if all must be true, join them with and in one --until")
	}
	t.readGone()
	if !r.isForOthers(t, s.Rank("detail")) {
		if t.Poller.Rules.Detail, err = s.Values("detail", s.Texts("detail"), t.fits); err != nil {
			return err
		}
	}
	has := func(s status.Status) bool {
		return slices.ContainsFunc(t.Poller.Rules.Own, func(rule status.Rule) bool { return rule.Status == s })
	}
	if s.Each != "" && s.preset == nil && !has(status.Success) && !has(status.NotReady) {
		return argv.Usagef("%s needs a condition: without one, every element is SUCCESS at once", s.Origin("each")).
			Hint(`--until '.state=="done"', where . is the element, or --preset NAME`)
	}
	return r.readPreset(t)
}

// ReadRulesOf sets the rules of t, which must be the only target. The fields Kind and Run of t must be set.
func (p Env) ReadRulesOf(t *Target) error {
	r := Reader{run: t.Run, process: p}
	return cmp.Or(readAccept(t), r.readRules(t))
}

// mayRead returns a usage error if condition reads a variable that targets of t's kind never set.
func (t *Target) mayRead(condition *expr.Expr) error {
	if condition.Reads("event") && !t.Run.HTTP.Stream && t.Kind == status.KindHTTP {
		return argv.Usagef("$event is the name of an event of a stream, and there is no --stream")
	}
	return Applies(condition, t.Kind, t.Run.Each != "")
}

// fits returns a usage error if poll must not show the value of x, if x has the same value for every response, or if x
// reads a variable that targets of t's kind never set.
func (t *Target) fits(x *expr.Expr) error {
	return cmp.Or(MayShow(x), Applies(x, t.Kind, t.Run.Each != ""))
}

// readGone adds the rule of --gone, which HTTP and TCP targets support. A reset connection does not match the
// rule: if a server closes an idle connection, the next request may find the connection reset.
func (t *Target) readGone() {
	condition := `$error in ["refused", "dns"]`
	switch {
	case !t.Run.Gone || t.Kind == status.KindCommand: // a command may be one of several targets
		return
	case t.Kind == status.KindHTTP:
		condition += " or $status in [404, 410]"
	}
	rule, _ := status.NewRule(status.Success, condition) // the condition always compiles
	rule.Origin, rule.Here = "--gone", true
	t.Poller.Rules.Own = append(t.Poller.Rules.Own, rule)
}

// readAccept sets the codes of successful responses from --accept. It returns a usage error for codes that do not
// exist for t's kind, and for codes that contradict --gone or that poll never sees because it follows redirects.
func readAccept(t *Target) error {
	s := t.Run
	if !s.Has("accept") || t.Kind == status.KindTCP { // a TCP address may be one of several targets
		return nil
	}
	for word := range strings.SplitSeq(strings.Join(s.Texts("accept"), ","), ",") {
		codes, err := parseCodes(strings.TrimSpace(word), t.Kind)
		if err != nil {
			return argv.Usagef("%s: %w", s.Origin("accept"), err)
		}
		t.Poller.Rules.Accept = append(t.Poller.Rules.Accept, codes...)
	}
	has := func(code int) bool { return slices.Contains(t.Poller.Rules.Accept, code) }
	switch {
	case t.Kind == status.KindHTTP && s.HTTP.MaxRedirects >= 0 && slices.ContainsFunc([]int{301, 302, 303, 307, 308}, has):
		return argv.Usagef("%s: poll follows redirects, so the status of a redirect is not that of the response", s.Origin("accept")).
			Hint("with --max-redirs 0 the redirect is the response")
	case s.Gone && (has(http.StatusNotFound) || has(http.StatusGone)):
		return argv.Usagef("%s: 404 and 410 mean SUCCESS with %s", s.Origin("accept"), s.Origin("gone")).
			Hint("leave them out of the list")
	}
	return nil
}

// parseCodes parses an HTTP status, a class of statuses such as 2xx, or an exit code, depending on kind. For a
// class, it returns all hundred codes.
func parseCodes(text string, kind status.Kind) (codes []int, err error) {
	least, most, meaning := 200, 999, "an HTTP status"
	if kind == status.KindCommand {
		least, most, meaning = 0, 255, "an exit code"
		if runtime.GOOS == "windows" {
			most = math.MaxInt
		}
	}
	first, last := text, text
	if kind == status.KindHTTP && len(text) == 3 && strings.EqualFold(text[1:], "xx") {
		first, last = text[:1]+"00", text[:1]+"99"
	}
	from, err := strconv.ParseUint(first, 10, 0)
	to, _ := strconv.ParseUint(last, 10, 0)
	if err != nil || from < uint64(least) || to > uint64(most) {
		return nil, argv.Usagef("%q is not %s", text, meaning).Advise("accept " + kind.String() + " " + text)
	}
	for code := from; code <= to; code++ {
		codes = append(codes, int(code))
	}
	return codes, nil
}

// isForOthers reports whether a condition that does not apply to t should be skipped instead of rejected, because it
// is meant for other targets. This is the case if t is a TCP address among several targets, and the condition does
// not come from t's own entry. rank is the rank of the condition.
func (r *Reader) isForOthers(t *Target, rank argv.Rank) bool {
	return r.Several && t.Kind == status.KindTCP && rank < argv.Entry
}

// readPreset sets the rules of --preset. It skips rules that do not apply to t's kind, and notes which rules it
// has skipped.
func (r *Reader) readPreset(t *Target) error {
	s := t.Run
	if s.preset == nil || t.Kind == status.KindTCP { // a TCP address may be one of several targets
		return nil
	}
	p, ofElement := s.preset, s.Each != ""
	if ofElement && p.File != "" && p.Object != "" && !isObject(p.Object, strings.TrimSuffix(s.Each, "[]")+"[]") {
		return argv.Usagef("%s: its object is %s, and %s is about each element of %s", s.Origin("preset"), p.Object, s.Origin("each"), s.Each).
			Hint("write its paths from the element, such as .job.state, and no object")
	}
	compiled, err := r.process.presets.compile(s.Line, compilation{p, t.Kind, ofElement})
	if err != nil {
		return argv.Usagef("%s: %w", s.Origin("preset"), err)
	}
	hides := func(arg string) bool { return strings.HasPrefix(arg, "--ignore-not-found") }
	if t.Kind == status.KindCommand && p.Stanzas() != nil && slices.ContainsFunc(s.Operands, hides) {
		s.Note("--ignore-not-found hides objects that do not exist yet: leave the flag out to wait for them")
	}
	t.Poller.Rules.Preset = compiled
	return nil
}

// isObject reports whether path is one of the paths in objects, which are separated by "//".
func isObject(objects, path string) bool {
	return slices.ContainsFunc(strings.Split(objects, "//"), func(one string) bool { return strings.TrimSpace(one) == path })
}

// checkThreshold returns a usage error if the wait cannot reach --success-threshold because --max-attempts or the
// timeout is too low. It checks only thresholds from the command line and from entries. With a job log, any
// threshold is valid, because later runs continue the wait.
func checkThreshold(t *Target) error {
	s, least := t.Run, t.Run.Poller.SuccessThreshold
	timeout := s.Timeout
	if own := s.Poller.Timeout; own > 0 && (timeout == 0 || own < timeout) {
		timeout = own
	}
	origin := s.Origin("success-threshold")
	switch most := s.Poller.MaxAttempts; {
	case s.IsLogged() || s.Rank("success-threshold") < argv.Typed:
		return nil
	case least.Times > most && s.Rank("max-attempts") >= argv.Typed && most > 0 && !s.HTTP.Stream:
		return argv.Usagef("%s: %d in a row need more attempts than the %d of %s", origin, least.Times, most, s.Origin("max-attempts"))
	case least.For >= timeout && timeout > 0:
		return argv.Usagef("%s: %s do not fit into the %s of %s", origin, words.Duration(least.For), words.Duration(timeout), s.Origin("timeout"))
	}
	return nil
}

// checkStream returns a usage error for a wait with --stream that cannot end correctly:
//
//   - without a condition for SUCCESS, because the first message would be SUCCESS
//   - with a group preset, which needs all objects at once, because a message holds only one object
//   - with a --success-threshold that counts lines, if no condition for SUCCESS can match a line
func checkStream(t *Target) error {
	s := t.Run
	if !s.HTTP.Stream {
		return nil
	}
	if !s.Has("until") && s.Preset == "" && !s.Gone {
		return argv.Usagef("%s needs a condition, or its first message would be SUCCESS", s.Origin("stream")).
			Hint(`--stream --until '$output contains "Server started"' for a line of a command, --until '.state == "done"' for an event`)
	}
	if p := s.preset; p != nil && p.Match == "" && p.Stanzas() != nil {
		return argv.Usagef("%s: preset %s needs all objects to be done, and a message holds one of them", s.Origin("preset"), p.Name).
			Hint("of one object: --stream --preset %s/Pod; of all of them: without --stream", p.Name)
	}
	rules := slices.Concat(t.Poller.Rules.Own, t.Poller.Rules.Preset.All())
	matchesLine := func(r status.Rule) bool {
		return r.Status == status.Success && (!r.Expr.Reads("exit") || r.Expr.Reads("stdout", "stderr", "body"))
	}
	if s.Poller.SuccessThreshold.Times > 1 && !slices.ContainsFunc(rules, matchesLine) {
		return argv.Usagef("%s counts lines, but a line has no $exit", s.Origin("success-threshold"))
	}
	return nil
}
