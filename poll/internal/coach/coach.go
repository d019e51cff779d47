// Package coach makes the hints and notes of a wait, after an attempt. It reads the results of the rules and the
// observation. It never changes the status of a verdict.
package coach

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A Coach counts for each rule that can end the wait whether the rule was evaluated and could decide. It also
// collects the hints about the last response. The zero value is ready for use.
type Coach struct {
	counts []ruleCount

	hints     []string // about the last response, or about the elements of the last list
	passed    []string // hints about messages of a stream: they remain
	told      []string // the hints that FirstHints has returned
	explained int      // number of results that hints are made of
	isOver    bool     // the next call of Add begins another response
	wasGood   bool     // the last response was successful
	hasPages  bool     // a list has further pages that were not read
	hasAccept bool     // the wait has a list of accepted codes
}

// A ruleCount records whether a rule was ever evaluated and decided, and why the rule did not match the last response.
type ruleCount struct {
	rule           *status.Rule
	asked, decided bool
	why            string // reason why the rule did not match the last response
	accept         string // value of --accept that would let the rule evaluate the last response, or ""
}

const (
	maxExplained = 100 // results of a list that hints are made of, since a hint takes long
	maxTold      = 10  // hints before the end of a wait: a document may have other members each time
)

// Add adds notes to the verdict v on o, counts the results of v, collects the hints about o, and removes the
// results from v. The new hints replace the hints about the previous response. Rules are not meant for a
// response that only leads to another URL, or for an element that is missing from its list: Add ignores their
// results.
func (t *Coach) Add(o *status.Observation, v *status.Verdict) {
	notes(o, v)
	results := v.Results
	v.Results, t.hasAccept = nil, o.Accept != nil
	leads := o.Start && o.Next != "" && v.Status == status.NotReady
	if leads || o.Presence != status.Present {
		return
	}
	isSame := t.counts != nil && o.Unchanged > 0 && o.Within == nil && o.Good() == t.wasGood
	if t.isOver && !isSame {
		t.hints, t.explained = slices.Clone(t.passed), 0
	}
	t.isOver, t.wasGood, t.hasPages = false, o.Good(), t.hasPages || o.Failure != nil && o.Page > 0
	if phrase := meaning.Denied(o.Stderr); phrase != nil && !o.Good() && !isSame {
		t.hints = append(t.hints, hintOf("denied", phrase))
	}
	if o.Advice.Code == status.AdviceOffered && !isSame {
		t.hints = append(t.hints, "each attempt may start another operation: "+o.Advice.Text+" is the URL of this one")
	}
	for _, a := range results {
		if !a.Rule.Status.Ends() {
			continue
		}
		c := t.count(a)
		isForOthers := a.Rule.Preset != "" && c.decided && !a.NoObject // a preset reads members that only some documents have
		if isSame || isForOthers || a.Matched() || t.explained > maxExplained {
			continue
		}
		t.explained++
		t.explain(o, a, c)
	}
}

// count records the result of one rule.
func (t *Coach) count(a status.Result) *ruleCount {
	at := slices.IndexFunc(t.counts, func(c ruleCount) bool { return c.rule == a.Rule })
	if at < 0 {
		at = len(t.counts)
		t.counts = append(t.counts, ruleCount{rule: a.Rule})
	}
	c := &t.counts[at]
	c.asked = c.asked || a.Evaluated
	c.decided = c.decided || a.Evaluated && (a.NoObject || a.Tri != expr.Unknown || a.Missing())
	return c
}

// explain adds the hints about a rule that does not match a response. If the rule was not evaluated, the hints
// come from the rule alone.
func (t *Coach) explain(o *status.Observation, a status.Result, c *ruleCount) {
	why := a.Explain()
	missing := cmp.Or(missed(a, o), acceptHint(a, o))
	if a.Evaluated {
		c.why = why.Lines[0]
	} else {
		if c.accept = acceptToo(o); missing != "" { // the hint contains it
			c.accept = ""
		}
		why = a.Rule.Expr.Eval(&expr.Env{Exit: o.Exit, Status: o.Code}).Explain()
	}
	hints, others := why.Hints()
	if a.Rule.Status == status.Success { // an error is usually absent
		hints = slices.Concat(hints, others)
	}
	if missing != "" {
		hints = []string{missing}
	} else if len(hints) == 0 && a.Evaluated && a.Rule.Status == status.Success && a.Rule.Expr.Reads(".") {
		hints = t.failureHints(o)
	}
	for _, hint := range hints {
		if a.Rule.Status != status.Success { // without the origin, the hint would seem to be about --until
			hint = a.Rule.Origin + ": " + hint
		}
		if (a.Rule.Preset == "" || a.NoObject) && !slices.Contains(t.hints, hint) {
			t.hints = append(t.hints, hint)
			if o.Message && missing != "" {
				t.passed = append(t.passed, hint)
			}
		}
	}
}

// failureHints returns a hint about an error in a successful response, which no rule reads. It returns nil if
// the response reports a running operation. It also returns nil for an element of a list, since reading
// thousands of elements takes longer than evaluating the rules.
func (t *Coach) failureHints(o *status.Observation) []string {
	if o.Within != nil {
		return nil
	}
	said := meaning.Reported(o)
	path, isFlag := said.Wrong.Path, said.Wrong.Raw == "true" || said.Wrong.Raw == "false"
	isRead := func(c ruleCount) bool { return strings.Contains(c.rule.Expr.String(), path) }
	goesOn := said.State.Stage == meaning.Open || said.Sign.Path != ""
	if !o.Good() || path == "" || isFlag || goesOn || slices.ContainsFunc(t.counts, isRead) {
		return nil
	}
	return []string{hintOf("error", path)}
}

// acceptToo returns the value of --accept that would make a failed command with output successful. It returns
// "" if the response is successful or incomplete.
func acceptToo(o *status.Observation) string {
	if o.Exit == nil || o.Failure != nil || o.Good() || o.Signal != "" || len(o.Body) == 0 {
		return ""
	}
	codes := append(slices.Clone(o.Accept), *o.Exit)
	if o.Accept == nil {
		codes = []int{0, *o.Exit}
	}
	slices.Sort(codes)
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(codes), " ", ","), "[]")
}

// acceptHint returns a hint if only the exit code keeps a rule from matching the output of a failed command.
// Otherwise it returns "".
func acceptHint(a status.Result, o *status.Observation) string {
	x, accepted, codes := a.Rule.Expr, *a.Env, acceptToo(o)
	accepted.Exit = new(int)
	if codes == "" || !x.Reads(".", "isjson", "body", "stdout", "stderr") || !x.Eval(&accepted).Matched() {
		return ""
	}
	return hintOf(map[bool]string{true: "accept instead", false: "accept"}[a.Evaluated], *o.Exit, codes)
}

// missed returns a hint if the rule would match the command's other output, stdout or stderr. Otherwise it
// returns "".
func missed(a status.Result, o *status.Observation) string {
	x, swapped := a.Rule.Expr, *a.Env
	swapped.Stdout, swapped.Stderr = swapped.Stderr, swapped.Stdout
	if !a.Evaluated || o.Kind != status.KindCommand || a.Rule.Preset != "" || x.Reads("stdout") == x.Reads("stderr") {
		return ""
	}
	if !x.Eval(&swapped).Affirmed() {
		return ""
	}
	other := map[bool]string{true: "$stderr", false: "$stdout"}[x.Reads("stdout")]
	return "it is true of the other output of the command: write " + other
}

//go:embed hints.txt
var hintText string

// hintOf returns the hint called name in hints.txt. arguments fill the verbs of package fmt in the hint.
func hintOf(name string, arguments ...any) string {
	_, text, _ := strings.Cut("\n"+hintText, "\n"+name+": ")
	text, _, _ = strings.Cut(text, "\n")
	return fmt.Sprintf(text, arguments...)
}

// FirstHints returns the hints that are new since the previous call, up to a limit for the wait. The next
// observation counts as a new response.
func (t *Coach) FirstHints() []string {
	isTold := func(hint string) bool { return slices.Contains(t.told, hint) }
	first := slices.DeleteFunc(slices.Clone(t.hints), isTold)
	first = first[:min(len(first), maxTold-len(t.told))]
	t.told, t.isOver = append(t.told, first...), true
	return first
}

// Hints returns the hints about the last response.
func (t *Coach) Hints() []string { return slices.Clone(t.hints) }

// Notes returns a note for each rule that was never evaluated, or whose results were all unknown. A preset
// gets at most one note, if none of its rules could decide, since its rules fit responses of several shapes.
func (t *Coach) Notes(kind status.Kind) (notes []string) {
	done := map[string]bool{} // presets with a rule that could decide, or with a note
	for _, c := range t.counts {
		done[c.rule.Preset] = done[c.rule.Preset] || c.decided
	}
	for _, c := range t.counts {
		switch preset := c.rule.Preset; {
		case preset != "" && done[preset]:
			continue
		case !c.asked:
			notes = append(notes, t.neverAsked(c, kind))
		case !c.decided:
			notes = append(notes, c.rule.String()+" was always unknown: "+c.why)
		}
		done[c.rule.Preset] = true
	}
	return notes
}

// neverAsked returns the note for a rule that was never evaluated.
func (t *Coach) neverAsked(c ruleCount, kind status.Kind) string {
	words := map[status.Kind][2]string{
		status.KindCustom:  {"every attempt failed"},
		status.KindTCP:     {"every attempt failed"},
		status.KindCommand: {"the command never exited with 0"},
		status.KindHTTP:    {"no answer was HTTP 2xx", "; add `|| $status >= 300` to let such an answer end the wait"},
	}[kind]
	switch {
	case t.hasPages:
		words = [2]string{"no list was complete"}
	case t.hasAccept:
		words = [2]string{"no response was accepted"}
	case c.rule.Preset != "", c.rule.Status != status.Error: // users do not edit the rules of a preset
		words[1] = ""
	}
	if c.accept != "" && c.rule.Preset == "" {
		words[1] = hintOf("accept all", c.accept)
	}
	return c.rule.String() + " was never tested, because " + words[0] + words[1]
}
