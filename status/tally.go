package status

import (
	"slices"

	"github.com/pollcli/poll/status/expr"
)

// A Tally counts how often the rules that can end a run were asked and could
// decide, so that the report of a failed run can name a condition that never had a
// chance. The zero value is ready for use.
type Tally struct {
	rules []*ruleCount
}

type ruleCount struct {
	rule    *Rule
	asked   int
	decided int
	last    expr.Result // of the last time it was asked
	hinted  bool        // answers to come need not be searched for hints
}

// Add counts the answers behind a verdict.
func (t *Tally) Add(v Verdict) {
	for i := range v.Answers {
		a := &v.Answers[i]
		if !a.Rule.Status.Ends() {
			continue
		}
		c := t.count(a.Rule)
		if !a.Asked {
			continue
		}
		c.asked++
		c.last = a.Result
		if a.Result.Tri != expr.Unknown {
			c.decided++
		}
	}
}

func (t *Tally) count(rule *Rule) *ruleCount {
	for _, c := range t.rules {
		if c.rule == rule {
			return c
		}
	}
	c := &ruleCount{rule: rule}
	t.rules = append(t.rules, c)
	return c
}

// FirstHints returns the hints on the answers that were added last, for the rules
// without an earlier hint. It searches one document for each rule.
func (t *Tally) FirstHints(kind Kind) []string {
	return t.hints(kind, func(c *ruleCount) bool { return !c.hinted })
}

// Hints returns the hints on the last answer that each rule was asked about.
func (t *Tally) Hints(kind Kind) []string {
	return t.hints(kind, func(*ruleCount) bool { return true })
}

// hints returns the hints for the chosen rules. Those of a preset get none.
func (t *Tally) hints(kind Kind, chosen func(*ruleCount) bool) []string {
	var hints []string
	for _, c := range t.rules {
		if c.rule.Preset != "" || !chosen(c) {
			continue
		}
		more := c.hints(kind)
		c.hinted = c.hinted || len(more) > 0 || c.asked > 0 && c.last.Readable()
		for _, hint := range more {
			if !slices.Contains(hints, hint) {
				hints = append(hints, hint)
			}
		}
	}
	return hints
}

// hints returns those on the last answer, or, if there was none, on the expression
// alone. What an error is read from is often absent, so a rule for one gets a hint
// only if a name is nearly right.
func (c *ruleCount) hints(kind Kind) []string {
	result := c.last
	if c.asked == 0 {
		var env expr.Env
		switch kind {
		case KindCommand:
			env.Exit = new(int)
		case KindHTTP:
			env.Status = new(int)
		}
		result = c.rule.Expr.Eval(&env)
	}
	return result.Hints(c.rule.Status == Error)
}

// Notes says which rules were never asked, or never decidable, and why. The rules
// of a preset are for answers of several shapes, so they are noted only if none of
// them could ever decide.
func (t *Tally) Notes(kind Kind) []string {
	var notes []string
	noted := map[string]bool{} // names of presets
	for _, c := range t.rules {
		switch preset := c.rule.Preset; {
		case preset != "" && (noted[preset] || t.decided(preset)):
			continue
		case c.asked == 0:
			notes = append(notes, neverAsked(c.rule, kind))
		case c.decided == 0:
			notes = append(notes, neverDecidable(c))
		}
		noted[c.rule.Preset] = true
	}
	return notes
}

// decided reports whether any rule of a preset ever was decided.
func (t *Tally) decided(preset string) bool {
	return slices.ContainsFunc(t.rules, func(c *ruleCount) bool {
		return c.rule.Preset == preset && c.decided > 0
	})
}

func neverAsked(rule *Rule, kind Kind) string {
	note := rule.String() + " was never asked: it reads the document, and "
	good, widen := "HTTP 2xx", "$status >= 300"
	switch kind {
	case KindCustom:
		return note + "every attempt failed"
	case KindCommand:
		good, widen = "exit code 0", "$exit != 0"
	}
	note += "no answer was good (" + good + ")"
	if rule.Status == Error {
		note += "; add `|| " + widen + "` to let such an answer end the wait"
	}
	return note
}

func neverDecidable(c *ruleCount) string {
	why := "its value was unknown"
	if lines := c.last.Explain(1); len(lines) > 0 {
		why = lines[0]
	}
	return c.rule.String() + " was never decidable: " + why
}
