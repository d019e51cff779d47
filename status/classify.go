package status

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Validate returns an error if the rules cannot be evaluated: a wrong condition of [Rules.ErrorIf], a rule
// without an Expr or with a Status that has no rules, a preset without rules, or a nil expression.
func (r Rules) Validate() error {
	if slices.Contains(r.Detail, nil) {
		return errors.New("an expression for the detail is nil")
	}
	return cmp.Or(r.err, validate(r.Own), r.Preset.validate())
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
		v, byRules = e.unmatched(o, r)
	}
	if v.Objects = e.objects; o.Failure == nil || e.meaning.Only == nil { // otherwise the failure decides, and not the rules
		v.Results = e.results
	}
	return v, byRules || o.absence() != ""
}

// unmatched returns the verdict if no rule matches, and whether rules give its reason.
func (e *evaluation) unmatched(o *Observation, r Rules) (v Verdict, byRules bool) {
	m, want := e.meaning, "" // the reason why the rules for SUCCESS do not match
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
			return r.undecided(Verdict{Reason: doubt, Advice: Advice{Code: AdviceDone}}), true
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

// undecided returns the verdict on a response that the rules should have decided but did not.
func (r Rules) undecided(v Verdict) Verdict {
	if v.Status = NotReady; r.Strict {
		v.Status, v.Reason = Error, "unexpected state: "+v.Reason
	}
	return v
}

// reads reports whether r.Own has a rule for s that reads one of the variables. Without variables it reports
// whether r.Own has a rule for s.
func (r Rules) reads(s Status, variables ...string) bool {
	return slices.ContainsFunc(r.Own, func(rule Rule) bool {
		return rule.Status == s && (len(variables) == 0 || rule.Expr.Reads(variables...))
	})
}

// HasSuccess reports whether there may be a rule for SUCCESS.
func (r Rules) HasSuccess() bool {
	return slices.ContainsFunc(slices.Concat(r.Own, r.Preset.All()), func(rule Rule) bool { return rule.Status == Success })
}

// Admits reports whether rules for ERROR may read the document: the response is successful, or a rule of the user for
// SUCCESS names the exit code of the command.
func (r Rules) Admits(o *Observation) bool {
	return o.Good() || o.Exit != nil && r.reads(Success, "exit")
}
