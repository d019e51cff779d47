package status

import (
	"fmt"
	"slices"

	"github.com/pollcli/poll/status/expr"
)

// A Tally counts how often the rules that can end a run were asked and could
// decide, so that the report of a failed wait can name a condition that never had
// a chance. The zero value is ready for use.
type Tally struct {
	rules []*ruleCount
}

type ruleCount struct {
	rule    *Rule
	met     int // attempts in which its turn came
	asked   int
	decided int
	last    expr.Result // of the last time it was asked
	hinted  bool        // nothing is left to hint at in answers to come
}

// Add counts the answers behind a verdict.
func (t *Tally) Add(v Verdict) {
	for i := range v.Answers {
		a := &v.Answers[i]
		if !a.Rule.Status.Ends() {
			continue
		}
		c := t.count(a.Rule)
		c.met++
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
// without an earlier hint. Each rule has one document searched for it.
func (t *Tally) FirstHints(kind Kind) []string {
	var hints []string
	for _, c := range t.rules {
		if c.hinted || c.rule.Preset != "" {
			continue
		}
		more := c.hints(kind)
		hints = append(hints, more...)
		c.hinted = len(more) > 0 || c.asked > 0 && c.last.Readable()
	}
	return distinct(hints)
}

// Hints returns the hints on the last answer that each rule was asked about.
func (t *Tally) Hints(kind Kind) []string {
	var hints []string
	for _, c := range t.rules {
		if c.rule.Preset == "" {
			hints = append(hints, c.hints(kind)...)
		}
	}
	return distinct(hints)
}

// hints are those on the last answer. An error is often not there to be seen, so
// that a rule for one is hinted at only where a name is nearly right.
func (c *ruleCount) hints(kind Kind) []string {
	result := c.last
	if c.asked == 0 {
		result = c.rule.Expr.Eval(noDocument(kind))
	}
	return result.Hints(c.rule.Status == Error)
}

// noDocument is what an expression sees of an answer of which only the kind is known.
func noDocument(kind Kind) *expr.Env {
	switch none := 0; kind {
	case KindCommand:
		return &expr.Env{Exit: &none}
	case KindHTTP:
		return &expr.Env{Status: &none}
	}
	return &expr.Env{}
}

func distinct(lines []string) []string {
	var list []string
	for _, line := range lines {
		if !slices.Contains(list, line) {
			list = append(list, line)
		}
	}
	return list
}

// Notes says which rules were never asked, or never decidable, and why. The rules
// of a preset are for answers of several shapes: they are noted only if none of
// them could ever decide.
func (t *Tally) Notes(kind Kind) []string {
	var notes []string
	said := map[string]bool{} // names of presets
	for _, c := range t.rules {
		switch {
		case c.rule.Preset != "" && (said[c.rule.Preset] || t.decided(c.rule.Preset)):
			continue
		case c.asked == 0:
			notes = append(notes, neverAsked(c.rule, kind))
		case c.decided == 0:
			notes = append(notes, neverDecidable(c))
		}
		said[c.rule.Preset] = true
	}
	return notes
}

// decided reports whether any rule of a preset ever was.
func (t *Tally) decided(preset string) bool {
	return slices.ContainsFunc(t.rules, func(c *ruleCount) bool {
		return c.rule.Preset == preset && c.decided > 0
	})
}

func neverAsked(rule *Rule, kind Kind) string {
	good, widen := "HTTP 2xx", "$status >= 300"
	if kind == KindCommand {
		good, widen = "exit code 0", "$exit != 0"
	}
	if kind == KindCustom {
		return fmt.Sprintf("%s was never asked: it reads the document, and every attempt failed", rule)
	}
	note := fmt.Sprintf("%s was never asked: it reads the document, and no answer was good (%s)", rule, good)
	if rule.Status == Error {
		note += fmt.Sprintf("; add `|| %s` to let such an answer end the wait", widen)
	}
	return note
}

func neverDecidable(c *ruleCount) string {
	why := "its value was unknown"
	if lines := c.last.Explain(1); len(lines) > 0 {
		why = lines[0]
	}
	return fmt.Sprintf("%s was never decidable: %s", c.rule, why)
}
