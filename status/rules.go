package status

import (
	"context"
	"slices"
	"strings"

	"github.com/pollcli/poll/status/expr"
)

// A Rule is a condition and the status that it stands for.
type Rule struct {
	Status Status
	Expr   *expr.Expr
	// Origin names the source of the rule in words: "until", "preset rds".
	Origin string
	// Preset is the name of the preset that the rule is part of, "" for none.
	Preset string
	// Why is the reason where the rule matches; "" for one made from the expression.
	Why string
	// Detail are expressions for the answer's own account. Where the rule matches,
	// the first whose value is a text is added to the reason.
	Detail []*expr.Expr
}

// NewRule compiles a condition into a rule for s. The error is an [*expr.Error].
func NewRule(s Status, condition string) (Rule, error) {
	e, err := expr.Compile(condition)
	if err != nil {
		return Rule{}, err
	}
	return Rule{Status: s, Expr: e, Origin: s.RuleName()}, nil
}

// A RuleKind is a kind of rule and its name.
type RuleKind struct {
	Name   string // "until"
	Status Status // what a rule of this kind stands for
}

// RuleKinds returns the kinds of rules, in the order in which they are asked.
func RuleKinds() []RuleKind {
	return []RuleKind{
		{"throttled-if", Throttled},
		{"error-if", Error},
		{"until", Success},
		{"not-ready-if", NotReady},
	}
}

// RuleName returns the name of the rules for s: "until" for Success, "" for None.
func (s Status) RuleName() string {
	for _, kind := range RuleKinds() {
		if kind.Status == s {
			return kind.Name
		}
	}
	return ""
}

// String returns the rule as words name it: `until .state=="done"`.
func (r *Rule) String() string { return r.Origin + " " + r.Expr.String() }

// Rules map an observation onto a verdict. The zero value has no rule and judges
// by status codes and exit codes alone.
type Rules struct {
	// Own are the user's rules, asked before all others.
	Own []Rule
	// Preset are the rules of a preset, asked after Own.
	Preset []Rule
	// Strict makes a good answer that no rule matches an ERROR.
	Strict bool
}

// Classify decides what o means. The first that holds decides:
//
//  0. The probe cannot work (certificate not trusted, redirect loop, program
//     that cannot be run, a start whose answer was lost): ERROR.
//  1. Own, in the order throttled-if, error-if, until, not-ready-if.
//  2. Preset, in the same order; then the rules of the Azure status document,
//     where one is followed.
//  3. What the answer says of itself: see the table in the package's
//     documentation.
//
// A rule for SUCCESS or ERROR that reads the document is asked only about a good
// answer, unless it names $status, $exit, $stdout, $stderr, $body or
// $header. A result that is unknown never matches.
//
// Once ctx is done, rules that take long are abandoned.
func (r Rules) Classify(ctx context.Context, o Observation) Verdict {
	v := r.decide(ctx, &o)
	if o.stuck() && !v.Status.Ends() {
		v.Status, v.Rule = Error, ""
		v.Reason += "; the start is sent once, and its answer names nothing to follow"
		v.Advice.Code = AdviceFollow
	}
	// A start is sent once: what is wrong with it stays so.
	v.Final = v.Final || v.Status == Error && o.Following.Start
	return v
}

func (r Rules) decide(ctx context.Context, o *Observation) Verdict {
	if v, ok := hopeless(o); ok {
		return v
	}
	asking := interview{ctx: ctx, observation: o, good: o.Good()}
	if v, ok := asking.block(r.Own); ok {
		return v
	}
	if v, ok := asking.block(r.Preset); ok {
		return v
	}
	want := asking.wants()
	v, ok := asking.aside(monitorRules(o.Following.Monitor))
	switch {
	case !ok:
		v = r.unmatched(o, want)
		v.Answers = asking.answers
	case v.Status == Success && namesError(asking.env):
		v.Status, v.Rule, v.Reason = Error, "", withDetail(o.Statement()+" with an error", asking.env)
	case v.Status == NotReady && want != "":
		v.Rule, v.Reason = "", want
	}
	return v
}

// An Answer is what one rule said about one observation.
type Answer struct {
	Rule *Rule
	// Asked is false if the rule is only asked about good answers and this was
	// none. Result is then empty.
	Asked  bool
	Result expr.Result
}

// An interview asks rules about one observation.
type interview struct {
	ctx         context.Context
	observation *Observation
	good        bool
	env         *expr.Env // made when the first rule is asked
	answers     []Answer
}

// block asks rules in the order of their kinds until one matches.
func (q *interview) block(rules []Rule) (Verdict, bool) {
	for _, kind := range RuleKinds() {
		for i := range rules {
			rule := &rules[i]
			if rule.Status != kind.Status {
				continue
			}
			switch a := q.ask(rule); {
			case a.Result.Matched():
				return q.matched(a), true
			case a.Result.Abandoned():
				return q.abandoned(a), true
			}
		}
	}
	return Verdict{}, false
}

// aside asks rules that nobody has given. What they say is not told where they
// do not decide: they are for documents of another kind then.
func (q *interview) aside(rules []Rule) (Verdict, bool) {
	own := q.answers
	v, ok := q.block(rules)
	if !ok {
		q.answers = own
	}
	return v, ok
}

func (q *interview) ask(rule *Rule) Answer {
	a := Answer{Rule: rule, Asked: q.good || askedOfEveryAnswer(rule)}
	if a.Asked {
		if q.env == nil {
			q.env = Environment(q.observation)
			q.env.Context = q.ctx
		}
		a.Result = rule.Expr.Eval(q.env)
	}
	q.answers = append(q.answers, a)
	return a
}

// askedOfEveryAnswer reports whether the rule is asked of answers that are not
// good, too.
func askedOfEveryAnswer(rule *Rule) bool {
	u := rule.Expr.Uses()
	readsDocument := u.JSON || u.IsJSON
	return !rule.Status.Ends() || !readsDocument || u.Answer()
}

func (q *interview) matched(a Answer) Verdict {
	reason := a.Rule.Why
	if reason == "" {
		reason = strings.Join(a.Result.Explain(2), "; ")
	}
	if detail := q.detail(a.Rule); detail != "" {
		reason = strings.TrimPrefix(reason+": "+detail, ": ")
	}
	return Verdict{
		Status:  a.Rule.Status,
		Rule:    a.Rule.String(),
		Reason:  reason,
		Notes:   a.Result.Notes(),
		Answers: q.answers,
	}
}

func (q *interview) abandoned(a Answer) Verdict {
	reason := a.Rule.String() + ": " + a.Result.Value().Reason
	return Verdict{Status: NotReady, Reason: reason, Abandoned: true, Answers: q.answers}
}

// detail returns what the answer says of a rule that matched, "" for nothing.
func (q *interview) detail(rule *Rule) string {
	return firstText(rule.Detail, q.env)
}

// firstText returns the first of the values that is a text, "" for none.
func firstText(values []*expr.Expr, env *expr.Env) string {
	for _, x := range values {
		if v := x.Eval(env).Value(); v.Kind == expr.KindString {
			if words := strings.Fields(v.Text()); len(words) > 0 {
				return cut([]byte(strings.Join(words, " ")))
			}
		}
	}
	return ""
}

// wants says in words why the rules for SUCCESS that were asked did not match;
// "" if none was.
func (q *interview) wants() string {
	var words []string
	for _, a := range q.answers {
		if a.Asked && a.Rule.Status == Success {
			words = append(words, a.Result.Explain(1)...)
		}
	}
	slices.Sort(words)
	words = slices.Compact(words)
	return strings.Join(words[:min(2, len(words))], "; ")
}

// Environment returns what an expression can see of o.
func Environment(o *Observation) *expr.Env {
	env := &expr.Env{
		Doc:        document(o),
		Exit:       o.Exit,
		Status:     o.Code,
		Header:     o.Header,
		Body:       o.Body,
		Stderr:     o.Stderr,
		Unanswered: o.Failure != nil,
		Attempt:    o.Attempt,
		Elapsed:    o.Elapsed,
	}
	if o.Kind == KindCommand {
		env.Stdout = o.Body
	}
	return env
}

// document is the answer as JSON.
func document(o *Observation) *expr.Doc {
	switch {
	case o.Failure != nil:
		return expr.Unreadable("there was no answer (" + o.Failure.Reason + ")")
	case o.Truncated:
		return expr.Unreadable("the answer is longer than what is kept of it")
	}
	return expr.NewDoc(o.Body)
}

// monitorRules are the rules that come with what is followed.
func monitorRules(m Monitor) []Rule {
	if m != MonitorAzure {
		return nil
	}
	return azureRules()
}
