package status

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/status/expr"
)

// A Result is the result of one rule for one observation.
type Result struct {
	expr.Result
	Rule *Rule
	// Env has the variables of the rule.
	Env *expr.Env
	// Evaluated is false if the rule must not decide about the response. Result is then empty.
	Evaluated bool
	// NoObject is true if the response has no object that the rule could be about.
	NoObject bool
}

// An evaluation evaluates rules on one observation.
type evaluation struct {
	env      *expr.Env
	meaning  *Meaning
	admitted bool // rules for ERROR may read the document
	results  []Result

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
			switch one := e.evaluate(&rules[i]); {
			case one.Matched() && status == Success && e.none: // the rule reads nothing of an object
			case one.Matched():
				v := e.matched(o, one)
				if status == Error {
					v.Notes = append(v.Notes, e.alsoDone(rules)...)
				}
				return v, true
			case one.Abandoned():
				reason := one.Rule.String() + ": " + one.Value().Reason
				return Verdict{Status: NotReady, Reason: reason, Abandoned: true, Results: e.results}, true
			}
		}
	}
	return Verdict{}, false
}

// alsoDone returns a note that names the first condition of the user for SUCCESS that matches a response with an ERROR.
func (e *evaluation) alsoDone(rules []Rule) []string {
	i := slices.IndexFunc(rules, func(rule Rule) bool {
		return rule.Status == Success && rule.Preset == "" && rule.Expr.Eval(e.env).Matched()
	})
	if i < 0 {
		return nil
	}
	return []string{rules[i].String() + " is true as well, and conditions for ERROR come first"}
}

// evaluate adds the result of a rule.
func (e *evaluation) evaluate(rule *Rule) Result {
	x, m := rule.Expr, e.meaning
	one := Result{Rule: rule, Env: e.env, NoObject: e.none}
	one.Evaluated = m.reads(rule) && m.counts(rule, e.admitted)
	if one.Evaluated {
		one.Result = x.Eval(one.Env)
	}
	isUnsuccessful := m.Allow&AllowRead == 0 && !m.isNamed(x)
	if rule.Status == Success && isUnsuccessful && one.Matched() && !one.Affirmed() {
		one.Evaluated, one.Result = false, expr.Result{} // such as $stdout != "old" after ssh failed to connect
	}
	e.results = append(e.results, one)
	return one
}

// matched returns the verdict by a rule that matches.
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
	return (onlyErrors || isKnown && !wasGood) && one.hasNoField()
}

// hasNoField reports whether the document is an object without the fields that the rule reads. The rule
// then has the same result for an empty object.
func (one Result) hasNoField() bool {
	empty := *one.Env
	empty.Doc = expr.NewDoc([]byte("{}"))
	return slices.Equal(one.Rule.Expr.Eval(&empty).Explain().Lines, one.Explain().Lines)
}
