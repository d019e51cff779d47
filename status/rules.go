package status

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/status/expr"
)

// A Rule is a condition on a response, and the status of the operation if a response meets the condition.
type Rule struct {
	Status Status
	Expr   *expr.Expr
	// Origin states where the rule comes from, such as "until" or "preset rds".
	Origin string
	// Preset is the name of the preset that contains the rule, or "" for a rule outside presets.
	Preset string
	// Why is the reason of the verdict if the rule matches. If it is "", the reason explains how the response
	// meets the condition.
	Why string
	// Here is true if the rule applies only to the URL that the user gave. The rule is then not evaluated on the
	// response of a followed URL, or of another page that a redirect leads to.
	Here bool
	// Detail are expressions that may find a message in the response. If the rule matches, the first of their
	// values that is a string is added to the reason of the verdict.
	Detail []*expr.Expr
}

// NewRule compiles condition into a rule for s, which must be Throttled, Error, Success or NotReady. It returns an
// error if the condition does not depend on the attempt, because the rule would then have the same result for every
// response. An error about the condition is an [*expr.Error].
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
	hint := `write a condition that reads the response, such as .state == "done", $status == 200 or $exit == 0`
	if field := quotedField().FindStringSubmatch(condition); field != nil {
		hint = "text in quotes is constant; for the field write " + field[1]
	}
	return &expr.Error{Source: condition, Column: 1, Message: condition + " is the same for every response", Hint: hint}
}

// quotedField matches a path that is in quotation marks, and is therefore a string.
var quotedField = words.Pattern(`["'](\.[A-Za-z_][\w.\[\]]*)["']`)

// ruled returns the statuses that rules can have, in order of evaluation.
func ruled() []Status { return []Status{Throttled, Error, Success, NotReady} }

// RuleName returns the name of rules for s, such as "until" for Success. It returns "" if rules cannot have the
// status s.
func (s Status) RuleName() string {
	return map[Status]string{Throttled: "throttled-if", Error: "error-if", Success: "until", NotReady: "not-ready-if"}[s]
}

// String returns the origin of the rule, followed by its condition, such as `until .state=="done"`.
func (r *Rule) String() string { return r.Origin + " " + r.Expr.String() }

// Rules determine the verdict on an observation. With the zero value, the response itself determines the verdict.
type Rules struct {
	// Own are the user's rules. They are evaluated before the rules of the Preset.
	Own []Rule
	// Preset contains the rules for the responses of an API. It may be nil.
	Preset *Preset
	// Accept lists the codes of successful responses: HTTP status codes or exit codes. Every other code is then
	// unsuccessful. For example, with [200, 429], both 204 and 503 are unsuccessful. Nil means HTTP 2xx and exit
	// code 0.
	Accept []int
	// Strict makes the verdict ERROR instead of NOT_READY on a successful response that decides nothing: no rule
	// matches, and the response itself does not show whether the operation is done.
	Strict bool
	// Detail are expressions that may find a message in the response. The first of their values that is a string,
	// a number or a boolean is added to the reason of every verdict except SUCCESS. If Detail is not nil, the
	// Detail of each rule is ignored.
	Detail []*expr.Expr

	err error // the error for a condition that was passed to ErrorIf
}

// Until returns rules that make a response SUCCESS if it meets at least one of the conditions. It returns an error
// if a condition is malformed, or if conditions is empty.
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

// MustUntil returns the rules of [Until], and panics if Until returns an error. It is meant for conditions that
// are constants.
func MustUntil(conditions ...string) Rules {
	rules, err := Until(conditions...)
	if err != nil {
		panic(err)
	}
	return rules
}

// ErrorIf returns a copy of r with additional rules: a response that meets one of the conditions is an ERROR. If a
// condition is malformed, [Rules.Validate] returns the error, so that a wait with these rules fails before its
// first attempt.
func (r Rules) ErrorIf(conditions ...string) Rules { return r.with(Error, conditions) }

// with returns a copy of r with one more rule per condition, each for the status s. The copy's err is the first
// error that occurred.
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

// validate returns an error if one of the rules cannot be evaluated.
func validate(rules []Rule) error {
	for i := range rules {
		switch rule := &rules[i]; {
		case rule.Expr == nil, rule.Expr.String() == "":
			return errors.New("a rule has no Expr")
		case !slices.Contains(ruled(), rule.Status):
			return fmt.Errorf("%q is not the status of a rule", rule.Status)
		case slices.Contains(rule.Detail, nil):
			return fmt.Errorf("the rule %s: an expression for the detail is nil", rule)
		}
	}
	return nil
}
