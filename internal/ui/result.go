package ui

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

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
	// its response. If PerTarget is false, one target is enough, and its result is printed like the result of a
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
// \\, \t, \n or \r, like @tsv of jq.
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

// WriteResult writes a result to stdout and closes stdout: the [Result.Answer] or, with
// JSON, a [Document]. A failure without JSON writes nothing. exit is the exit
// code of the process. An error is a [*ResultError].
func (r *Reporter) WriteResult(result Result, exit int) error {
	switch {
	case result.output.JSON:
		r.mu.Lock()
		document := r.document(result, exit)
		r.mu.Unlock()
		return writeObject(r.cfg.Streams, document)
	case result.Outcome.Ending != poll.Succeeded:
		return nil
	}
	return WriteOut(r.cfg.Streams, result.answer(r.cfg.Streams.OutIsTerminal))
}

// WriteTarget writes the result of the target with number n to stdout, or keeps the result for
// [Reporter.WriteSummary]. exit is the exit code of a single wait for the target. A list, whose number is 0, has
// only the results of its elements. On a terminal with a table of the targets, a result without
// --print is not written. An error is a [*ResultError].
func (r *Reporter) WriteTarget(n int, result Result, exit int) error {
	if n == 0 {
		return nil
	}
	s, out, o := &r.results, result.output, &result.Outcome
	s.mu.Lock()
	defer s.mu.Unlock()
	target := TargetResult{N: n, Name: o.Target, outcomeJSON: endOf(o).json(exit)}
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
	case r.isDrawnOver():
		return nil
	}
	target.V = 1
	target.setBody(o.Observation)
	line, _ := encode(target) // never fails for numbers, texts and valid JSON
	return r.writeLine(line)
}

// isDrawnOver reports whether stdout is a terminal that shows status lines.
func (r *Reporter) isDrawnOver() bool { return r.cfg.Face == Live && r.cfg.Streams.OutIsTerminal }

// writeLine writes a line to stdout, above the status lines if they are on the same terminal.
func (r *Reporter) writeLine(line []byte) error {
	if len(line) == 0 {
		return nil
	}
	if r.isDrawnOver() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.con.inBackground(); r.con.drawn != "" {
			r.con.finish("")
			defer r.draw(time.Now())
		}
	}
	r.results.begun = true
	if _, err := r.cfg.Streams.Out.Write(line); err != nil {
		return &ResultError{Err: err}
	}
	return nil
}

// WriteSummary writes the end of the output of several targets: with JSON the [Summary], and if one
// target was enough its result. Then it closes stdout. exit is the exit code of the process. An error is a
// [*ResultError].
func (r *Reporter) WriteSummary(out Output, s poll.Summary, exit int) error {
	r.results.mu.Lock()
	defer r.results.mu.Unlock()
	switch winner := r.results.winner; {
	case out.JSON:
		r.mu.Lock()
		summary := r.summary(&s, r.results.rows, r.results.winner, exit)
		r.mu.Unlock()
		return writeObject(r.cfg.Streams, summary)
	case winner != nil:
		return r.WriteResult(winner.result, exit)
	case r.results.begun:
		return WriteOut(r.cfg.Streams, nil)
	}
	return nil // nothing was written
}

// WriteFailure writes the --json object of a run that never started, as after a usage
// error. The object has no status, no ending and no target. again reports whether the same command may be run again.
func WriteFailure(s *term.Streams, exit int, again bool, reason string) error {
	return writeObject(s, Document{V: 1, outcomeJSON: outcomeJSON{Exit: exit, Reason: term.Line(reason)}, callAgain: callAgain{Again: again}, Timeline: []Moment{}})
}
