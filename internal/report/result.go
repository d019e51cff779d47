package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pollcli/poll/internal/term"
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
	// Lost is called, unless it is nil, when a target's result cannot be written, which
	// may be long before the next one. It is called once, on another goroutine, with a
	// [*ResultError].
	Lost func(error)
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
		return []byte(columns(r.values) + "\n")
	case r.Outcome.Observation == nil:
		return nil
	}
	return r.Outcome.Observation.Body
}

// columns joins values by tabs. Where there are several, a backslash, tab, newline
// or carriage return in one is written as \\, \t, \n or \r, as jq's @tsv does.
func columns(values []Value) string {
	if len(values) == 1 {
		return values[0].Text
	}
	escaped := strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)
	var texts []string
	for _, v := range values {
		texts = append(texts, escaped.Replace(v.Text))
	}
	return strings.Join(texts, "\t")
}

// WriteResult writes a result to stdout and closes it: the [Result.Answer] or, with
// JSON, the outcome. Without JSON a failure leaves stdout alone. exit is the exit
// code of the process. An error is a [*ResultError].
func (r *Reporter) WriteResult(result Result, exit int) error {
	if result.output.JSON {
		d := r.document(result, exit)
		return writeOut(r.cfg.Streams, func(w io.Writer) error { return writeObject(w, d, d.content) })
	}
	if result.Outcome.Ending != poll.Succeeded {
		return nil
	}
	return WriteOut(r.cfg.Streams, r.answer(result))
}

// answer returns the [Result.Answer] as it is written to stdout: columns are for people
// there if that is a terminal, and pass the sanitizer.
func (r *Reporter) answer(result Result) []byte {
	answer := result.Answer()
	if !r.cfg.Streams.OutIsTerminal || len(result.values) < 2 || len(answer) == 0 {
		return answer
	}
	texts := strings.Split(strings.TrimSuffix(string(answer), "\n"), "\t")
	for i := range texts {
		texts[i] = term.Line(texts[i])
	}
	return []byte(strings.Join(texts, "\t") + "\n")
}

// A ResultError reports that writing the result to stdout failed.
type ResultError struct{ Err error }

// Error says what was being done.
func (e *ResultError) Error() string { return fmt.Sprintf("write the result: %v", e.Err) }

// Unwrap returns the cause.
func (e *ResultError) Unwrap() error { return e.Err }

// WriteOut writes all of stdout and closes it: some file systems report only then
// that data is lost. An error is a [*ResultError].
func WriteOut(s *term.Streams, p []byte) error {
	return writeOut(s, func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(p)) // detects a short write
		return err
	})
}

func writeOut(s *term.Streams, write func(io.Writer) error) error {
	err := write(s.Out)
	if err == nil {
		err = s.CloseOut()
	}
	if err != nil {
		return &ResultError{Err: err}
	}
	return nil
}
