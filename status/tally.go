package status

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/detail"
	"github.com/pollcli/poll/status/expr"
)

// A Tally counts whether the rules that can end a run were ever asked and could decide, so
// that a failed run can report a condition that never had a chance. The zero value is ready
// for use.
type Tally struct {
	counts []ruleCount
	hints  []string
	told   int // how many of the hints were taken
}

type ruleCount struct {
	rule           *Rule
	asked, decided bool
	why            string // why it last could not decide
	said           string // all lines of its last explanation
	exit           int    // that came with the last answer it was not asked about, 0 for none
}

// Add counts the results of the rules behind the verdict on o, and drops them from it. An
// answer that only leads elsewhere, one that asks for a wait, and an element that is not
// there are not counted: the rules are not meant for them.
func (t *Tally) Add(o *Observation, v *Verdict) {
	answers := v.answers
	v.answers = nil
	leads := o.Following.Start && o.Following.Next != "" && v.Status == NotReady
	if leads || v.Status == Throttled || o.Presence != detail.Present {
		return
	}
	for _, a := range answers {
		if a.rule.Status.Ends() {
			t.add(o, a)
		}
	}
}

// add records one answer, and its hints unless the rule could decide before. For a rule that
// was not asked, the hints come from it alone.
func (t *Tally) add(o *Observation, a answer) {
	at := slices.IndexFunc(t.counts, func(c ruleCount) bool { return c.rule == a.rule })
	if at < 0 {
		at = len(t.counts)
		t.counts = append(t.counts, ruleCount{rule: a.rule})
	}
	c, known := &t.counts[at], t.counts[at].decided || a.result.Matched()
	c.asked = c.asked || a.asked
	c.decided = c.decided || a.asked && (a.none || a.result.Tri != expr.Unknown || a.result.Missing())
	if known && (a.rule.Status != Success || a.result.Tri != expr.False || o.Unchanged > 0) {
		return
	}
	why := a.result.Explain()
	before := c.said
	if c.said = strings.Join(why.Lines, "\n"); known && c.said == before { // of which the hints are known, and took long
		return
	}
	if a.asked {
		c.why = why.Lines[0]
	} else {
		if o.Exit != nil && len(o.Body) > 0 {
			c.exit = *o.Exit
		}
		why = a.rule.Expr.Eval(&expr.Env{Exit: o.Exit, Status: o.Code}).Explain()
	}
	hints, others := why.Hints()
	if a.rule.Status == Success { // what an error is read from is usually absent
		hints = slices.Concat(hints, others)
	}
	for _, hint := range hints {
		if a.rule.Status != Success { // or it is taken for one on what is waited for
			hint = a.rule.Origin + ": " + hint
		}
		if (a.rule.Preset == "" || a.none) && !slices.Contains(t.hints, hint) {
			t.hints = append(t.hints, hint)
		}
	}
}

// FirstHints returns the hints that are new since it was called before.
func (t *Tally) FirstHints() (hints []string) {
	hints, t.told = t.hints[t.told:], len(t.hints)
	return slices.Clone(hints)
}

// Hints returns all hints.
func (t *Tally) Hints() []string { return slices.Clone(t.hints) }

// Notes says which rules were never tested, or always unknown, and why. The rules
// of a preset are for answers of several shapes, so they are noted only if none of
// them could ever decide.
func (t *Tally) Notes(kind Kind) (notes []string) {
	done := map[string]bool{} // presets of which a rule was decided or noted
	for _, c := range t.counts {
		done[c.rule.Preset] = done[c.rule.Preset] || c.decided
	}
	for _, c := range t.counts {
		switch preset := c.rule.Preset; {
		case preset != "" && done[preset]:
			continue
		case !c.asked:
			notes = append(notes, neverAsked(c, kind))
		case !c.decided:
			notes = append(notes, c.rule.String()+" was always unknown: "+c.why)
		}
		done[c.rule.Preset] = true
	}
	return notes
}

func neverAsked(c ruleCount, kind Kind) string {
	words := map[Kind][2]string{
		KindCustom:  {"every attempt failed"},
		KindTCP:     {"every attempt failed"},
		KindCommand: {"the command never exited with 0"},
		KindHTTP:    {"no answer was HTTP 2xx", "; add `|| $status >= 300` to let such an answer end the wait"},
	}[kind]
	switch {
	case c.rule.Preset != "": // nobody adds to that
		words[1] = ""
	case c.exit != 0:
		words[1] = fmt.Sprintf("; add `and $exit in [0, %d]` to let that of exit code %[1]d count", c.exit)
	case c.rule.Status != Error:
		words[1] = ""
	}
	return c.rule.String() + " was never tested, because " + words[0] + words[1]
}
