package ui

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// An Output sets the output of a run on stdout.
type Output struct {
	// Print evaluates each --print on the last response. The error names the expression
	// if the value is missing or unknown, and is a [*GivenUp] if no time was left. If
	// Print is empty, the body of the response is printed.
	Print []func(*status.Observation) (Value, error)
	JSON  bool // write one object that describes the outcome

	// PerTarget prints a line for each of several targets as it ends, and with JSON an element without
	// its response. If PerTarget is false, one target is enough, and its result is printed like that of a
	// single wait.
	PerTarget bool
}

// A Value is the value of a --print.
type Value struct {
	Text string // as printed, without the newline: a string raw, any other value as JSON
	JSON []byte // as JSON
}

// Nothing returns the value of an expression without a result. It prints as an empty string, and is null in JSON.
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

// Evaluate evaluates the output. It is called before the end is reported: a run whose --print value is
// missing, or whose response was truncated, has failed although the operation is done.
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

// values evaluates Print on a response.
func (out Output) values(obs *status.Observation) ([]Value, error) {
	isCut := obs.Truncated && (!obs.StdoutOpen || obs.Size > int64(len(obs.Body)))
	if isCut && obs.Failure == nil && out.printsBody() {
		return nil, fmt.Errorf("its response of %d bytes is longer than the %d that are kept", obs.Size, len(obs.Body))
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

// printsBody reports whether the body of the response is part of the output.
func (out Output) printsBody() bool {
	if out.PerTarget {
		return len(out.Print) == 0 && !out.JSON
	}
	return len(out.Print) == 0 || out.JSON
}

// Answer returns the output without JSON: the body of the response byte for byte, or the value of
// --print and a newline. It returns nothing after a failure. Several values, and the values of several targets, are
// columns with a tab between them. A backslash, tab, newline or carriage return in a column is written as
// \\, \t, \n or \r, as jq's @tsv does.
func (r Result) Answer() []byte { return r.answer(false) }

// answer returns the [Result.Answer]. On a terminal, columns pass the sanitizer, and a newline ends the output.
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

// AtEnd reports whether [Reporter.WriteSummary] writes the result of one of several targets.
func (r Result) AtEnd() bool {
	return r.output.JSON || !r.output.PerTarget && r.Outcome.Ending == poll.Succeeded
}

// A ResultError reports that writing the result to stdout failed.
type ResultError struct{ Err error }

// Error returns the cause with its context.
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

// encode returns v as one line of JSON. It does not escape < > &.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}
