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
	"github.com/pollcli/poll/status/expr"
)

// An Output configures the output of a run on stdout.
type Output struct {
	// Print contains a function for each --print, which evaluates the expression on the last response. The
	// function's error names the expression if its value is missing or unknown. The error is a [*GivenUp] if the
	// deadline or a signal prevented the evaluation. The function may return a missing value without an error:
	// the output contains an empty string for that value, and the JSON contains null. If Print is empty, the output
	// is the response body.
	Print []func(*status.Observation) (expr.Value, error)
	JSON  bool // the output is one object that describes the outcome

	// PerTarget prints a line for each of several targets when it ends, or with JSON a list of all targets. If
	// PerTarget is false, one successful target is enough, and its result is printed as for a single wait.
	PerTarget bool
}

// A GivenUp reports that the deadline passed or a signal arrived before a value was evaluated.
type GivenUp struct {
	Ending poll.Ending
	Cause  error
}

// Error returns the message of the cause.
func (e *GivenUp) Error() string { return e.Cause.Error() }

// A Result is an outcome with the values to print.
type Result struct {
	Outcome poll.Outcome // the outcome of the run; ERROR if the run has succeeded but its result cannot be printed
	output  Output
	values  []expr.Value // one for each function in Output.Print; nil after a failure
}

// Evaluate evaluates the values to print. It must be called before the end of the run is reported: if a value of
// --print is missing, or the response was truncated, the run fails although the operation is done.
func (out Output) Evaluate(o poll.Outcome) Result {
	obs := o.Observation
	if o.Ending != poll.Succeeded || obs == nil {
		return Result{Outcome: o, output: out}
	}
	values, err := out.values(obs)
	if err != nil {
		o.Ending, o.Status, o.Reason = poll.Failed, status.Error, "done, but "+err.Error()
	}
	if e, ok := errors.AsType[*GivenUp](err); ok {
		o.Ending, o.Cause, o.Status = e.Ending, e.Cause, status.NotReady
		o.Verdict.Reason = o.Reason
	}
	return Result{Outcome: o, output: out, values: values}
}

// values returns the values of Print for the response obs. It returns an error if a value is missing, or if the
// body should be printed but was truncated.
func (out Output) values(obs *status.Observation) ([]expr.Value, error) {
	isCut := obs.Truncated && (!obs.StdoutOpen || obs.Size > int64(len(obs.Body)))
	printsBody := len(out.Print) == 0
	if out.JSON {
		printsBody = !out.PerTarget
	}
	if isCut && obs.Failure == nil && printsBody {
		return nil, fmt.Errorf("its response of %d bytes is longer than the %d that are kept", obs.Size, len(obs.Body))
	}
	var values []expr.Value
	for _, print := range out.Print {
		v, err := print(obs)
		if err != nil {
			return nil, err
		}
		values = append(values, v)
	}
	return values, nil
}

// Answer returns the output in plain text: the response body byte for byte, or the value of --print followed by a
// newline. After a failure, it returns nil. If there are several values, or several targets, the values are
// separated by tabs. In such a line, a backslash, tab, newline or carriage return within a value is written as \\,
// \t, \n or \r, like @tsv in jq.
//
// If isTerminal is true, Answer also sanitizes the values in a line with several values, and ends the output with a
// newline.
func (r Result) Answer(isTerminal bool) []byte {
	o, values := r.Outcome, r.values
	switch {
	case o.Ending != poll.Succeeded, len(values) == 0 && o.Observation == nil:
		return nil
	case len(values) == 0 && isTerminal && len(o.Observation.Body) > 0:
		return append(bytes.TrimSuffix(slices.Clip(o.Observation.Body), []byte("\n")), '\n')
	case len(values) == 0:
		return o.Observation.Body
	case len(values) == 1 && !values[0].Exists():
		return nil
	case len(values) == 1 && !r.output.PerTarget:
		return []byte(values[0].Text() + "\n")
	}
	escaped := strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)
	var texts []string
	for _, v := range values {
		text := escaped.Replace(v.Text())
		if isTerminal {
			text = term.Line(text)
		}
		texts = append(texts, text)
	}
	return []byte(strings.Join(texts, "\t") + "\n")
}

// AtEnd reports whether [Reporter.WriteSummary] writes the result of this target, instead of
// [Reporter.WriteTarget].
func (r Result) AtEnd() bool {
	return r.output.JSON || !r.output.PerTarget && r.Outcome.Ending == poll.Succeeded
}

func writeObject(s *term.Streams, object any) error {
	line, err := encode(object)
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return WriteOut(s, line)
}

// WriteOut writes p to stdout and closes stdout, because some file systems report lost data only at the close.
func WriteOut(s *term.Streams, p []byte) error {
	_, err := io.Copy(s.Out, bytes.NewReader(p)) // io.Copy detects short writes
	if err == nil {
		err = s.CloseOut()
	}
	if err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// WriteResult writes the result of a single wait to stdout and closes stdout. With JSON, it writes a [documentJSON].
// Otherwise, it writes [Result.Answer], or nothing after a failure. exit is the exit code of the process.
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
	return WriteOut(r.cfg.Streams, result.Answer(r.cfg.Streams.OutIsTerminal))
}

// WriteTarget writes the result of target number n to stdout, or keeps it for [Reporter.WriteSummary]. exit is the
// exit code of the target, as if it were the only target.
//
// WriteTarget does nothing for a list, which has the number 0, because only its elements have results. It does not
// write a result again that was written in an earlier run. Without --print, it also writes nothing to a terminal
// that shows the targets as status lines.
func (r *Reporter) WriteTarget(n int, result Result, exit int) error {
	if n == 0 {
		return nil
	}
	s, out, o := &r.results, result.output, &result.Outcome
	s.mu.Lock()
	defer s.mu.Unlock()
	target := targetJSON{N: n, Name: o.Target, outcomeJSON: endOf(o).json(exit)}
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
		return r.writeLine(result.Answer(r.cfg.Streams.OutIsTerminal))
	case r.isDrawnOver():
		return nil
	}
	target.V = 1
	target.setBody(o.Observation)
	line, _ := encode(target) // numbers, strings and valid JSON can always be encoded
	return r.writeLine(line)
}

// isDrawnOver reports whether stdout is a terminal and the face Live draws status lines.
func (r *Reporter) isDrawnOver() bool { return r.cfg.Face == Live && r.cfg.Streams.OutIsTerminal }

// writeLine writes a line to stdout. If the status lines are on the same terminal, it draws them again below the
// line.
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
	if _, err := r.cfg.Streams.Out.Write(line); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// WriteSummary completes the output for several targets, and closes stdout. With JSON, it writes a [summaryJSON]. If
// one target was enough, it writes that target's result. exit is the exit code of the process.
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
	}
	return WriteOut(r.cfg.Streams, nil)
}

// WriteFailure writes the --json output of a run that never started, for example because of a usage error. The
// output has no status, ending or target. again is true if the user may run the same command again.
func WriteFailure(s *term.Streams, exit int, again bool, reason string) error {
	return writeObject(s, documentJSON{V: 1, outcomeJSON: outcomeJSON{Exit: exit, Reason: term.Line(reason)}, callAgain: callAgain{Again: again}, Timeline: []moment{}})
}
