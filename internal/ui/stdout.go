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

// Settle evaluates what is to be printed. It is called before the end is reported:
// a run whose --print value is missing, or whose answer was truncated, has failed
// although the operation is done.
func (out Output) Settle(o poll.Outcome) Result {
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
	if obs.Truncated && out.printsBody() {
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
// --print and a newline, and nothing on failure. Several values are columns, with a
// tab in between.
func (r Result) Answer() []byte {
	switch {
	case r.Outcome.Ending != poll.Succeeded:
		return nil
	case len(r.values) == 1 && r.values[0].Text == "" && string(r.values[0].JSON) == "null":
		return nil
	case len(r.values) > 0:
		return []byte(tabbed(r.values, strings.Clone) + "\n")
	case r.Outcome.Observation == nil:
		return nil
	}
	return r.Outcome.Observation.Body
}

// tabbed joins values by tabs. Where there are several, a backslash, tab, newline
// or carriage return in one is written as \\, \t, \n or \r, as jq's @tsv does.
func tabbed(values []Value, shown func(string) string) string {
	if len(values) == 1 {
		return values[0].Text
	}
	escaped := strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)
	var texts []string
	for _, v := range values {
		texts = append(texts, shown(escaped.Replace(v.Text)))
	}
	return strings.Join(texts, "\t")
}

// AtEnd reports whether the result of one of several targets is written by
// [Reporter.WriteSummary].
func (r Result) AtEnd() bool {
	return r.output.JSON || !r.output.PerTarget && r.Outcome.Ending == poll.Succeeded
}

// stdout is what several targets write there.
type stdout struct {
	mu     sync.Mutex
	begun  bool // a line was written
	rows   []TargetResult
	winner *Result // that succeeded, where one is enough
	number int     // the winner's
}

// WriteResult writes a result to stdout and closes it: the [Result.Answer] or, with
// JSON, the outcome. Without JSON a failure leaves stdout alone. exit is the exit
// code of the process. An error is a [*ResultError].
func (r *Reporter) WriteResult(result Result, exit int) error {
	if result.output.JSON {
		return writeObject(r.cfg.Streams, r.document(result, exit))
	}
	if result.Outcome.Ending != poll.Succeeded {
		return nil
	}
	return WriteOut(r.cfg.Streams, r.answer(result))
}

// answer returns the [Result.Answer] as it is written to stdout: columns are for people
// there if that is a terminal, and pass the sanitizer.
func (r *Reporter) answer(result Result) []byte {
	if !r.cfg.Streams.OutIsTerminal || len(result.values) < 2 {
		return result.Answer()
	}
	return []byte(tabbed(result.values, term.Line) + "\n")
}

// WriteTarget takes the result of the target with number n, which would end a single
// wait with exit: it writes it to stdout, or keeps it for [Reporter.WriteSummary]. A list, whose
// number is 0, has no result but those of its elements. An error is a [*ResultError].
func (r *Reporter) WriteTarget(n int, result Result, exit int) error {
	s := &r.stdout
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case n == 0:
		return nil
	case result.output.JSON:
		s.rows = append(s.rows, targetResult(n, result, exit))
	}
	if !result.output.PerTarget && s.winner == nil && result.Outcome.Ending == poll.Succeeded {
		s.winner, s.number = &result, n
	}
	line := r.line(n, result, exit)
	if len(line) == 0 {
		return nil
	}
	s.begun = true
	if err := r.writeLine(line); err != nil {
		return &ResultError{Err: err}
	}
	return nil
}

// line returns what a target writes as it ends, nothing if it writes nothing.
func (r *Reporter) line(n int, result Result, exit int) []byte {
	out, o := result.output, result.Outcome
	switch {
	case out.JSON || !out.PerTarget || o.Resumed:
		return nil
	case len(out.Print) > 1:
		return r.answer(result)
	}
	object := targetResult(n, result, exit)
	object.V = 1
	if len(out.Print) == 0 && o.Observation != nil {
		object.setBody(o.Observation)
	}
	line, _ := encode(object) // never fails for numbers, words and valid JSON
	return line
}

// writeLine writes a line to stdout, above what is drawn if that is on the same terminal.
func (r *Reporter) writeLine(line []byte) (err error) {
	write := func() { _, err = r.cfg.Streams.Out.Write(line) }
	if r.cfg.Face != Live || !r.cfg.Streams.OutIsTerminal {
		write()
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inBackground()
	r.con.around(write)
	return err
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
		return r.WriteResult(*winner, exit)
	case r.stdout.begun:
		return WriteOut(r.cfg.Streams, nil)
	}
	return nil // nothing was written
}

// summaryOf describes how several targets ended.
func (r *Reporter) summaryOf(s poll.Summary, exit int) Summary {
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.SortFunc(r.stdout.rows, func(a, b TargetResult) int { return cmp.Compare(a.N, b.N) })
	d := Summary{V: 1, Exit: exit, groupEnd: r.groupEnd(&s), Targets: append([]TargetResult{}, r.stdout.rows...)}
	if winner := r.stdout.winner; winner != nil {
		line := targetResult(r.stdout.number, *winner, 0)
		if o := winner.Outcome.Observation; o != nil {
			line.setBody(o)
		}
		d.Result = &line
	}
	return d
}

// WriteFailure writes the --json object of a run that never began, as on a usage
// error. It has no status, no ending and no target.
func WriteFailure(s *term.Streams, exit int, reason string) error {
	return writeObject(s, Document{V: 1, end: end{Exit: &exit, Reason: term.Line(reason)}, Timeline: []Moment{}})
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
