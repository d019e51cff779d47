package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
	"github.com/pollcli/poll/words"
)

// elementFlags returns the flags about the elements of an answer.
func elementFlags() argv.Flags {
	flags := argv.Flags{
		{Name: "each", Value: "EXPR", Group: groupElements, Usage: "where the list is, such as .items"},
		{Name: "id", Value: "EXPR", Many: true, Group: groupElements, Default: ".id, .name, .metadata.name", Usage: "what names an element"},
	}
	for _, f := range conditionFlags() {
		f.Group = groupElements
		flags = append(flags, f)
	}
	return flags
}

const groupElements = "Elements of a list"

// conditionFlags returns the flags of a wait that say what an answer means.
func conditionFlags() argv.Flags {
	return slices.DeleteFunc(waitFlags(), func(f argv.Flag) bool {
		return !slices.Contains([]string{"until", "error-if", "throttled-if", "not-ready-if", "strict", "preset"}, f.Name)
	})
}

// refuseConditions refuses the flags for elements where there are none.
func refuseConditions(l *argv.Line) error {
	for _, f := range append(conditionFlags(), argv.Flag{Name: "id"}) {
		if l.Has(f.Name) {
			return argv.Usagef("--%s is for the elements that --each EXPR names; the condition on an answer is EXPR", f.Name).
				Hint(`poll eval '.state == "done"' answer.json`)
		}
	}
	return nil
}

// A listQuestion asks what each element of an answer means.
type listQuestion struct {
	elements poll.Elements
	rules    status.Rules
	kind     status.Kind
}

// readListQuestion reads --each and the conditions.
func readListQuestion(l *argv.Line, world World) (q *listQuestion, err error) {
	q = &listQuestion{kind: status.KindCustom}
	switch {
	case len(l.Operands) > 1:
		return nil, argv.Usagef("with --each there is one operand, a FILE, and conditions are flags").
			Hint(`poll eval --each .jobs --until '.state == "done"' answer.json`)
	case !slices.ContainsFunc([]string{"until", "not-ready-if", "preset"}, l.Has):
		return nil, argv.Usagef("--each needs a condition: without one, every element is SUCCESS").
			Hint(`--until '.state == "done"', where . is the element, or --preset NAME`)
	case l.Has("status") || l.Has("header"):
		q.kind = status.KindHTTP
	case l.Has("exit") || l.Has("stderr"):
		q.kind = status.KindCommand
	}
	if q.elements.Each, err = expr.CompileEach(l.String("each")); err != nil {
		return nil, badExpression(l.Origin("each"), err)
	}
	for g := range l.All("id") {
		key, err := expr.CompileValue(g.Value, expr.WithEnviron(l.LookupEnv))
		if err != nil {
			return nil, badExpression(g.Origin, err)
		}
		q.elements.Keys = append(q.elements.Keys, key)
	}
	return q, q.readRules(l, world)
}

func (q *listQuestion) readRules(l *argv.Line, world World) error {
	r := targetReader{world: world}
	for _, s := range status.Ruled() {
		for g := range l.All(s.RuleName()) {
			rule, err := r.rule(ruleText{s, g.Value})
			if err != nil {
				return badExpression(g.Origin, err)
			}
			rule.Origin = "--" + s.RuleName()
			q.rules.Own = append(q.rules.Own, rule)
		}
	}
	t := target{kind: q.kind}
	err := r.readPreset(ofList(l), &t)
	q.rules.Preset, q.rules.Strict = t.poller.Rules.Preset, l.On("strict")
	return err
}

// observation is what an attempt would have seen.
func (q *listQuestion) observation(env *expr.Env) status.Observation {
	o := status.Observation{
		Kind: q.kind, Attempt: env.Attempt, Elapsed: env.Elapsed, Body: env.Body, Size: int64(len(env.Body)),
		Code: env.Status, Header: env.Header, Exit: env.Exit, Stderr: env.Stderr,
	}
	switch {
	case q.kind == status.KindHTTP && o.Code == nil:
		o.Code = new(200)
	case q.kind == status.KindCommand && o.Exit == nil:
		o.Exit = new(0)
	}
	return o
}

// answer prints a line for each element: its name, its verdict, and why. A summary goes to
// stderr.
func (q *listQuestion) answer(ctx context.Context, l *argv.Line, env *expr.Env, stderr io.Writer) error {
	o, tally := q.observation(env), verdicts{count: map[status.Status]int{}}
	if !o.Good() {
		tally.add("(all)", &o, q.rules.Classify(ctx, o))
		return tally.print(ctx, l, stderr)
	}
	elements, problem := q.elements.Each.Elements(env.Doc)
	if problem != "" {
		fmt.Fprintln(stderr, "poll: "+term.Line(problem))
		return &exitError{exitUnknown}
	}
	names, err := q.elements.Names(elements)
	if err != nil {
		fmt.Fprintln(stderr, "poll: "+term.Line(err.Error()))
		return &exitError{ExitError}
	}
	o.Within = env.Doc
	for i, e := range elements {
		o.Body, o.Target = []byte(e.Raw), names[i]
		v := q.rules.Classify(ctx, o)
		if v.Abandoned {
			return context.Cause(ctx)
		}
		tally.add(names[i], &o, v)
	}
	return tally.print(ctx, l, stderr)
}

// verdicts are those on the elements of an answer.
type verdicts struct {
	out   strings.Builder
	count map[status.Status]int // by status
	open  []string              // the names of those that have not ended
	first status.Tally          // of the first of those
	notes []string
}

func (s *verdicts) add(name string, o *status.Observation, v status.Verdict) {
	fmt.Fprintf(&s.out, "%s\t%s\t%s\n", term.Line(name), v.Status, term.Line(v.Reason))
	s.count[v.Status]++
	if !v.Status.Ends() {
		if s.open = append(s.open, term.Line(name)); len(s.open) == 1 {
			s.first.Add(o, v)
		}
	}
	for _, note := range v.Notes {
		if !slices.Contains(s.notes, note) && len(s.notes) < maxReasons {
			s.notes = append(s.notes, note)
		}
	}
}

// print writes the lines, the summary, and what is odd.
func (s *verdicts) print(ctx context.Context, l *argv.Line, stderr io.Writer) error {
	if err := l.Write(ctx, s.out.String()); err != nil {
		return err
	}
	for _, note := range s.notes {
		fmt.Fprintln(stderr, "note: "+term.Line(note))
	}
	for _, hint := range s.first.Hints() {
		fmt.Fprintln(stderr, "hint: "+term.Line(hint))
	}
	n, parts := 0, []string(nil)
	for _, kind := range []status.Status{status.Success, status.Error, status.Throttled, status.NotReady} {
		if n += s.count[kind]; s.count[kind] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", s.count[kind], kind))
		}
	}
	summary := words.Count(n, "element") + ": " + strings.Join(parts, ", ")
	switch rest := len(s.open) - maxReasons; {
	case n == 0:
		summary = "there are no elements; a wait goes on until there are some"
	case rest > 0:
		summary += fmt.Sprintf("; a wait goes on for %s and %d more", strings.Join(s.open[:maxReasons], ", "), rest)
	case len(s.open) > 0:
		summary += "; a wait goes on for " + strings.Join(s.open, ", ")
	}
	fmt.Fprintln(stderr, summary)
	switch {
	case s.count[status.Error] > 0:
		return &exitError{ExitError}
	case n == 0 || len(s.open) > 0:
		return &exitError{exitUnknown}
	}
	return nil
}
