package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/status/expr"
)

func evalCommand(world World) *argv.Command {
	q := &question{world: world, spec: newSpec(), env: expr.Env{Attempt: 1}}
	return &argv.Command{
		Name:      "eval",
		Operands:  "EXPR [FILE|-]",
		Summary:   "try a condition on an answer in a file",
		Flags:     q.flags(),
		Conflicts: slices.Concat(argv.Conflicting("error", "status", "exit", "header"), argv.Conflicting("each", "error", "print", "attempt", "elapsed", "unchanged")),
		Run: func(ctx context.Context, l *argv.Line) error {
			q.spec.Line, q.env.Context = l, ctx
			if err := q.read(l); err != nil {
				return err
			}
			return q.answer(ctx, l, world.Streams.Err)
		},
	}
}

// flags returns the flags that fill q. Those about elements are the wait's.
func (q *question) flags() argv.Flags {
	classes := strings.Fields("other refused timeout dns tls reset")
	own := argv.Flags{
		{Name: "status", Value: "CODE", To: argv.Maybe(&q.env.Status, argv.ParseCount(100)), Usage: "$status, the HTTP status code"},
		{Name: "exit", Value: "CODE", To: argv.Maybe(&q.env.Exit, argv.ParseCount(0)), Usage: "$exit, a command's exit code"},
		{Name: "header", Aliases: []string{"H"}, Value: "LINE", Many: true, FromFile: true, Usage: "a response header, for $header; @FILE reads several"},
		{Name: "stderr", Value: "TEXT", FromFile: true, Usage: "$stderr, what a command wrote; @FILE reads it"},
		{Name: "error", Value: "WORD", Words: classes, To: argv.Text(&q.env.Error), Usage: "$error: there was no answer, because of WORD"},
		{Name: "attempt", Value: "N", Default: "1", To: argv.To(&q.env.Attempt, argv.ParseCount(1)), Usage: "$attempt, the attempt's number"},
		{Name: "elapsed", Value: "D", Default: "0", To: argv.To(&q.env.Elapsed, argv.ParseDuration), Usage: "$elapsed, the time since the start"},
		{Name: "unchanged", Value: "D", Default: "0", To: argv.To(&q.env.Unchanged, argv.ParseDuration), Usage: "$unchanged, since the answer last changed"},
		{Name: "print", Value: "EXPR", Usage: "show this value; EXPR becomes optional"},
		argv.HelpFlag(),
	}
	all := q.spec.Command.Flags
	list := slices.Concat(all.Only("each", "id"), all.Only("until", "error-if", "throttled-if", "not-ready-if", "strict", "preset"))
	list[0].Usage = "where the list is, such as .items"
	for i := range list[1:] {
		list[i+1].Needs = "each"
	}
	return append(own, list.In("Elements of a list", 0)...)
}

// A question is a condition, a value, or both, to evaluate for one answer.
type question struct {
	world            World
	spec             *Spec // what the flags say about the elements of a list
	condition, value *expr.Expr
	file             []string // of the answer, or none
	env              expr.Env
	list             *target // whose elements are judged instead, nil for none
}

// read reads the command line, and the answer last.
func (q *question) read(l *argv.Line) (err error) {
	if err := q.readOperands(l); err != nil {
		return err
	}
	if q.env.Error != "" {
		q.env.Doc = expr.Unreadable("there was no answer (" + q.env.Error + ")")
	}
	if q.env.Status != nil || l.Has("header") {
		if q.env.Header, err = readHeaders(l, q.world); err != nil {
			return err
		}
	}
	if l.Has("stderr") {
		if q.env.Stderr, _, err = q.world.readValue(l, "stderr", l.String("stderr"), maxInput); err != nil {
			return err
		}
	}
	return q.readAnswer(l)
}

// readOperands reads --print and the operands. With --print a single operand is the
// file.
func (q *question) readOperands(l *argv.Line) (err error) {
	q.file = l.Operands
	if q.spec.Each != "" {
		return q.readList(l)
	}
	if l.Has("print") {
		if q.value, err = compileValue(l, "print"); err != nil || len(q.file) <= 1 {
			return err
		}
	}
	if len(q.file) == 0 {
		return argv.Usagef("eval needs an expression").Hint(`poll eval '.state == "done"' answer.json`)
	}
	if q.condition, err = expr.Compile(q.file[0], expr.WithEnviron(l.LookupEnv)); err != nil {
		return badExpression("EXPR", err)
	}
	q.file = q.file[1:]
	return nil
}

// readAnswer reads the answer: from the file or, if one is needed, from stdin. A
// terminal is read only if "-" is given.
func (q *question) readAnswer(l *argv.Line) error {
	name := "-"
	switch {
	case q.env.Error != "" && len(q.file) == 0:
		return nil
	case q.env.Error != "":
		return argv.Usagef("with --error there is no answer, but a FILE is given")
	case len(q.file) == 1:
		name = q.file[0]
	case q.list == nil && !needsAnswer(q.condition) && !needsAnswer(q.value):
		return nil
	case q.world.Streams.InIsTerminal:
		return argv.Usagef("there is no answer to look at: give a FILE, or - to type it")
	}
	if name == "-" && slices.Contains(slices.Concat(l.Strings("header"), l.Strings("stderr")), "@-") {
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
	return e != nil && e.Uses().Any(expr.UsesJSON|expr.UsesIsJSON|expr.UsesBody|expr.UsesStdout)
}

// maxReasons is how many lines of a kind are shown.
const maxReasons = 5

// The exit codes of eval that mean something else than for a wait.
const (
	exitFalse   = ExitError
	exitUnknown = ExitAttempts
)

// answer evaluates the expressions. The reasons go to stderr.
func (q *question) answer(ctx context.Context, l *argv.Line, stderr io.Writer) error {
	if q.list != nil {
		return q.judgeList(ctx, l, stderr)
	}
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
		show := truth
		if e == q.value {
			show = valueText
		}
		text, shown := show(r, stderr)
		out, code = out+text, cmp.Or(code, shown)
	}
	if err := l.Write(ctx, out); err != nil || code == ExitSuccess {
		return err
	}
	return &exitError{code}
}

// say writes the first of some lines.
func say(stderr io.Writer, prefix string, lines []string) {
	for _, line := range lines[:min(maxReasons, len(lines))] {
		fmt.Fprintln(stderr, prefix+term.Line(line))
	}
}

// truth returns what stdout says about a condition. The reasons go to stderr.
func truth(r expr.Result, stderr io.Writer) (string, ExitCode) {
	why := r.Explain()
	say(stderr, "", why.Lines)
	say(stderr, "note: ", why.Notes)
	say(stderr, "hint: ", why.Near)
	say(stderr, "hint: ", why.Hints)
	code := map[expr.Tri]ExitCode{expr.False: exitFalse, expr.Unknown: exitUnknown}[r.Tri]
	return r.Tri.String() + "\n", code
}

// valueText returns what stdout says about a value: the same as --print in a wait.
func valueText(r expr.Result, stderr io.Writer) (string, ExitCode) {
	v := r.Value()
	if v.Exists() {
		return v.Text() + "\n", ExitSuccess
	}
	fmt.Fprintln(stderr, "poll: "+term.Line(v.Reason))
	if v.Kind == expr.KindMissing {
		return "", exitFalse
	}
	return "", exitUnknown
}
