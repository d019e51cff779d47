package status

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

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
