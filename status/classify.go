package status

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Validate returns an error if the rules cannot be evaluated: a condition passed to [Rules.ErrorIf] is malformed, a
// rule has no Expr or an invalid Status, a preset has no rules, or a list contains a nil expression.
func (r Rules) Validate() error {
	if slices.Contains(r.Detail, nil) {
		return errors.New("an expression for the detail is nil")
	}
	return cmp.Or(r.err, validate(r.Own), r.Preset.validate())
}

// Classify evaluates the rules on o, and returns the verdict. The first of the following that applies decides:
//
//  1. The user's rules, r.Own: first the rules for THROTTLED, then the rules for ERROR, SUCCESS and NOT_READY.
//  2. The rules of r.Preset, in the same order.
//  3. The default verdict of the response, which its [Meaning] defines.
//
// If the probe cannot work, the default verdict is ERROR. Examples are an untrusted certificate, a redirect loop,
// a program that cannot be run, or a start request whose response was lost. Only rules in r.Own that read $error
// can then decide instead, and only for a certificate or a redirect loop.
//
// The Meaning also determines which rules may decide. For the probes of package poll:
//
//   - A rule for SUCCESS or ERROR that reads the document is evaluated only on a successful response, unless it also
//     reads $status or $error, or for a command $exit, $stdout, $stderr, $body or $error. If a rule for SUCCESS in
//     r.Own reads $exit, all rules for ERROR are evaluated.
//   - A rule for NOT_READY in r.Preset is evaluated on every response, except on the output of a command that failed,
//     and on an HTTP response that rejects the request because of load.
//   - On an unsuccessful response, a rule for SUCCESS counts only if its result is affirmed (see
//     [expr.Result.Affirmed]), or if the rule reads $exit, $status or $error. For a command that has ended, only
//     $exit has this effect.
//   - No rule makes a response SUCCESS if it is a 404, a 410 or a failure after a redirect to another page, or at the
//     URL of an object that a start request has created. If a rule for SUCCESS matches, the verdict is NOT_READY.
//   - If the response does not contain the element that o is about, the verdict is NOT_READY, unless the element is
//     [Gone] and a rule that reads $gone matches.
//
// A rule whose result is unknown does not match. If there are no rules for SUCCESS, a rule for NOT_READY in r.Own
// whose result is unknown prevents SUCCESS.
//
// When ctx is done, Classify abandons rules whose evaluation takes long. If r is not valid, the verdict is ERROR.
func (r Rules) Classify(ctx context.Context, o Observation) Verdict {
	if err := r.Validate(); err != nil {
		return Verdict{Status: Error, Reason: err.Error(), Final: true}
	}
	o.Accept = r.Accept
	m := o.meaning()
	e := evaluation{env: Environment(&o), meaning: &m, admitted: r.Admits(&o), results: make([]Result, 0, len(r.Own)), detail: r.Detail}
	e.env.Context = ctx
	v, byRules := r.decide(&e, &o)
	if r.Detail != nil && v.Status != Success && !v.Abandoned {
		v.Reason = e.detailed(v.Reason, r.Detail)
	}
	if byRules && !strings.Contains(v.Reason, m.Where) {
		v.Reason += ", " + m.Where
	}
	if o.Page > 0 {
		v.Reason = fmt.Sprintf("page %d of the list: %s", o.Page, v.Reason)
	}
	if m.DeadEnd != "" && !v.Status.Ends() {
		v.Status, v.Rule, v.Hints = Error, "", m.Hints
		v.Reason += "; " + m.DeadEnd
	}
	v.ReachedSuccessRule = slices.ContainsFunc(v.Results, func(one Result) bool { return one.Rule.Status == Success })
	v.Final = v.Final || v.Status == Error && m.Once
	return v
}

// decide returns the verdict on o. byRules is true if the reason of the verdict comes from rules.
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
		v, byRules = e.unmatched(o, r)
	}
	if v.Objects = e.objects; o.Failure == nil || e.meaning.Only == nil { // otherwise the failure decides, not the rules
		v.Results = e.results
	}
	return v, byRules || o.absence() != ""
}

// unmatched returns the verdict on o if no rule matches. byRules is true if the reason of the verdict comes from
// rules.
func (e *evaluation) unmatched(o *Observation, r Rules) (v Verdict, byRules bool) {
	m, want := e.meaning, "" // want explains why the rules for SUCCESS do not match
	if m.Holds != HoldsAlways {
		want = cmp.Or(e.words, e.want())
	}
	if m.Holds == HoldsUnlessRulesSaySuccess && (r.Preset != nil || r.reads(Success)) {
		reason := cmp.Or(want, m.Reason)
		if m.Allow&AllowSuccess == 0 && m.WhyNot != "" {
			reason += ", " + m.WhyNot
		}
		return r.undecided(Verdict{Reason: reason}), want != ""
	}
	v = m.Default(r.reads(NotReady, "."))
	if !m.Certain && v.Status == Success {
		if doubt := e.doubt(o); doubt != "" {
			return r.undecided(Verdict{Reason: doubt, Hints: []Hint{{Kind: HintDone}}}), true
		}
	}
	if m.Holds == HoldsRunning && want != "" {
		v.Reason, byRules = want, true
	}
	if v.Status == None {
		v = r.undecided(v)
	}
	return v, byRules
}

// undecided returns v as the verdict on a response that decides nothing. The status is NOT_READY or, if r.Strict
// is set, ERROR with a reason that starts with "unexpected state".
func (r Rules) undecided(v Verdict) Verdict {
	if v.Status = NotReady; r.Strict {
		v.Status, v.Reason = Error, "unexpected state: "+v.Reason
	}
	return v
}

// reads reports whether r.Own contains a rule for the status s that reads at least one of the variables. Without
// variables, it reports whether r.Own contains any rule for s.
func (r Rules) reads(s Status, variables ...string) bool {
	return slices.ContainsFunc(r.Own, func(rule Rule) bool {
		return rule.Status == s && (len(variables) == 0 || rule.Expr.Reads(variables...))
	})
}

// HasSuccess reports whether r contains a rule for SUCCESS, either in Own or in the Preset.
func (r Rules) HasSuccess() bool {
	return slices.ContainsFunc(slices.Concat(r.Own, r.Preset.All()), func(rule Rule) bool { return rule.Status == Success })
}

// Admits reports whether rules for ERROR may read the document of o. They may do so if o is successful, or if one
// of the user's rules for SUCCESS reads the exit code of the command: such a rule shows that a failing exit code
// is expected.
func (r Rules) Admits(o *Observation) bool {
	return o.Good() || o.Exit != nil && r.reads(Success, "exit")
}
