package status

import (
	"slices"

	"github.com/pollcli/poll/status/expr"
)

// A Tally records whether the rules that can end a run were ever asked and could decide,
// so that a failed run can report a condition that never had a chance. The zero value is
// ready for use.
type Tally struct {
	rules []*ruleCount
}

type ruleCount struct {
	rule    *Rule
	asked   bool
	decided bool
	hinted  bool        // later answers need not be searched for hints
	last    expr.Result // of the last time it was asked

	forgotten bool     // last was dropped; what is known of it is:
	why       string   // why the rule was not decided
	said      []string // the hints on the first answer that had any
}

// Forget drops the answers that the rules were asked about last. What the notes and the
// hints say from now on is what [Tally.FirstHints] has found, and why a rule that was
// never decided was not.
func (t *Tally) Forget() {
	for _, c := range t.rules {
		if c.asked && !c.decided && c.why == "" {
			c.why = c.explained()
		}
		c.forgotten, c.last = c.asked, expr.Result{}
	}
}

// explained says why the rule was not decided when it was asked last.
func (c *ruleCount) explained() string {
	if c.forgotten {
		return c.why
	}
	return append(c.last.Explain(1), "its value was unknown")[0]
}

// Add records the answers behind a verdict.
func (t *Tally) Add(v Verdict) {
	for i := range v.Answers {
		a := &v.Answers[i]
		if !a.Rule.Status.Ends() {
			continue
		}
		at := slices.IndexFunc(t.rules, func(c *ruleCount) bool { return c.rule == a.Rule })
		if at < 0 {
			at = len(t.rules)
			t.rules = append(t.rules, &ruleCount{rule: a.Rule})
		}
		if c := t.rules[at]; a.Asked {
			c.asked, c.last, c.forgotten = true, a.Result, false
			c.decided = c.decided || a.Result.Tri != expr.Unknown
		}
	}
}

// FirstHints returns the hints on the answers that were added last, for the rules
// without an earlier hint. It searches one document for each rule.
func (t *Tally) FirstHints(kind Kind) []string {
	return t.hints(kind, true)
}

// Hints returns the hints on the last answer that each rule was asked about.
func (t *Tally) Hints(kind Kind) []string {
	return t.hints(kind, false)
}

// hints returns the hints for all rules but those of a preset.
func (t *Tally) hints(kind Kind, onlyFirst bool) []string {
	var hints []string
	for _, c := range t.rules {
		if c.rule.Preset != "" || onlyFirst && c.hinted {
			continue
		}
		more := c.hints(kind)
		if onlyFirst {
			c.said = more
		}
		c.hinted = c.hinted || len(more) > 0 || c.asked && c.last.Readable()
		for _, hint := range more {
			if !slices.Contains(hints, hint) {
				hints = append(hints, hint)
			}
		}
	}
	return hints
}

// hints returns the hints on the last answer or, if there was none, on the expression
// alone. Members that tell of errors are often absent, so a rule for ERROR gets a hint
// only if a name is nearly right.
func (c *ruleCount) hints(kind Kind) []string {
	if c.forgotten {
		return c.said
	}
	result := c.last
	if !c.asked {
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
	done := map[string]bool{} // presets of which a rule was decided or noted
	for _, c := range t.rules {
		done[c.rule.Preset] = done[c.rule.Preset] || c.decided
	}
	for _, c := range t.rules {
		switch preset := c.rule.Preset; {
		case preset != "" && done[preset]:
			continue
		case !c.asked:
			notes = append(notes, neverAsked(c.rule, kind))
		case !c.decided:
			notes = append(notes, c.rule.String()+" was never decidable: "+c.explained())
		}
		done[c.rule.Preset] = true
	}
	return notes
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
