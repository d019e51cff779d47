package status

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/status/expr"
)

// A Result is the result of evaluating one rule on one observation.
type Result struct {
	expr.Result
	Rule *Rule
	// Env holds the variables that the rule could read.
	Env *expr.Env
	// Evaluated is false if the rule was not allowed to decide about the response. The expr.Result is then the
	// zero value.
	Evaluated bool
	// NoObject is true if the rule belongs to a preset for objects, and the response contains no object.
	NoObject bool
}

// An evaluation holds the state of evaluating rules on one observation, or on one object in its response.
type evaluation struct {
	env      *expr.Env
	meaning  *Meaning
	admitted bool // whether rules for ERROR may read the document; see Rules.Admits
	results  []Result

	none    bool     // the response contains no object
	words   string   // why no rule of the preset matched
	objects []Object // the preset's verdicts on the objects

	detail []*expr.Expr // if not nil, replaces Rule.Detail
}

// detailed returns reason, followed by the message that the expressions in detail select from the response. If the
// expressions select no message, or if reason already contains the message, detailed returns reason unchanged.
func (e *evaluation) detailed(reason string, detail []*expr.Expr) string {
	var types []string
	if e.detail != nil { // the user has chosen the value
		types = []string{"number", "boolean"}
	}
	if words := firstText(detail, e.env, types...); words != "" && !strings.Contains(reason, words) {
		return strings.TrimPrefix(reason+": "+words, ": ")
	}
	return reason
}

// firstMatch evaluates rules by status, in the order of ruled, until a rule matches. It returns the verdict of that
// rule, and true. If no rule matches, it returns false. A match of a rule for SUCCESS does not count if the response
// contains no object. If the evaluation of a rule is abandoned, firstMatch returns a NOT_READY verdict with
// Abandoned set, and true.
func (e *evaluation) firstMatch(o *Observation, rules []Rule) (Verdict, bool) {
	for _, status := range ruled() {
		for i := range rules {
			if rules[i].Status != status || e.meaning.excludes(&rules[i]) || o.Ended && !e.meaning.reads(&rules[i]) {
				continue
			}
			switch one := e.evaluate(&rules[i]); {
			case one.Matched() && status == Success && e.none: // the rule matches without reading an object
			case one.Matched():
				v := e.matched(o, one)
				if status == Error {
					v.Hints = e.alsoDone(rules)
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

// alsoDone returns a note for a response with the verdict ERROR. The note names the first of the user's conditions
// for SUCCESS in rules that is also true. The result is nil if there is no such condition.
func (e *evaluation) alsoDone(rules []Rule) []Hint {
	i := slices.IndexFunc(rules, func(rule Rule) bool {
		return rule.Status == Success && rule.Preset == "" && rule.Expr.Eval(e.env).Matched()
	})
	if i < 0 {
		return nil
	}
	return Notes(rules[i].String() + " is true, too, but conditions for ERROR come first")
}

// evaluate evaluates rule if it may decide about the response. It appends the result to e.results, and returns it.
func (e *evaluation) evaluate(rule *Rule) Result {
	x, m := rule.Expr, e.meaning
	one := Result{Rule: rule, Env: e.env, NoObject: e.none}
	one.Evaluated = m.reads(rule) && m.counts(rule, e.admitted)
	if one.Evaluated {
		one.Result = x.Eval(one.Env)
	}
	isUnsuccessful := m.Allow&AllowRead == 0 && !m.isNamed(x)
	if rule.Status == Success && isUnsuccessful && one.Matched() && !one.Affirmed() {
		one.Evaluated, one.Result = false, expr.Result{} // for example, $stdout != "old" after ssh failed to connect
	}
	e.results = append(e.results, one)
	return one
}

// matched returns the verdict of a matching rule. The parameter one is the result of the rule.
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

// firstText evaluates values, and returns the first result that is a string or has one of the types, as a single
// line. It skips blank results. Like words.Excerpt, it drops the prefix of a log line and shortens long results. It
// returns "" if there is no such result.
func firstText(values []*expr.Expr, env *expr.Env, types ...string) string {
	for _, x := range values {
		if v := x.Eval(env).Value(); v.Type == "string" || slices.Contains(types, v.Type) {
			if fields := strings.Fields(v.Text()); len(fields) > 0 {
				return words.Excerpt([]byte(strings.Join(fields, " ")))
			}
		}
	}
	return ""
}

// want explains why the rules for SUCCESS did not match. It returns "" if no such rule was evaluated.
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

// doubt explains why a rule for NOT_READY perhaps should have matched: its result is unknown, or it seems to
// misspell the name of a field. doubt ignores excused rules (see isExcused). It returns "" if there is no such rule.
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

// isExcused reports whether a rule for NOT_READY seems to be meant for unsuccessful responses: it reads only errors,
// or it has matched only unsuccessful responses. A successful response that lacks all the fields of such a rule
// gives no reason for doubt. isExcused returns false if the response has one of these fields.
func (one Result) isExcused(o *Observation) bool {
	onlyErrors := one.Rule.Expr.Reads("error", "error members") &&
		!one.Rule.Expr.Reads("other members", "isjson", "unchanged", "body", "header", "stdout", "stderr")
	wasGood, isKnown := o.Matched[one.Rule.String()]
	return (onlyErrors || isKnown && !wasGood) && one.hasNoField()
}

// hasNoField reports whether the response has none of the fields that the rule reads. To find out, it compares the
// explanation of the result with the explanation for an empty object.
func (one Result) hasNoField() bool {
	empty := *one.Env
	empty.Doc = expr.NewDoc([]byte("{}"))
	return slices.Equal(one.Rule.Expr.Eval(&empty).Explain().Lines, one.Explain().Lines)
}
