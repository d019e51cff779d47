// Package coach collects advice for the user of a wait. After each attempt, it reads the response and the results of
// the rules. A hint suggests how to correct a rule or an option. A note points out a verdict that may be a mistake.
// The package never changes the status of a verdict.
//
// The files:
//
//	coach.go   hints about rules that do not match; notes at the end
//	notes.go   hints and notes about a verdict, such as a doubtful SUCCESS
//	hints.txt  the wording of the hints in coach.go
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

// A Coach collects the hints about the last response. For each rule that can end the wait, it also records whether
// the rule has ever been evaluated and could decide. The zero value is ready for use.
type Coach struct {
	counts []ruleCount

	hints     []status.Hint // hints about the last response, or about the elements of the last list
	passed    []status.Hint // hints about stream messages; later responses do not replace these hints
	told      []status.Hint // hints that FirstHints has already returned
	explained int           // number of rule results about the last response that hints have explained
	isOver    bool          // the next call of Add is about a new response
	wasGood   bool          // the last response was successful
	hasPages  bool          // a list was incomplete, because one of its pages could not be read
	hasAccept bool          // the user has set the accepted codes with --accept
}

// A ruleCount is the record of one rule. evaluated is the number of its evaluations, and decided is true if its
// result was ever known.
type ruleCount struct {
	rule      *status.Rule
	evaluated int
	decided   bool
	why       string // why the rule did not match the last response
	accept    string // value of --accept that would have let the rule evaluate the last response, or ""
}

const (
	maxExplained = 100 // largest number of rule results per response that are explained by hints, because explaining takes long
	fewMessages  = 5   // a hint explains that stream messages are not JSON only after a rule has been evaluated on this many messages
	maxTold      = 10  // largest number of hints during a wait, because a document whose members keep changing would lead to ever new hints
)

// Add processes v, the verdict on the response o. It adds hints to v and removes the results of the rules from v. With
// these results, Add updates the records of the rules, and collects hints about o in t. It ignores the results if the
// rules are not meant for o: if o only leads to another URL, or is about an element that is missing from its list.
//
// For a list, Add is called for each element and then for the whole response. The hints of all these calls are kept.
// The first call after [Coach.FirstHints] drops the hints about the previous response, unless o has the same content
// as that response.
func (t *Coach) Add(o *status.Observation, v *status.Verdict) {
	addHints(o, v)
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
	if !o.Good() && !isSame {
		if phrase := meaning.Denied(o.Stderr); phrase != nil {
			t.hints = append(t.hints, correction(wording("denied", phrase)))
		}
	}
	for _, offered := range o.Hints {
		if offered.Kind == status.HintOffered && !isSame {
			why := "each attempt may start another operation: " + offered.Text + " is the URL of this one"
			t.hints = append(t.hints, correction(why), offered)
		}
	}
	for _, a := range results {
		if !a.Rule.Status.Ends() {
			continue
		}
		c := t.count(a)
		isForOthers := a.Rule.Preset != "" && c.decided && !a.NoObject // a preset has rules for several kinds of documents, so explain its rule only while that rule has never decided
		if isSame || isForOthers || a.Matched() || t.explained > maxExplained {
			continue
		}
		t.explained++
		t.explain(o, a, c)
	}
}

// count records the result a of one rule, and returns the record of that rule.
func (t *Coach) count(a status.Result) *ruleCount {
	at := slices.IndexFunc(t.counts, func(c ruleCount) bool { return c.rule == a.Rule })
	if at < 0 {
		at = len(t.counts)
		t.counts = append(t.counts, ruleCount{rule: a.Rule})
	}
	c := &t.counts[at]
	if a.Evaluated {
		c.evaluated++
	}
	c.decided = c.decided || a.Evaluated && (a.NoObject || a.Tri != expr.Unknown || a.Missing())
	return c
}

// explain adds hints about the result a of a rule that does not match the response o. c is the record of that
// rule. If the rule was not evaluated on o, the hints come from the rule's expression alone.
func (t *Coach) explain(o *status.Observation, a status.Result, c *ruleCount) {
	why := a.Explain()
	missing := cmp.Or(missed(a, o), acceptHint(a, o))
	if a.Evaluated {
		c.why = why.Lines[0]
	} else {
		if c.accept = acceptToo(o); missing != "" { // the hint already names the value of --accept
			c.accept = ""
		}
		why = a.Rule.Expr.Eval(&expr.Env{Exit: o.Exit, Status: o.Code}).Explain()
	}
	hints, others := why.Hints()
	if a.Rule.Status == status.Success { // not for the other rules: the members that they read are usually absent
		hints = slices.Concat(hints, others)
	}
	isText := slices.ContainsFunc(why.Lines, func(line string) bool { return strings.Contains(line, "the body is not JSON") })
	if o.Message && isText && (c.decided || c.evaluated < fewMessages) {
		hints = nil // a stream may have messages of text between those in JSON
	}
	if missing != "" {
		hints = []string{missing}
	} else if len(hints) == 0 && a.Evaluated && a.Rule.Status == status.Success && a.Rule.Expr.Reads(".") {
		hints = t.failureHints(o)
	}
	for _, text := range hints {
		if a.Rule.Status != status.Success { // without naming the option, the hint would seem to be about --until
			text = a.Rule.Origin + ": " + text
		}
		hint := correction(text)
		if (a.Rule.Preset == "" || a.NoObject) && !slices.Contains(t.hints, hint) {
			t.hints = append(t.hints, hint)
			if o.Message && missing != "" {
				t.passed = append(t.passed, hint)
			}
		}
	}
}

// failureHints returns a hint if the successful response o reports an error that no rule reads. It returns nil if o
// also reports that the operation is still running. It also returns nil for an element of a list, because searching
// thousands of elements takes longer than evaluating the rules.
func (t *Coach) failureHints(o *status.Observation) []string {
	if o.Within != nil {
		return nil
	}
	report := meaning.ReportOf(o)
	path, isFlag := report.Wrong.Path, report.Wrong.Raw == "true" || report.Wrong.Raw == "false"
	isRead := func(c ruleCount) bool { return strings.Contains(c.rule.Expr.String(), path) }
	goesOn := report.State.Stage == meaning.Open || report.Sign.Path != ""
	if !o.Good() || path == "" || isFlag || goesOn || slices.ContainsFunc(t.counts, isRead) {
		return nil
	}
	return []string{wording("error", path)}
}

// acceptToo returns the value of --accept that would make the command in o successful. It returns "" if the command
// is already successful, has no output, or did not exit by itself.
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

// acceptHint returns a hint if the rule in a.Rule would match the output of the command in o, but does not
// match because of the exit code. Otherwise it returns "".
func acceptHint(a status.Result, o *status.Observation) string {
	x, accepted, codes := a.Rule.Expr, *a.Env, acceptToo(o)
	accepted.Exit = new(int)
	if codes == "" || !x.Reads(".", "isjson", "body", "stdout", "stderr") || !x.Eval(&accepted).Matched() {
		return ""
	}
	return wording(map[bool]string{true: "accept instead", false: "accept"}[a.Evaluated], *o.Exit, codes)
}

// missed returns a hint if the rule in a.Rule does not match, but would match if standard output and standard
// error of the command in o were swapped. Otherwise it returns "".
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
	return "the condition is true for the other output of the command: write " + other
}

func correction(text string) status.Hint { return status.Hint{Kind: status.HintCorrection, Text: text} }

//go:embed hints.txt
var hintText string

// wording returns the text called name in hints.txt. arguments fill the formatting verbs in that text.
func wording(name string, arguments ...any) string {
	_, text, _ := strings.Cut("\n"+hintText, "\n"+name+": ")
	text, _, _ = strings.Cut(text, "\n")
	return fmt.Sprintf(text, arguments...)
}

// FirstHints returns the collected hints that no earlier call of FirstHints has returned. During a wait, all calls
// together return at most maxTold hints. FirstHints must be called at the end of each response: the next call of Add
// is then about a new response.
func (t *Coach) FirstHints() []status.Hint {
	isTold := func(hint status.Hint) bool { return slices.Contains(t.told, hint) }
	first := slices.DeleteFunc(slices.Clone(t.hints), isTold)
	first = first[:min(len(first), maxTold-len(t.told))]
	t.told, t.isOver = append(t.told, first...), true
	return first
}

// Hints returns the hints about the last response.
func (t *Coach) Hints() []status.Hint { return slices.Clone(t.hints) }

// Notes returns a note for each rule that was never evaluated or whose result was always unknown. kind is the kind of
// the probe. A preset gets only one note, and only if none of its rules could ever decide: its rules are meant for
// several kinds of documents, so some rules need not apply.
func (t *Coach) Notes(kind status.Kind) (notes []status.Hint) {
	done := map[string]bool{} // presets that have a note, or a rule that could decide
	for _, c := range t.counts {
		done[c.rule.Preset] = done[c.rule.Preset] || c.decided
	}
	for _, c := range t.counts {
		switch preset := c.rule.Preset; {
		case preset != "" && done[preset]:
			continue
		case c.evaluated == 0:
			notes = append(notes, status.Hint{Text: t.neverEvaluated(c, kind)})
		case !c.decided:
			notes = append(notes, status.Hint{Text: c.rule.String() + " was always unknown: " + c.why})
		}
		done[c.rule.Preset] = true
	}
	return notes
}

// neverEvaluated returns the note for c, the record of a rule that was never evaluated.
func (t *Coach) neverEvaluated(c ruleCount, kind status.Kind) string {
	words := map[status.Kind][2]string{
		status.KindCustom:  {"every attempt failed"},
		status.KindTCP:     {"every attempt failed"},
		status.KindCommand: {"the command never exited with 0"},
		status.KindHTTP:    {"no response was HTTP 2xx", "; add `|| $status >= 300` to let such a response end the wait"},
	}[kind]
	switch {
	case t.hasPages:
		words = [2]string{"no list was complete"}
	case t.hasAccept:
		words = [2]string{"no response was accepted"}
	case c.rule.Preset != "", c.rule.Status != status.Error: // no advice about editing the rule: users do not edit the rules of a preset
		words[1] = ""
	}
	if c.accept != "" && c.rule.Preset == "" {
		words[1] = wording("accept all", c.accept)
	}
	return c.rule.String() + " was never tested, because " + words[0] + words[1]
}
