package ui

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// An Output sets what a run writes to stdout.
type Output struct {
	// Print evaluates each --print on the last answer. Its error names the expression
	// if the value is missing or unknown, and is a [*GivenUp] if no time was left. If
	// there are none, the whole answer is printed.
	Print []func(*status.Observation) (Value, error)
	JSON  bool // write one object that describes the outcome

	// PerTarget gives each of several targets a line of its own as it ends, and in JSON
	// a place without its answer. Otherwise one target is enough, and its result is
	// printed as that of a single wait.
	PerTarget bool
}

// A Value is what --print found.
type Value struct {
	Text string // as printed, without the newline: text raw, the rest as JSON
	JSON []byte // as JSON
}

// Nothing returns the value of what gives none: it is printed as nothing, and is null as JSON.
func Nothing() Value { return Value{JSON: []byte("null")} }

// A GivenUp reports that the deadline or a signal came before a value.
type GivenUp struct {
	Ending poll.Ending
	Cause  error
}

// Error returns the cause.
func (e *GivenUp) Error() string { return e.Cause.Error() }

// A Result is an outcome together with its output.
type Result struct {
	Outcome poll.Outcome // of the run, or ERROR if its result cannot be printed
	output  Output
	values  []Value // of Output.Print; nil on failure
}

// Evaluate evaluates what is to be printed. It is called before the end is reported:
// a run whose --print value is missing, or whose answer was truncated, has failed
// although the operation is done.
func (out Output) Evaluate(o poll.Outcome) Result {
	obs := o.Observation
	if o.Ending != poll.Succeeded || obs == nil {
		return Result{Outcome: o, output: out}
	}
	values, err := out.values(obs)
	if err != nil {
		o.Ending, o.Status, o.Reason = poll.Failed, status.Error, "it is done, but "+err.Error()
	}
	if e, ok := errors.AsType[*GivenUp](err); ok {
		o.Ending, o.Cause, o.Status = e.Ending, e.Cause, status.NotReady
		o.Verdict.Reason = o.Reason
	}
	return Result{Outcome: o, output: out, values: values}
}

// values evaluates what is to be printed of an answer.
func (out Output) values(obs *status.Observation) ([]Value, error) {
	isCut := obs.Truncated && (!obs.StdoutOpen || obs.Size > int64(len(obs.Body)))
	if isCut && obs.Failure == nil && out.printsBody() {
		return nil, fmt.Errorf("its answer of %d bytes is longer than the %d that are kept", obs.Size, len(obs.Body))
	}
	var values []Value
	for _, print := range out.Print {
		v, err := print(obs)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

// printsBody reports whether the whole answer is part of the output.
func (out Output) printsBody() bool {
	if out.PerTarget {
		return len(out.Print) == 0 && !out.JSON
	}
	return len(out.Print) == 0 || out.JSON
}

// Answer returns the output without JSON: the answer byte for byte, or the value of
// --print and a newline, and nothing on failure. Several values are columns, with a tab in
// between: a backslash, tab, newline or carriage return in one is written as \\, \t, \n or \r, as
// jq's @tsv does. So it is in the line of one of several targets.
func (r Result) Answer() []byte { return r.answer(false) }

// answer returns the [Result.Answer]. On a terminal, columns pass the sanitizer, and a newline ends it.
func (r Result) answer(isTerminal bool) []byte {
	o, values := r.Outcome, r.values
	switch {
	case o.Ending != poll.Succeeded, len(values) == 0 && o.Observation == nil:
		return nil
	case len(values) == 0 && isTerminal && len(o.Observation.Body) > 0:
		return append(bytes.TrimSuffix(slices.Clip(o.Observation.Body), []byte("\n")), '\n')
	case len(values) == 0:
		return o.Observation.Body
	case len(values) == 1 && values[0].Text == "" && string(values[0].JSON) == "null":
		return nil
	case len(values) == 1 && !r.output.PerTarget:
		return []byte(values[0].Text + "\n")
	}
	escaped := strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)
	var texts []string
	for _, v := range values {
		text := escaped.Replace(v.Text)
		if isTerminal {
			text = term.Line(text)
		}
		texts = append(texts, text)
	}
	return []byte(strings.Join(texts, "\t") + "\n")
}

// AtEnd reports whether the result of one of several targets is written by
// [Reporter.WriteSummary].
func (r Result) AtEnd() bool {
	return r.output.JSON || !r.output.PerTarget && r.Outcome.Ending == poll.Succeeded
}

// stdout is what several targets write there, a line at a time.
type stdout struct {
	mu     sync.Mutex // held while a line is written, and taken before that of the Reporter
	begun  bool       // a line was written
	rows   []TargetResult
	winner *TargetResult // that succeeded, where one is enough
}

// WriteResult writes a result to stdout and closes it: the [Result.Answer] or, with
// JSON, the outcome. Without JSON a failure leaves stdout alone. exit is the exit
// code of the process. An error is a [*ResultError].
func (r *Reporter) WriteResult(result Result, exit int) error {
	switch {
	case result.output.JSON:
		return writeObject(r.cfg.Streams, r.document(result, exit))
	case result.Outcome.Ending != poll.Succeeded:
		return nil
	}
	return WriteOut(r.cfg.Streams, result.answer(r.cfg.Streams.OutIsTerminal))
}

// WriteTarget takes the result of the target with number n, which would end a single
// wait with exit: it writes it to stdout, or keeps it for [Reporter.WriteSummary]. A list, whose
// number is 0, has no result but those of its elements. An error is a [*ResultError].
func (r *Reporter) WriteTarget(n int, result Result, exit int) error {
	if n == 0 {
		return nil
	}
	s, out, o := &r.stdout, result.output, &result.Outcome
	s.mu.Lock()
	defer s.mu.Unlock()
	target := TargetResult{N: n, Name: o.Target, outcome: outcomeOf(o, exit)}
	target.setValue(result.values)
	if out.JSON {
		s.rows = append(s.rows, target)
	}
	if !out.PerTarget && s.winner == nil && o.Ending == poll.Succeeded {
		target.result = result
		target.setBody(o.Observation)
		s.winner = &target
	}
	switch {
	case out.JSON, !out.PerTarget, o.Resumed:
		return nil
	case len(out.Print) > 0:
		return r.writeLine(result.answer(r.cfg.Streams.OutIsTerminal))
	}
	target.V = 1
	target.setBody(o.Observation)
	line, _ := encode(target) // never fails for numbers, words and valid JSON
	return r.writeLine(line)
}

// writeLine writes a line to stdout, above what is drawn if that is on the same terminal.
func (r *Reporter) writeLine(line []byte) error {
	if len(line) == 0 {
		return nil
	}
	if r.cfg.Face == Live && r.cfg.Streams.OutIsTerminal {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.inBackground(); r.con.drawn != "" {
			r.con.finish("")
			defer r.draw(time.Now())
		}
	}
	r.stdout.begun = true
	if _, err := r.cfg.Streams.Out.Write(line); err != nil {
		return &ResultError{Err: err}
	}
	return nil
}

// WriteSummary ends the output of several targets: with JSON it writes the [Summary],
// and where one target was enough its result. Then it closes stdout. exit is the exit code of
// the process. An error is a [*ResultError].
func (r *Reporter) WriteSummary(out Output, s poll.Summary, exit int) error {
	r.stdout.mu.Lock()
	defer r.stdout.mu.Unlock()
	switch winner := r.stdout.winner; {
	case out.JSON:
		return writeObject(r.cfg.Streams, r.summaryOf(s, exit))
	case winner != nil:
		return r.WriteResult(winner.result, exit)
	case r.stdout.begun:
		return WriteOut(r.cfg.Streams, nil)
	}
	return nil // nothing was written
}

// summaryOf describes how several targets ended.
func (r *Reporter) summaryOf(s poll.Summary, exit int) Summary {
	r.mu.Lock()
	defer r.mu.Unlock()
	rows := append([]TargetResult{}, r.stdout.rows...)
	slices.SortFunc(rows, func(a, b TargetResult) int { return cmp.Compare(a.N, b.N) })
	return Summary{V: 1, Exit: exit, next: next{Again: r.again(s.Ending)}, outcome: r.outcomeOfAll(&s), Notes: oneLines("", r.notes),
		Targets: rows, Result: r.stdout.winner}
}

// WriteFailure writes the --json object of a run that never began, as on a usage
// error. It has no status, no ending and no target. again reports whether the same command makes sense once more.
func WriteFailure(s *term.Streams, exit int, again bool, reason string) error {
	return writeObject(s, Document{V: 1, outcome: outcome{Exit: exit, Reason: term.Line(reason)}, next: next{Again: again}, Timeline: []Moment{}})
}

// A ResultError reports that writing the result to stdout failed.
type ResultError struct{ Err error }

// Error says what was being done.
func (e *ResultError) Error() string { return fmt.Sprintf("write the result: %v", e.Err) }

// Unwrap returns the cause.
func (e *ResultError) Unwrap() error { return e.Err }

func writeObject(s *term.Streams, object any) error {
	line, err := encode(object)
	if err != nil {
		return &ResultError{Err: err}
	}
	return WriteOut(s, line)
}

// WriteOut writes all of stdout and closes it: some file systems report only then
// that data is lost. An error is a [*ResultError].
func WriteOut(s *term.Streams, p []byte) error {
	_, err := io.Copy(s.Out, bytes.NewReader(p)) // detects a short write
	if err == nil {
		err = s.CloseOut()
	}
	if err != nil {
		return &ResultError{Err: err}
	}
	return nil
}
