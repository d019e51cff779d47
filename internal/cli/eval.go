package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

func (p Process) evalCommand() *argv.Command {
	q := &question{Spec: newSpec(), world: p, env: expr.Env{Attempt: 1}}
	return &argv.Command{
		Operands: "EXPR [FILE|-]",
		Summary:  "try a condition on an answer in a file",
		Flags:    q.flags(),
		Run: func(ctx context.Context, l *argv.Line) error {
			q.env.Context = ctx
			if err := q.read(l); err != nil {
				return err
			}
			if q.list != nil {
				return q.judgeList(ctx)
			}
			return q.answer(ctx)
		},
	}
}

// flags returns the flags that fill q. Those about elements are the wait's.
func (q *question) flags() argv.Flags {
	classes := strings.Fields("other refused timeout dns tls reset")
	own := argv.Flags{
		{Name: "status", Value: "CODE", To: argv.OptionalVar(&q.env.Status, argv.ParseCount(100)), Usage: "$status, the HTTP status code"},
		{Name: "exit", Value: "CODE", To: argv.OptionalVar(&q.env.Exit, argv.ParseCount(0)), Usage: "$exit, a command's exit code"},
		{Name: "header", Aliases: []string{"H"}, Value: "LINE", Many: true, FromFile: true, To: argv.TextsVar(&q.header), Usage: "a response header, for $header; @FILE reads several"},
		{Name: "stderr", Value: "TEXT", FromFile: true, To: argv.TextVar(&q.stderr), Usage: "$stderr, what a command wrote; @FILE reads it"},
		{Name: "error", Value: "WORD", Words: classes, To: argv.TextVar(&q.env.Error), Not: "status exit header", Usage: "$error: there was no answer, because of WORD"},
		{Name: "attempt", Value: "N", Default: "1", To: argv.Var(&q.env.Attempt, argv.ParseCount(1)), Usage: "$attempt, the attempt's number"},
		{Name: "elapsed", Value: "D", Default: "0", To: argv.Var(&q.env.Elapsed, argv.ParseDuration), Usage: "$elapsed, the time since the start"},
		{Name: "unchanged", Value: "D", Default: "0", To: argv.Var(&q.env.Unchanged, argv.ParseDuration), Usage: "$unchanged, since the answer last changed"},
		{Name: "print", Value: "EXPR", To: argv.TextVar(&q.print), Usage: "show this value; EXPR becomes optional"},
		argv.HelpFlag(),
	}
	all := q.Flags
	list := slices.Concat(all.Only("each", "id"), all.Only("until", "error-if", "throttled-if", "not-ready-if", "strict", "preset"))
	list[0].Not = "error print attempt elapsed unchanged"
	list[0].Usage = "where the list is, such as .items"
	for i := range list[1:] {
		list[i+1].Needs = "each"
	}
	return append(own, list.In("Elements of a list", 0)...)
}

// A question is a condition, a value, or both, to evaluate for one answer.
type question struct {
	*Spec            // what the flags say about the elements of a list
	world            Process
	header           []string
	stderr, print    string
	condition, value *expr.Expr
	env              expr.Env
	list             *target // whose elements are judged instead, nil for none
}

// read reads the command line, and the answer last.
func (q *question) read(l *argv.Line) (err error) {
	file := l.Operands
	q.Line.Operands, q.LookupEnv, q.Write = file, l.LookupEnv, l.Write
	if q.Spec, err = q.with(l.Given, nil); err != nil {
		return err
	}
	switch {
	case q.Each != "" && len(file) > 1:
		err = argv.Usagef("with --each there is one operand, a FILE, and conditions are flags").
			Hint(`poll eval --each .jobs --until '.state == "done"' answer.json`)
	case q.Each != "":
		if q.Spec, err = q.world.withPreset(q.Spec, ofAll, argv.Preset); err == nil {
			err = q.readRules()
		}
	case l.Has("print"):
		q.value, err = compileValue(l, "print", q.print)
	case len(file) == 0:
		err = argv.Usagef("eval needs an expression").Hint(`poll eval '.state == "done"' answer.json`)
	}
	if err != nil {
		return err
	}
	if q.list == nil && (q.value == nil || len(file) > 1) {
		if q.condition, err = expr.Compile(file[0], expr.WithEnviron(l.LookupEnv)); err != nil {
			return badExpression("EXPR", err)
		}
		file = file[1:]
	}
	if q.env.Error != "" {
		q.env.Doc = expr.Unreadable("there was no answer (" + q.env.Error + ")")
	}
	if q.env.Status != nil || l.Has("header") {
		if q.env.Header, _, err = readHeaders(l, q.world, q.header, nil, ""); err != nil {
			return err
		}
	}
	if l.Has("stderr") {
		if q.env.Stderr, _, err = q.world.readValue(l, l.Origin("stderr"), q.stderr, maxInput); err != nil {
			return err
		}
	}
	return q.readAnswer(file)
}

// readAnswer reads the answer: from the file or, if one is needed, from stdin. A
// terminal is read only if "-" is given.
func (q *question) readAnswer(file []string) error {
	name := "-"
	switch {
	case q.env.Error != "" && len(file) == 0:
		return nil
	case q.env.Error != "":
		return argv.Usagef("with --error there is no answer, but a FILE is given")
	case len(file) == 1:
		name = file[0]
	case q.list == nil && !needsAnswer(q.condition) && !needsAnswer(q.value):
		return nil
	case q.world.Streams.InIsTerminal:
		return argv.Usagef("there is no answer to look at: give a FILE, or - to type it")
	}
	if name == "-" && slices.Contains(append(q.header, q.stderr), "@-") {
		return argv.Usagef("stdin can be read only once")
	}
	body, err := q.world.readFile(name, maxInput)
	if err != nil {
		e := argv.Usagef("read the answer: %w", err)
		if q.condition == nil && q.list == nil {
			e.Hint("the operand after --print EXPR is a file: poll eval --print EXPR [FILE]")
		}
		return e
	}
	q.env.Body, q.env.Stdout, q.env.Doc = body, body, expr.NewDoc(body)
	return nil
}

func needsAnswer(e *expr.Expr) bool {
	return e != nil && e.Reads(".", "isjson", "body", "stdout")
}

// The exit codes of eval that mean something else than for a wait.
const (
	exitFalse   = ExitError
	exitUnknown = ExitAttempts
)

// answer evaluates the condition, and then the value. The reasons go to stderr.
func (q *question) answer(ctx context.Context) error {
	var out string
	code := ExitSuccess
	for _, e := range []*expr.Expr{q.condition, q.value} {
		if e == nil {
			continue
		}
		r := e.Eval(&q.env)
		if r.Abandoned() {
			return context.Cause(ctx) // a signal came first
		}
		is, v := r.Tri, r.Value()
		switch {
		case e == q.condition:
			out += is.String() + "\n"
			q.explain(r.Explain())
		case v.Exists(): // the same as --print in a wait
			is, out = expr.True, out+v.Text()+"\n"
		default:
			if is = expr.Unknown; v.Type == "missing" {
				is = expr.False
			}
			q.say("poll: ", v.Reason)
		}
		code = cmp.Or(code, map[expr.Tri]ExitCode{expr.False: exitFalse, expr.Unknown: exitUnknown}[is])
	}
	return cmp.Or(q.Write(ctx, out), exitWith(code))
}

// explain says why a condition is true or not.
func (q *question) explain(why expr.Explanation) {
	q.say("", why.Lines...)
	q.say("note: ", why.Notes...)
	near, others := why.Hints()
	q.say("hint: ", near...)
	q.say("hint: ", others...)
}

// say writes the first of some lines to stderr.
func (q *question) say(prefix string, lines ...string) {
	const most = 5
	for _, line := range lines[:min(most, len(lines))] {
		fmt.Fprintln(q.world.Streams.Err, prefix+term.Line(line))
	}
}

// readRules reads --each and the conditions, as for a wait of one attempt.
func (q *question) readRules() error {
	q.list = &target{kind: status.KindHTTP}
	if q.IsCommand || q.env.Exit != nil || q.stderr != "" {
		q.list.kind = status.KindCommand
	}
	p := &q.list.poller
	p.Probe, p.Immediate, p.MaxAttempts = poll.ProbeFunc(q.look), true, 1
	if q.Each != "" {
		list, err := q.readList()
		if err != nil {
			return err
		}
		p.Elements = &list.Elements
	}
	r := reader{run: q.Spec, world: q.world}
	q.list.spec = q.Spec
	return r.readRules(q.list)
}

// look returns what an attempt would have seen.
func (q *question) look(context.Context, poll.Attempt) status.Observation {
	o := status.Observation{Kind: q.list.kind, Body: q.env.Body, Size: int64(len(q.env.Body)), Stderr: q.env.Stderr, Header: q.env.Header}
	if o.Kind == status.KindHTTP {
		o.Code = cmp.Or(q.env.Status, new(200))
	} else {
		o.Exit = cmp.Or(q.env.Exit, new(0))
	}
	return o
}

// judge makes the attempt, and returns the verdict on each element, and what may have been meant. An
// answer that has none is judged as a whole.
func (q *question) judge(ctx context.Context) (all []poll.Event, hints []string) {
	for event := range new(poll.Group).Events(ctx, slices.Values([]poll.Poller{q.list.poller})) {
		if event.Kind == poll.EventAttempt {
			all, hints = append(all, event), append(hints, event.Verdict.Hints...)
		}
	}
	if len(all) > 1 {
		all = all[1:]
	}
	return all, hints
}

// judgeList prints a line for each element: its name, its verdict, and why. A summary goes to
// stderr.
func (q *question) judgeList(ctx context.Context) error {
	all, hints := q.judge(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var lines strings.Builder
	var notes []string
	count := map[status.Status]int{}
	for _, e := range all {
		name, v := e.Target, e.Verdict
		if e.N == 0 {
			name = "(all)"
		}
		fmt.Fprintf(&lines, "%s\t%s\t%s\n", term.Line(name), v.Status, term.Line(v.Reason))
		notes = append(notes, v.Notes...)
		count[v.Status]++
	}
	slices.Sort(notes)
	q.say("", q.Notes()...)
	q.say("hint: ", hints...)
	q.say("note: ", slices.Compact(notes)...)
	q.say("", words.Count(len(all), "element")+": "+words.Counts(count, status.Success, status.Error, status.Throttled, status.NotReady))
	code := ExitSuccess
	switch {
	case count[status.Error] > 0:
		code = ExitError
	case count[status.Success] < len(all):
		code = exitUnknown
	}
	return cmp.Or(q.Write(ctx, lines.String()), exitWith(code))
}
