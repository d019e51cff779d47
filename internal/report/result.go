package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// An Output sets what a run writes to stdout.
type Output struct {
	// Print evaluates --print on the last answer. Its error names the expression if
	// the value is missing or unknown, and is a [*GivenUp] if no time was left. If
	// nil, the whole answer is printed.
	Print func(*status.Observation) (Value, error)
	JSON  bool // write one object that describes the outcome
}

// A Value is what --print found.
type Value struct {
	Text string // as printed, without the newline: text raw, the rest as JSON
	JSON []byte // as JSON
}

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
	value   *Value // nil without --print, and on failure
}

// Settle evaluates what is to be printed. It is called before the end is reported:
// a run whose --print value is missing, or whose answer was truncated, has failed
// although the operation is done.
func (out Output) Settle(o poll.Outcome) Result {
	obs := o.Observation
	if o.Ending != poll.Succeeded || obs == nil {
		return Result{Outcome: o, output: out}
	}
	var value *Value
	var err error
	switch {
	case obs.Truncated && (out.Print == nil || out.JSON):
		err = fmt.Errorf("its answer of %d bytes is longer than the %d that are kept", obs.Size, len(obs.Body))
	case out.Print != nil:
		value = new(Value)
		*value, err = out.Print(obs)
	}
	if err != nil {
		value = nil
		o.Ending, o.Status, o.Reason = poll.Failed, status.Error, "it is done, but "+err.Error()
	}
	if e, ok := errors.AsType[*GivenUp](err); ok {
		o.Ending, o.Cause, o.Status = e.Ending, e.Cause, status.NotReady
		o.Verdict.Reason = o.Reason
	}
	return Result{Outcome: o, output: out, value: value}
}

// Answer returns the output without JSON: the answer byte for byte, or the value of
// --print and a newline, and nothing on failure.
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

// WriteResult writes a result to stdout and closes it: the [Result.Answer] or, with
// JSON, the outcome. Without JSON a failure leaves stdout alone. exit is the exit
// code of the process. An error is a [*ResultError].
func (r *Reporter) WriteResult(result Result, exit int) error {
	if result.output.JSON {
		return writeDocument(r.cfg.Streams, r.document(result, exit))
	}
	if result.Outcome.Ending != poll.Succeeded {
		return nil
	}
	return WriteOut(r.cfg.Streams, result.Answer())
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

// A Document is the object of --json, which describes the outcome of a run. See
// docs/outcome.schema.json. Keys that do not apply are omitted, but status and
// target are null instead.
type Document struct {
	V          int             `json:"v"` // 1
	Status     *string         `json:"status"`
	Exit       int             `json:"exit"`
	Reason     string          `json:"reason"`
	Target     *string         `json:"target"`
	Attempts   int             `json:"attempts"`
	Elapsed    Seconds         `json:"elapsed_s"`
	HTTPStatus *int            `json:"http_status,omitempty"`
	ExitCode   *int            `json:"exit_code,omitempty"`
	Value      json.RawMessage `json:"value,omitempty"`
	Body       json.RawMessage `json:"body,omitempty"`
	Encoding   string          `json:"encoding,omitempty"` // "base64" if body is encoded so
	Notes      []string        `json:"notes,omitempty"`
	prediction
	Timeline []Moment `json:"timeline"`

	text []byte // the body if it is not JSON: Body only marks its place
}

// WriteFailure writes the --json object of a run that never began, as on a usage
// error. It has no status and no target.
func WriteFailure(s *term.Streams, exit int, reason string) error {
	return writeDocument(s, Document{V: 1, Exit: exit, Reason: term.Line(reason), Timeline: []Moment{}})
}

// document describes the outcome of a run.
func (r *Reporter) document(result Result, exit int) Document {
	o := result.Outcome
	d := Document{
		V:        1,
		Status:   statusWord(o.Status),
		Exit:     exit,
		Reason:   term.Line(o.Reason),
		Target:   new(o.Target),
		Attempts: o.Attempts,
		Elapsed:  seconds(o.Elapsed),
		Notes:    remarks(&o),
		Timeline: []Moment{},

		prediction: predict(r.cfg.Forecast, o.Age),
	}
	r.mu.Lock()
	if u := r.runs[o.Run]; u != nil {
		d.Timeline = append(d.Timeline, u.timeline.moments()...)
	}
	r.mu.Unlock()
	if result.value != nil {
		d.Value = result.value.JSON
	}
	if obs := o.Observation; obs != nil {
		d.HTTPStatus, d.ExitCode = obs.Code, obs.Exit
		d.setBody(obs)
	}
	return d
}

// bodyPlace stands for a body that is not JSON. That can be long, so it is written
// piece by piece. The key and its place appear nowhere after the body, since quotes
// in a JSON string are escaped.
const bodyPlace = `"\u0000"`

// setBody sets the body: JSON as it is, otherwise as text, or base64 if it is not
// text.
func (d *Document) setBody(o *status.Observation) {
	d.Body, d.text = json.RawMessage(bodyPlace), o.Body
	switch {
	case len(o.Body) == 0:
		d.Body = json.RawMessage(`""`)
	case !utf8.Valid(o.Body):
		d.Encoding = "base64"
	case !o.Truncated && json.Valid(o.Body):
		d.Body, d.text = o.Body, nil
	}
}

// writeDocument writes a document as a line to stdout and closes it.
func writeDocument(s *term.Streams, d Document) error {
	return writeOut(s, func(w io.Writer) error {
		line, err := encode(d)
		if err != nil {
			return err
		}
		at := bytes.LastIndex(line, []byte(`"body":`+bodyPlace))
		if len(d.text) == 0 {
			_, err := w.Write(line)
			return err
		}
		at += len(`"body":"`)
		b := bufio.NewWriterSize(w, pieceSize)
		b.Write(line[:at])
		writeBody(b, d.text, d.Encoding == "")
		b.Write(line[at+len(bodyPlace)-len(`""`):])
		return b.Flush() // has the error of any of them
	})
}

// pieceSize is how much of a body is written at once: a multiple of 3, so that
// pieces in base64 can be concatenated.
const pieceSize = 48 << 10

// writeBody writes the inside of a JSON string: valid UTF-8 as text, the rest as
// base64.
func writeBody(w *bufio.Writer, body []byte, isText bool) {
	for len(body) > 0 {
		n := min(len(body), pieceSize)
		for isText && n < len(body) && !utf8.RuneStart(body[n]) {
			n--
		}
		var piece any = body[:n]
		if isText {
			piece = string(body[:n])
		}
		quoted, _ := encode(piece) // cannot fail
		if _, err := w.Write(quoted[len(`"`) : len(quoted)-len("\"\n")]); err != nil {
			return
		}
		body = body[n:]
	}
}
