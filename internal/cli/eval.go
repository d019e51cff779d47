package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/status/expr"
)

func evalCommand() *command {
	return &command{
		name:     "eval",
		operands: "EXPR [FILE|-]",
		summary:  "try a condition on an answer kept in a file",
		about: "poll eval says whether a condition is true, false or unknown of an answer, and\n" +
			"on stderr why. FILE is the answer: the JSON document, $body and $stdout. With -,\n" +
			"or without FILE where EXPR asks for an answer, it is read from stdin. EXPR alone\n" +
			"decides: that only a good answer can be a SUCCESS is a rule of waits.",
		examples: []example{
			{`poll eval '.state == "done"' answer.json`, ""},
			{`kubectl get pod web-0 -o json | poll eval '.status.phase == "Running"'`, ""},
			{`poll eval '$status == 404 or .items == []' --status 404 answer.json`, ""},
			{`poll eval --print '.items[0].name' answer.json`, ""},
		},
		flags: evalFlags(),
		after: "Exit codes: 0 true, 1 false, 3 unknown, 2 if EXPR does not compile. Of --print\n" +
			"alone: 0 if there is a value, 1 if it is missing, 3 if it is unknown.",
		arguments: func(before []string) completion {
			if len(before) == 0 {
				return completion{kind: offerWords}
			}
			return completion{kind: offerFiles}
		},
		run: func(in *invocation) error { return await(in.ctx, in.eval) },
	}
}

func evalFlags() flags {
	return flags{
		{name: "status", value: "CODE", usage: "$status, the HTTP status code"},
		{name: "exit", value: "CODE", usage: "$exit, a command's exit code"},
		{name: "header", aliases: []string{"H"}, value: "LINE", many: true, fromFile: true, usage: "a response header, for $header; @FILE reads several"},
		{name: "stderr", value: "TEXT", fromFile: true, usage: "$stderr, what a command said; @FILE reads it"},
		{name: "attempt", value: "N", def: "1", usage: "$attempt, the attempt's number"},
		{name: "elapsed", value: "D", def: "0", usage: "$elapsed, the age of the wait"},
		{name: "print", value: "EXPR", usage: "show this value; EXPR may then be left out"},
		helpFlag(),
	}
}

// maxExplained is how many lines say why.
const maxExplained = 5

// A question is what eval is asked: a condition, a value, or both.
type question struct {
	condition, value *expr.Expr
	file             []string // the answer's, or nothing
}

// eval evaluates expressions on one answer.
func (in *invocation) eval() error {
	q, err := in.question()
	if err != nil {
		return err
	}
	env, err := in.evalEnvironment(q)
	if err != nil {
		return err
	}
	var out string
	code := ExitSuccess
	if q.condition != nil {
		r, err := in.evaluate(q.condition, env)
		if err != nil {
			return err
		}
		out, code = in.truth(r)
	}
	if q.value != nil {
		r, err := in.evaluate(q.value, env)
		if err != nil {
			return err
		}
		value, valueCode := in.value(r.Value())
		out, code = out+value, cmp.Or(code, valueCode)
	}
	if err := in.writeOut(out); err != nil || code == ExitSuccess {
		return err
	}
	return &exitError{code}
}

// evaluate fails when a signal comes before the result.
func (in *invocation) evaluate(e *expr.Expr, env *expr.Env) (expr.Result, error) {
	r := e.Eval(env)
	if r.Abandoned() {
		return r, context.Cause(in.ctx)
	}
	return r, nil
}

// question reads --print and the operands. With --print a single operand is the
// file.
func (in *invocation) question() (q question, err error) {
	operands := in.split.operands
	if in.values.IsSet("print") {
		if q.value, err = expr.CompileValue(in.values.String("print")); err != nil {
			return q, badExpression("--print", err)
		}
	}
	if q.value == nil || len(operands) > 1 {
		if len(operands) == 0 {
			return q, usagef("eval needs an expression").hint(`poll eval '.state == "done"' answer.json`)
		}
		if q.condition, err = expr.Compile(operands[0]); err != nil {
			return q, badExpression("EXPR", err)
		}
		operands = operands[1:]
	}
	if len(operands) > 1 {
		return q, surplus(in.split.operands, len(in.split.operands)-len(operands)+1, "eval takes an expression and a file")
	}
	q.file = operands
	return q, nil
}

// needsAnswer reports whether the question can only be answered with an answer
// at hand.
func (q question) needsAnswer() bool {
	for _, e := range []*expr.Expr{q.condition, q.value} {
		if e == nil {
			continue
		}
		if uses := e.Uses(); uses.JSON || uses.IsJSON || uses.Body || uses.Stdout {
			return true
		}
	}
	return false
}

// evalEnvironment is the answer that the flags and the file describe.
func (in *invocation) evalEnvironment(q question) (*expr.Env, error) {
	env, err := in.evalNumbers()
	if err != nil {
		return nil, err
	}
	if err := in.oneStdin(q.file); err != nil {
		return nil, err
	}
	if env.Status != nil || in.values.IsSet("header") {
		if env.Header, err = in.headers(); err != nil {
			return nil, err
		}
	}
	if in.values.IsSet("stderr") {
		if env.Stderr, err = in.evalStderr(); err != nil {
			return nil, err
		}
	}
	return env, in.readAnswer(env, q)
}

func (in *invocation) evalNumbers() (*expr.Env, error) {
	v := in.values
	env := &expr.Env{Context: in.ctx, Attempt: v.count("attempt", 1, 1), Elapsed: v.duration("elapsed", 0)}
	if v.IsSet("exit") {
		env.Exit = new(v.count("exit", 0, 0))
	}
	if v.IsSet("status") {
		env.Status = new(v.count("status", 100, 0))
	}
	return env, v.err
}

// oneStdin refuses to read stdin for two things: the second would get nothing.
func (in *invocation) oneStdin(file []string) error {
	readers := 0
	for _, word := range slices.Concat(in.values.texts("header"), in.values.texts("stderr")) {
		if word == "@-" {
			readers++
		}
	}
	if slices.Contains(file, "-") {
		readers++
	}
	if readers > 1 {
		return usagef("stdin can be read for one thing only")
	}
	return nil
}

func (in *invocation) evalStderr() ([]byte, error) {
	text := in.values.String("stderr")
	name, ok := strings.CutPrefix(text, "@")
	if !ok {
		return []byte(text), nil
	}
	read, err := in.readFile(name, mostInput)
	if err != nil {
		return nil, usagef("--stderr: %w", err)
	}
	return read, nil
}

// readAnswer reads the answer: from the file, or, if one is needed, from stdin.
// A terminal is not waited for unless "-" asks for that.
func (in *invocation) readAnswer(env *expr.Env, q question) error {
	name := "-"
	switch {
	case len(q.file) == 1:
		name = q.file[0]
	case !q.needsAnswer():
		return nil
	case in.Streams.InIsTerminal:
		return usagef("there is no answer to look at: give a FILE, or - to type it")
	}
	body, err := in.readFile(name, mostInput)
	if err != nil {
		e := usagef("read the answer: %w", err)
		if q.condition == nil {
			e.hint("the operand behind --print EXPR is a file: poll eval --print EXPR [FILE]")
		}
		return e
	}
	env.Body, env.Stdout, env.Doc = body, body, expr.NewDoc(body)
	return nil
}

// The exit codes of eval that have another meaning than a wait's.
const (
	exitFalse   = ExitError
	exitUnknown = ExitAttempts
)

// truth is what stdout says of a condition. Why it is so goes to stderr.
func (in *invocation) truth(r expr.Result) (string, ExitCode) {
	for _, line := range r.Explain(maxExplained) {
		fmt.Fprintln(in.Streams.Err, term.Line(line))
	}
	for _, note := range r.Notes() {
		fmt.Fprintln(in.Streams.Err, "note: "+term.Line(note))
	}
	for _, hint := range r.Hints(false) {
		fmt.Fprintln(in.Streams.Err, "hint: "+term.Line(hint))
	}
	code := ExitSuccess
	switch r.Tri {
	case expr.False:
		code = exitFalse
	case expr.Unknown:
		code = exitUnknown
	}
	return r.Tri.String() + "\n", code
}

// value is what stdout says of a value: what --print of a wait prints.
func (in *invocation) value(v expr.Value) (string, ExitCode) {
	if v.Exists() {
		return v.Text() + "\n", ExitSuccess
	}
	fmt.Fprintln(in.Streams.Err, "poll: "+term.Line(v.Reason))
	if v.Kind == expr.KindMissing {
		return "", exitFalse
	}
	return "", exitUnknown
}
