package status

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/status/expr"
)

// A Rule is a condition, and the status of an operation whose response meets the condition.
type Rule struct {
	Status Status
	Expr   *expr.Expr
	// Origin is the source of the rule: "until", "preset rds".
	Origin string
	// Preset is the name of the rule's preset; "" for a rule outside presets.
	Preset string
	// Why is the reason if the rule matches; "" means the explanation of the expression.
	Why string
	// Here is true if the rule applies only to the response of the given URL. It does not apply to the response of
	// a URL that is followed, or to another page after a redirect.
	Here bool
	// Detail are expressions for a message in the response. If the rule matches, the first value that is a string
	// is added to the reason.
	Detail []*expr.Expr
}

// NewRule compiles a condition into a rule for s, which is Throttled, Error, Success or NotReady. It returns an
// error for a condition that reads nothing of an attempt: such a rule would match every response or no response.
// An error about the condition is an [*expr.Error].
func NewRule(s Status, condition string, opts ...expr.Option) (Rule, error) {
	x, err := expr.Compile(condition, opts...)
	switch {
	case s.RuleName() == "":
		return Rule{}, fmt.Errorf("%q is not the status of a rule", s)
	case err != nil:
		return Rule{}, err
	case !x.Reads():
		return Rule{}, constant(condition)
	}
	return Rule{Status: s, Expr: x, Origin: s.RuleName()}, nil
}

// constant returns the error for a condition that has the same result for every response.
func constant(condition string) error {
	hint := `a condition reads something, such as .state == "done", $status == 200 or $exit == 0`
	if field := quotedField().FindStringSubmatch(condition); field != nil {
		hint = "in quotes it is text; the field is written " + field[1]
	}
	return &expr.Error{Source: condition, Column: 1, Message: condition + " is the same for every answer", Hint: hint}
}

// quotedField matches a path in quotation marks, which is a string and not a path.
var quotedField = words.Pattern(`["'](\.[A-Za-z_][\w.\[\]]*)["']`)

// ruled returns the statuses that rules can have, in the order of evaluation.
func ruled() []Status { return []Status{Throttled, Error, Success, NotReady} }

// RuleName returns the name of the rules for s, such as "until" for Success; "" for None.
func (s Status) RuleName() string {
	return map[Status]string{Throttled: "throttled-if", Error: "error-if", Success: "until", NotReady: "not-ready-if"}[s]
}

// String returns the origin and the expression: `until .state=="done"`.
func (r *Rule) String() string { return r.Origin + " " + r.Expr.String() }

// Rules are evaluated on an observation, and return a verdict. The zero value returns the verdict of the
// response itself.
type Rules struct {
	// Own are the user's rules, evaluated before the Preset.
	Own []Rule
	// Preset has the rules for the responses of an API, nil for no preset.
	Preset *Preset
	// Accept are the HTTP status codes, or the exit codes, of successful responses. Any other code is unsuccessful:
	// with [200, 429], 204 and 503 are unsuccessful. Nil means HTTP 2xx and exit code 0.
	Accept []int
	// Strict makes a successful response that no rule matches an ERROR.
	Strict bool
	// Detail are expressions for a message in the response. The first value that is a string, a number or a boolean is
	// added to the reason of a verdict that is not SUCCESS, and replaces the message of a rule's Detail.
	Detail []*expr.Expr

	err error // of a condition of ErrorIf
}

// Until returns rules with which a response is SUCCESS if it meets any of the conditions. It returns an error
// for a faulty condition, and if there is no condition.
func Until(conditions ...string) (Rules, error) {
	if len(conditions) == 0 {
		return Rules{}, errors.New("there is no condition: any successful response would be SUCCESS")
	}
	rules := Rules{}.with(Success, conditions)
	if rules.err != nil {
		return Rules{}, rules.err
	}
	return rules, nil
}

// MustUntil returns the rules of [Until], and panics if Until returns an error. Use it for constant conditions.
func MustUntil(conditions ...string) Rules {
	rules, err := Until(conditions...)
	if err != nil {
		panic(err)
	}
	return rules
}

// ErrorIf returns r with a further rule for each condition: a response that meets the condition is an ERROR. A
// faulty condition is an error of [Rules.Validate], so a wait with these rules fails before its first attempt.
func (r Rules) ErrorIf(conditions ...string) Rules { return r.with(Error, conditions) }

// with returns r with a further rule for s for each condition.
func (r Rules) with(s Status, conditions []string) Rules {
	r.Own = slices.Clip(r.Own)
	for _, condition := range conditions {
		rule, err := NewRule(s, condition)
		if err != nil {
			r.err = cmp.Or(r.err, fmt.Errorf("the condition: %w", err))
		}
		r.Own = append(r.Own, rule)
	}
	return r
}

// Validate returns an error if the rules cannot be evaluated: a wrong condition of [Rules.ErrorIf], a rule
// without an Expr or with a Status that has no rules, a preset without rules, or a nil expression.
func (r Rules) Validate() error {
	if slices.Contains(r.Detail, nil) {
		return errors.New("an expression for the detail is nil")
	}
	return cmp.Or(r.err, validate(r.Own), r.Preset.validate())
}

// validate returns an error if one of the rules cannot be evaluated.
func validate(rules []Rule) error {
	for i := range rules {
		switch rule := &rules[i]; {
		case rule.Expr == nil:
			return errors.New("a rule has no Expr")
		case rule.Status.RuleName() == "":
			return fmt.Errorf("%q is not the status of a rule", rule.Status)
		case slices.Contains(rule.Detail, nil):
			return fmt.Errorf("the rule %s: an expression for the detail is nil", rule)
		}
	}
	return nil
}

// Classify returns the verdict on o. The first of these decides:
//
//  1. Own: the rules for THROTTLED, then those for ERROR, SUCCESS and NOT_READY.
//  2. Preset, in the same order.
//  3. The [Meaning] of the response itself. If the probe cannot work (a certificate that is not trusted, a redirect
//     loop, a program that cannot be run, a start whose response was lost), it is an ERROR. Only rules in Own
//     that name $error can then decide, and only for a certificate or a redirect loop.
//
// The Meaning selects the rules that may decide. For the probes of package poll:
//
//   - A rule for SUCCESS or ERROR that reads the document is evaluated only on a successful response, unless it names
//     $status or $error; for a command $exit, $stdout, $stderr, $body or $error. If a rule in Own for SUCCESS names
//     $exit, all rules for ERROR are evaluated.
//   - A rule in Preset for [NotReady] is evaluated on each response, except on the output of a command that failed, and
//     on a response to a request that was refused for load.
//   - A rule for SUCCESS counts on a response that is not successful only if its result is affirmed (see
//     [expr.Result.Affirmed]), or if the rule names $exit, $status or $error. For a command that has ended only $exit is
//     enough.
//   - A 404, a 410 or a failure after a redirect to another page, or at the URL of an object that a start has
//     created, is not SUCCESS by any rule: a rule that matches makes it NOT_READY.
//   - An element that is not in the response is NOT_READY, unless it is gone and a rule that names $gone matches.
//
// A rule whose result is unknown does not match. A rule in Own for [NotReady] whose result is unknown keeps a wait
// going that has no rule for SUCCESS.
//
// When ctx is done, Classify abandons rules that take long. Rules that are not valid make an ERROR.
func (r Rules) Classify(ctx context.Context, o Observation) Verdict {
	if err := r.Validate(); err != nil {
		return Verdict{Status: Error, Reason: err.Error(), Final: true}
	}
	o.Accept = r.Accept
	m := o.meaning()
	e := evaluation{ctx: ctx, meaning: &m, results: make([]Result, 0, len(r.Own)), detail: r.Detail}
	e.admitted = r.Admits(&o)
	v, byRules := r.decide(&e, &o)
	if r.Detail != nil && v.Status != Success && !v.Abandoned {
		e.environment(&o) // perhaps no rule was evaluated
		v.Reason = e.detailed(v.Reason, r.Detail)
	}
	if byRules && !strings.Contains(v.Reason, m.Where) {
		v.Reason += ", " + m.Where
	}
	if o.Page > 0 {
		v.Reason = fmt.Sprintf("page %d of the list: %s", o.Page, v.Reason)
	}
	if m.DeadEnd != "" && !v.Status.Ends() {
		v.Status, v.Rule, v.Advice = Error, "", m.Advice
		v.Reason += "; " + m.DeadEnd
	}
	v.AsksSuccess = slices.ContainsFunc(v.Results, func(one Result) bool { return one.Rule.Status == Success })
	v.Final = v.Final || v.Status == Error && m.Once
	return v
}

// decide returns the verdict, and whether rules give its reason.
func (r Rules) decide(e *evaluation, o *Observation) (v Verdict, byRules bool) {
	v, ok := e.firstMatch(o, r.Own)
	if !ok && r.Preset != nil && (e.meaning.Only == nil || o.Presence == Gone) {
		v, ok = e.preset(o, r.Preset)
	}
	isHere := func(rule Rule) bool { return rule.Here }
	switch {
	case ok:
		return v, true
	case e.meaning.WhyNotHere != "" && slices.ContainsFunc(r.Own, isHere):
		v = Verdict{Status: NotReady, Reason: e.meaning.WhyNotHere}
	default:
		v, byRules = e.unmatched(o, r, cmp.Or(e.words, e.want()))
	}
	if v.Objects = e.objects; o.Failure == nil || e.meaning.Only == nil { // otherwise the failure decides, and not the rules
		v.Results = e.results
	}
	return v, byRules || o.absence() != ""
}

// A Result is the result of one rule for one observation.
type Result struct {
	expr.Result
	Rule *Rule
	// Env has the variables of the rule.
	Env *expr.Env
	// Evaluated is false if the rule must not decide about the response. Result is then empty.
	Evaluated bool
	// Denied is true if the rule matches, but an unsuccessful response need not hold anything for the match.
	Denied bool
	// NoObject is true if the response has no object that the rule could be about, OfObject if the rule is about one of
	// the objects in the response.
	NoObject, OfObject bool
}

// An evaluation evaluates rules on one observation.
type evaluation struct {
	ctx      context.Context
	env      *expr.Env // made for the first rule
	meaning  *Meaning
	admitted bool // rules for ERROR may read the document
	results  []Result

	isPart  bool     // it is about one of the objects in the response
	isMany  bool     // the response has several objects
	none    bool     // the response has no object
	words   string   // the reason why a preset has not decided
	objects []Object // the verdicts of the preset

	detail []*expr.Expr // replaces the Detail of rules, if it is not nil
}

// detailed adds the message of the response to a reason that does not have it.
func (e *evaluation) detailed(reason string, detail []*expr.Expr) string {
	var types []string
	if e.detail != nil { // the user has chosen the value
		types = []string{"number", "boolean"}
	}
	if words := FirstText(detail, e.env, types...); words != "" && !strings.Contains(reason, words) {
		return strings.TrimPrefix(reason+": "+words, ": ")
	}
	return reason
}

// firstMatch evaluates rules in the order of their statuses until a rule matches.
func (e *evaluation) firstMatch(o *Observation, rules []Rule) (Verdict, bool) {
	for _, status := range ruled() {
		for i := range rules {
			if rules[i].Status != status || e.meaning.excludes(&rules[i]) || o.Ended && !e.meaning.reads(&rules[i]) {
				continue
			}
			switch one := e.evaluate(o, &rules[i]); {
			case one.Matched() && status == Success && e.none: // the rule reads nothing of an object
			case one.Matched():
				return e.matched(o, one), true
			case one.Abandoned():
				reason := one.Rule.String() + ": " + one.Value().Reason
				return Verdict{Status: NotReady, Reason: reason, Abandoned: true, Results: e.results}, true
			}
		}
	}
	return Verdict{}, false
}

// HasSuccess reports whether there may be a rule for SUCCESS.
func (r Rules) HasSuccess() bool {
	return slices.ContainsFunc(slices.Concat(r.Own, r.Preset.All()), func(rule Rule) bool { return rule.Status == Success })
}

// evaluate adds the result of a rule.
func (e *evaluation) evaluate(o *Observation, rule *Rule) Result {
	x, m := rule.Expr, e.meaning
	one := Result{Rule: rule, Env: e.environment(o), NoObject: e.none, OfObject: e.isPart}
	one.Evaluated = m.reads(rule) && m.counts(rule, e.admitted)
	if one.Evaluated {
		one.Result = x.Eval(one.Env)
	}
	isUnsuccessful := m.Allow&AllowRead == 0 && !m.isNamed(x)
	if rule.Status == Success && isUnsuccessful && one.Matched() && !one.Affirmed() {
		one.Evaluated, one.Denied, one.Result = false, true, expr.Result{} // such as $stdout != "old" after ssh failed to connect
	}
	e.results = append(e.results, one)
	return one
}

// environment returns the variables of rules, the same for all rules.
func (e *evaluation) environment(o *Observation) *expr.Env {
	if e.env == nil {
		e.env = Environment(o)
		e.env.Context = e.ctx
	}
	return e.env
}

// Admits reports whether rules for ERROR may read the document: the response is successful, or a rule of the user for
// SUCCESS names the exit code of the command.
func (r Rules) Admits(o *Observation) bool {
	return o.Good() || o.Exit != nil && r.reads(Success, "exit")
}

func (e *evaluation) matched(o *Observation, one Result) Verdict {
	rule := one.Rule
	reason := rule.Why
	if reason == "" {
		lines := one.Explain().Lines
		reason = strings.Join(lines[:min(2, len(lines))], "; ")
	}
	switch {
	case e.detail == nil:
		reason = e.detailed(reason, rule.Detail)
	case rule.Status != Success:
		reason = e.detailed(reason, e.detail)
	}
	if f := o.Failure; f != nil && rule.Expr.Reads("error") {
		reason += ": " + f.Reason
	}
	v := Verdict{Status: rule.Status, Rule: rule.String(), Reason: reason, Results: e.results}
	if v.Status == Success && e.meaning.Allow&AllowSuccess == 0 {
		v.Status, v.Rule = NotReady, ""
		v.Reason += ", " + e.meaning.WhyNot
	}
	return v
}

// FirstText returns the first value that is a string or of one of types, on one line. It returns "" without such a
// value.
func FirstText(values []*expr.Expr, env *expr.Env, types ...string) string {
	for _, x := range values {
		if v := x.Eval(env).Value(); v.Type == "string" || slices.Contains(types, v.Type) {
			if fields := strings.Fields(v.Text()); len(fields) > 0 {
				return words.Excerpt([]byte(strings.Join(fields, " ")))
			}
		}
	}
	return ""
}

// want returns the reasons why the rules for SUCCESS did not match, "" if no such rule was evaluated.
func (e *evaluation) want() string {
	var words []string
	for _, one := range e.results {
		switch {
		case !one.Evaluated || one.Rule.Status != Success:
		case one.Rule.Here && e.env.Status != nil:
			words = append(words, fmt.Sprintf("it is still there: HTTP %d", *e.env.Status))
		case one.Rule.Here && e.env.Error == "":
			words = append(words, "it is still there")
		default:
			words = append(words, one.Explain().Lines[0])
		}
	}
	slices.Sort(words)
	words = slices.Compact(words)
	return strings.Join(words[:min(2, len(words))], "; ")
}

// doubt returns the reason why a rule for NOT_READY should perhaps have matched: its result is unknown, or it names
// nearly a member of the document. It returns "" without such a rule.
func (e *evaluation) doubt(o *Observation) string {
	for _, one := range e.results {
		if one.Rule.Status != NotReady || !one.Evaluated || one.isExcused(o) {
			continue
		}
		near, _ := one.Explain().Hints()
		if why := one.Value().Reason; one.Tri == expr.Unknown || len(near) > 0 {
			return strings.Join(append([]string{strings.TrimSuffix(one.Rule.String()+" is "+one.Tri.String()+": "+why, ": ")}, near...), "; ")
		}
	}
	return ""
}

// isExcused reports whether a rule for NOT_READY is about responses that were not successful, so that a
// successful response without the fields that the rule reads is not a doubtful case: the rule only reads
// errors, or it has matched such a response and no successful response.
func (one Result) isExcused(o *Observation) bool {
	onlyErrors := one.Rule.Expr.Reads("error", "error members") &&
		!one.Rule.Expr.Reads("other members", "isjson", "unchanged", "body", "header", "stdout", "stderr")
	wasGood, isKnown := o.Matched[one.Rule.String()]
	return onlyErrors && !one.Rule.Expr.Reads("error members") || (onlyErrors || isKnown && !wasGood) && one.hasNoField()
}

// hasNoField reports whether the document is an object without the fields that the rule reads. The rule
// then has the same result for an empty object.
func (one Result) hasNoField() bool {
	empty := *one.Env
	empty.Doc = expr.NewDoc([]byte("{}"))
	return slices.Equal(one.Rule.Expr.Eval(&empty).Explain().Lines, one.Explain().Lines)
}

// Environment returns the variables of an expression for o.
func Environment(o *Observation) *expr.Env {
	env := &expr.Env{
		Exit:    o.Exit,
		Status:  o.Code,
		Header:  o.Header,
		Body:    o.Body,
		Stderr:  o.Stderr,
		Output:  o.Output,
		Event:   o.Event,
		Attempt: o.Attempt,
		Elapsed: o.Elapsed,
		Name:    o.Target,

		Unchanged: o.Unchanged,
	}
	switch {
	case o.Failure != nil:
		env.Error = cmp.Or(o.Failure.Class, "other")
		env.Doc = expr.Unreadable("there was no answer (" + o.Failure.Reason + ")")
	case o.Truncated:
		env.Doc = expr.Unreadable(o.Gap())
	case o.Message && o.Body == nil && o.Stderr != nil:
		env.Doc = expr.Unreadable("the line is of stderr")
	case o.Part:
		env.Doc = expr.Unreadable("the line is part of a JSON document that was cut, or is too long")
	case o.Within != nil:
		env.Doc, env.Element, env.Gone = o.Within, o.element(), o.Presence == Gone
		env.Body = o.Within.Bytes()
	default:
		env.Doc = expr.NewDoc(o.Body)
	}
	env.BodyCut, env.OutputCut = o.Truncated, o.OutputCut
	env.StderrCut, env.StderrOpen = o.StderrCut, o.StderrOpen
	if o.Kind == KindCommand {
		env.Stdout = env.Body
	}
	return env
}
