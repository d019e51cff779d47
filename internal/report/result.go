package report

import (
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// An Output says what a run leaves on stdout.
type Output struct {
	// Print evaluates --print on the last answer. It fails where the value is
	// missing or unknown, in words that name the expression, and with a
	// [*GivenUp] where there was no time left. Nil: the whole answer is printed.
	Print func(*status.Observation) (Value, error)
	// JSON makes stdout one object that describes the outcome.
	JSON bool
	// Forecast adds to that what was expected. Nil: nothing is known.
	Forecast Forecast
}

// A Value is what --print found.
type Value struct {
	Text string // as it is printed, without the newline: a text raw, the rest as JSON
	JSON []byte // as JSON
}

// A Result is an outcome together with what stdout gets of it.
type Result struct {
	// Outcome is the run's own; but a SUCCESS whose result cannot be printed
	// (see Settle) has become an ERROR.
	Outcome poll.Outcome

	output Output
	value  *Value // nil without --print, and on failure
}

// Settle evaluates what is to be printed. It is called before the end is
// reported: a run whose --print value is missing, or whose answer was longer
// than what was kept of it, has failed although the operation is done.
func (out Output) Settle(o poll.Outcome) Result {
	r := Result{Outcome: o, output: out}
	if o.Ending != poll.Succeeded || o.Observation == nil {
		return r
	}
	if o.Observation.Truncated && (out.Print == nil || out.JSON) {
		r.fail(fmt.Sprintf("it is done, but its answer of %d bytes is longer than the %d that are kept of it",
			o.Observation.Size, len(o.Observation.Body)))
		return r
	}
	if out.Print != nil {
		v, err := out.Print(o.Observation)
		if err != nil {
			r.fail("it is done, but " + err.Error())
			r.giveUp(err)
			return r
		}
		r.value = &v
	}
	return r
}

// fail makes the outcome an ERROR.
func (r *Result) fail(reason string) {
	r.Outcome.Ending = poll.Failed
	r.Outcome.Status = status.Error
	r.Outcome.Reason = reason
}

// A GivenUp is a value that the end of the time or a signal came before.
type GivenUp struct {
	Ending poll.Ending
	Cause  error
}

// Error returns the cause.
func (e *GivenUp) Error() string { return e.Cause.Error() }

// giveUp makes the end that err speaks of that of the outcome.
func (r *Result) giveUp(err error) {
	if e, ok := errors.AsType[*GivenUp](err); ok {
		r.Outcome.Ending, r.Outcome.Cause, r.Outcome.Status = e.Ending, e.Cause, status.NotReady
		r.Outcome.Verdict.Reason = r.Outcome.Reason
	}
}

// Write writes the result to stdout and closes it: on SUCCESS the answer byte
// for byte, or the value of --print and a newline, and nothing on failure; with
// JSON the outcome. exit is the exit code of the process. An error is a
// [*ResultError].
func (r Result) Write(s *term.Streams, exit int, timeline []Moment) error {
	if r.output.JSON {
		return writeDocument(s, document(r, exit, timeline))
	}
	if r.Outcome.Ending != poll.Succeeded {
		return nil
	}
	return WriteOut(s, r.Answer())
}

// Answer is what stdout gets without JSON.
func (r Result) Answer() []byte {
	switch {
	case r.Outcome.Ending != poll.Succeeded:
		return nil
	case r.value != nil:
		return []byte(r.value.Text + "\n")
	case r.Outcome.Observation == nil:
		return nil
	}
	return r.Outcome.Observation.Body
}

// A ResultError says that stdout did not take the result.
type ResultError struct{ Err error }

// Error says what was being done.
func (e *ResultError) Error() string { return fmt.Sprintf("write the result: %v", e.Err) }

// Unwrap returns the cause.
func (e *ResultError) Unwrap() error { return e.Err }

// WriteOut writes all there is for stdout and closes it: some file systems say
// only then that what was written is lost. An error is a [*ResultError].
func WriteOut(s *term.Streams, p []byte) error {
	return writeOut(s, func(w io.Writer) error {
		n, err := w.Write(p)
		if err == nil && n < len(p) {
			err = io.ErrShortWrite
		}
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

// isText reports whether b can be a string in JSON without loss.
func isText(b []byte) bool { return utf8.Valid(b) }
