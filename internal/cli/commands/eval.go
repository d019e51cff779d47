// Package commands implements the subcommands that do not wait for a target: eval, presets, history, schedule,
// tune and simulate.
//
// The files:
//
//	eval.go      eval
//	presets.go   presets
//	history.go   history; the past runs for other commands
//	schedule.go  schedule and tune
//	simulate.go  simulate
//	table.go     the times of attempts that schedule shows
//	output.go    the formats of tables: text, JSON; the files for charts
//	plot.go      charts as SVG; plot.svg.tmpl is the image
package commands

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/cli/run"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

func Eval(p read.Env) *argv.Command {
	q := &evaluation{Run: read.New(), process: p, env: expr.Env{Attempt: 1}}
	return &argv.Command{
		Operands: "EXPR [FILE|-]",
		Summary:  "try a condition on a response in a file",
		Flags:    q.flags(),
		Into:     []any{q},
		Run: func(ctx context.Context, l *argv.Line) error {
			q.env.Context = ctx
			if err := q.read(l); err != nil {
				return err
			}
			evaluate := q.evaluate
			if q.target != nil {
				evaluate = q.classify
			}
			out, code := evaluate()
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return cmp.Or(l.Write(ctx, out), run.ExitWith(code))
		},
	}
}

// flags returns the flags of eval. The flags for rules are copied from the flags of a wait.
func (q *evaluation) flags() argv.Flags {
	classes := strings.Fields("other refused timeout dns tls reset")
	answer := argv.Flags{
		{Name: "status", Value: "CODE", Set: argv.Parsed(argv.ParseCount(100), func(q *evaluation, v int) { q.env.Status = &v }), Usage: "$status, the HTTP status code"},
		{Name: "exit", Value: "CODE", Set: argv.Parsed(argv.ParseCount(0), func(q *evaluation, v int) { q.env.Exit = &v }), Usage: "$exit, a command's exit code"},
		{Name: "header", Aliases: []string{"H"}, Value: "LINE", Many: true, FromFile: true, Usage: "a response header, for $header; @FILE reads several"},
		{Name: "stderr", Value: "TEXT", FromFile: true, Set: argv.Text(func(q *evaluation, v string) { q.stderr = v }), Usage: "$stderr, what a command wrote; @FILE reads it"},
		{Name: "error", Value: "WORD", Words: classes, Set: argv.Text(func(q *evaluation, v string) { q.env.Error = v }), Not: "status exit header", Usage: "$error: there was no response, because of WORD"},
		{Name: "event", Value: "NAME", Set: argv.Text(func(q *evaluation, v string) { q.env.Event = v }), Usage: "$event, the name of an event of a stream"},
		{Name: "attempt", Value: "N", Default: "1", Set: argv.Parsed(argv.ParseCount(1), func(q *evaluation, v int) { q.env.Attempt = v }), Usage: "$attempt, the attempt's number"},
		{Name: "elapsed", Value: "D", Default: "0", Set: argv.Parsed(argv.ParseDuration, func(q *evaluation, v time.Duration) { q.env.Elapsed = v }), Usage: "$elapsed, the time since the start"},
		{Name: "unchanged", Value: "D", Default: "0", Set: argv.Parsed(argv.ParseDuration, func(q *evaluation, v time.Duration) { q.env.Unchanged = v }), Usage: "$unchanged, since the response last changed"},
		{Name: "print", Value: "EXPR", Set: argv.Text(func(q *evaluation, v string) { q.print = v }), Usage: "show this value; EXPR becomes optional"},
		argv.HelpFlag(),
	}
	all := q.Flags
	rules := slices.Concat(all.Only("each", "id"), all.Only(ruleFlags()...))
	rules[0].Usage = "the path of the list, such as .items"
	for i := range rules {
		rules[i].Not = "error print attempt elapsed unchanged"
	}
	return append(answer, rules.In("Rules, in place of EXPR", 0)...)
}

// ruleFlags returns the names of the flags that define rules. If any of these flags is set, eval evaluates the
// response as a wait would, instead of evaluating the operand EXPR.
func ruleFlags() []string {
	return []string{"until", "error-if", "throttled-if", "not-ready-if", "accept", "strict", "detail", "preset"}
}

// An evaluation evaluates one response: either with a condition (EXPR) and a value (--print), or with the rules of
// a wait.
type evaluation struct {
	*read.Run        // the settings for the rules
	process          read.Env
	stderr, print    string
	condition, value *expr.Expr
	env              expr.Env
	target           *read.Target // the target that has the rules; nil without rules
}

// read reads the settings in l, compiles the expressions or the rules, and then reads the response.
func (q *evaluation) read(l *argv.Line) (err error) {
	file := l.Operands
	q.Line.Operands, q.LookupEnv, q.Write = file, l.LookupEnv, l.Write
	q.Run = q.With(l.Settings, nil)
	switch isRules := q.Each != "" || slices.ContainsFunc(ruleFlags(), q.Has); {
	case isRules && len(file) > 1:
		err = argv.Usagef("with --each, --until or --preset the only operand is a FILE: conditions are flags").
			Hint(`poll eval --each .jobs --until '.state == "done"' answer.json`)
	case isRules && q.Preset == "":
		err = q.readRules()
	case isRules:
		if q.Run, err = q.process.WithPreset(q.Run, read.OfAll, argv.Preset); err == nil {
			err = q.readRules()
		}
	case l.Has("print"):
		q.value, err = read.CompileValue(l, "print", q.print)
	case len(file) == 0:
		err = argv.Usagef("eval needs an expression").Hint(`poll eval '.state == "done"' answer.json`)
	}
	if err != nil {
		return err
	}
	if q.target == nil && (q.value == nil || len(file) > 1) {
		if q.condition, err = expr.Compile(file[0], expr.WithEnviron(l.LookupEnv)); err != nil {
			return read.BadExpression("EXPR", err)
		}
		file = file[1:]
	}
	if q.env.Error != "" {
		q.env.Doc = expr.Unreadable("there was no response (" + q.env.Error + ")")
	}
	if q.env.Status != nil || l.Has("header") {
		if q.env.Header, _, err = read.ReadHeaders(l, q.process, ""); err != nil {
			return err
		}
	}
	if l.Has("stderr") {
		if q.env.Stderr, _, err = q.process.ReadValue(l, l.Origin("stderr"), q.stderr, read.MaxInput); err != nil {
			return err
		}
	}
	return q.readResponse(file)
}

// readResponse reads the response from the file that the operand names. Without an operand, it reads stdin if an
// expression needs the response. It reads from a terminal only if the operand is "-".
func (q *evaluation) readResponse(file []string) error {
	name := "-"
	switch {
	case q.env.Error != "" && len(file) == 0:
		return nil
	case q.env.Error != "":
		return argv.Usagef("with --error there is no response, so there is no FILE")
	case len(file) == 1:
		name = file[0]
	case q.target == nil && !needsResponse(q.condition) && !needsResponse(q.value):
		return nil
	case q.process.Streams.InIsTerminal:
		return argv.Usagef("there is no response: give a FILE, or - to type it")
	}
	if name == "-" && slices.Contains(append(q.Texts("header"), q.stderr), "@-") {
		return argv.Usagef("stdin can be read only once")
	}
	body, err := q.process.ReadFile(name, read.MaxInput)
	if err != nil {
		return argv.Usagef("read the response: %w", err).Advise("response " + name)
	}
	q.env.Body, q.env.Stdout, q.env.Doc = body, body, expr.NewDoc(body)
	if q.env.Stderr != nil {
		q.env.Output = slices.Concat(body, q.env.Stderr)
	}
	return nil
}

func needsResponse(e *expr.Expr) bool {
	return e != nil && e.Reads(".", "isjson", "body", "stdout")
}

// Exit codes of eval for a false condition and for an unknown result. For a wait, the codes mean something else.
const (
	exitFalse   = run.ExitError
	exitUnknown = run.ExitAttempts
)

// evaluate evaluates the condition, and then the value of --print. It prints the reasons to stderr. It returns the
// output and the exit code: [run.ExitSuccess] if the condition is true, exitFalse if it is false, and exitUnknown
// if it is unknown. A value that is missing or unknown sets the exit code to exitFalse or exitUnknown, unless the
// condition has already set one of these codes.
func (q *evaluation) evaluate() (out string, code run.ExitCode) {
	if q.condition != nil {
		r := q.condition.Eval(&q.env)
		if r.Abandoned() {
			return "", code // a signal has interrupted the evaluation
		}
		out, code = r.Tri.String()+"\n", map[expr.Tri]run.ExitCode{expr.False: exitFalse, expr.Unknown: exitUnknown}[r.Tri]
		why := r.Explain()
		near, others := why.Hints()
		q.printLines("", why.Lines...)
		q.printLines("note: ", why.Notes...)
		q.printLines("hint: ", near...)
		q.printLines("hint: ", others...)
	}
	if q.value == nil {
		return out, code
	}
	v, none := q.value.Eval(&q.env).Value(), exitUnknown
	switch {
	case v.Exists(): // printed as --print does in a wait
		return out + v.Text() + "\n", code
	case v.Type == "missing":
		none = exitFalse
	}
	q.printLines("poll: ", v.Reason)
	return out, cmp.Or(code, none)
}

// printLines prints up to five of the lines to stderr, each with prefix.
func (q *evaluation) printLines(prefix string, lines ...string) {
	const most = 5
	for _, line := range lines[:min(most, len(lines))] {
		fmt.Fprintln(q.process.Streams.Err, prefix+term.Line(line))
	}
}

// readRules reads the rules, and sets q.target to a target that makes one attempt.
func (q *evaluation) readRules() (err error) {
	rules := *q.Run
	rules.HTTP.Stream = q.env.Event != "" // rules may read $event only with --stream
	q.target = &read.Target{Kind: status.KindHTTP, Run: &rules, Poller: q.Poller}
	if q.env.Exit != nil || q.stderr != "" {
		q.target.Kind = status.KindCommand
	}
	p := &q.target.Poller
	p.Probe, p.Immediate, p.MaxAttempts = poll.ProbeFunc(q.check), true, 1
	if q.Each != "" {
		list, err := q.ReadList()
		if err != nil {
			return err
		}
		p.Elements = &list.Elements
	}
	return q.process.ReadRulesOf(q.target)
}

// check returns the response that eval has read, as the result of an attempt. Without --status or --exit, the HTTP
// status is 200 or the exit code is 0.
func (q *evaluation) check(context.Context, poll.Attempt) status.Observation {
	o := status.Observation{Kind: q.target.Kind, Body: q.env.Body, Size: int64(len(q.env.Body)), Stderr: q.env.Stderr, Output: q.env.Output,
		Header: q.env.Header, Event: q.env.Event}
	if o.Kind == status.KindHTTP {
		o.Code = cmp.Or(q.env.Status, new(200))
	} else {
		o.Exit = cmp.Or(q.env.Exit, new(0))
	}
	return o
}

// attempt runs the only attempt. It returns the Text of each hint, by kind, and an event with the verdict for each
// element of a list. Without elements, it returns a single event with the verdict for the whole response.
func (q *evaluation) attempt() (all []poll.Event, hints map[status.HintKind][]string) {
	hints = make(map[status.HintKind][]string)
	for event := range new(poll.Group).Events(q.env.Context, slices.Values([]poll.Poller{q.target.Poller})) {
		if event.Kind == poll.EventAttempt {
			all = append(all, event)
			for _, h := range event.Verdict.Hints {
				hints[h.Kind] = append(hints[h.Kind], h.Text)
			}
		}
	}
	if len(all) > 1 {
		all = all[1:]
	}
	return all, hints
}

// classify evaluates the rules. The output has a line for each verdict, with the element's name, the status and the
// reason. It also has a line for each object that a preset evaluates separately. Notes, hints and a summary are
// printed to stderr. The exit code is [run.ExitError] if any verdict is ERROR, and exitUnknown if any other
// verdict is not SUCCESS.
func (q *evaluation) classify() (out string, code run.ExitCode) {
	all, hints := q.attempt()
	var lines []string
	count := map[status.Status]int{}
	for _, e := range all {
		name, v := e.Target, e.Verdict
		if e.N == 0 || q.Each == "" {
			name = "(all)"
		}
		lines = append(lines, fmt.Sprintf("%s\t%s\t%s\n", term.Line(name), v.Status, term.Line(v.Reason)))
		for _, o := range v.Objects {
			by := strings.TrimPrefix(o.Stanza+": "+o.Reason, ": ")
			lines = append(lines, fmt.Sprintf("%s\t%s\t%s\n", term.Line(o.ID), o.Status, term.Line(by)))
		}
		count[v.Status]++
	}
	slices.Sort(hints[status.HintNote])
	q.printLines("", q.Notes()...)
	q.printLines("hint: ", hints[status.HintCorrection]...)
	q.printLines("note: ", slices.Compact(hints[status.HintNote])...)
	if q.Each != "" {
		q.printLines("", words.Count(len(all), "element")+": "+words.Counts(count, status.Success, status.Error, status.Throttled, status.NotReady))
	}
	switch {
	case count[status.Error] > 0:
		code = run.ExitError
	case count[status.Success] < len(all):
		code = exitUnknown
	}
	return strings.Join(lines, ""), code
}
