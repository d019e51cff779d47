package report

import (
	"bytes"
	"encoding/base64"
	"encoding/json"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/status"
)

// A Document is the object of --json: what came of a run, whatever it is. It
// is described in docs/outcome.schema.json. Keys that do not apply are left
// out, but status and target, which are null when there is none.
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
	Encoding   string          `json:"encoding,omitempty"` // "base64" when that is what body is
	Notes      []string        `json:"notes,omitempty"`
	prediction
	Timeline []Moment `json:"timeline"`
}

// WriteFailure writes the --json object of a run that never began: a usage
// error, say. It has no status and no target.
func WriteFailure(s *term.Streams, exit int, reason string) error {
	return writeDocument(s, Document{V: 1, Exit: exit, Reason: term.Line(reason), Timeline: []Moment{}})
}

// document describes the outcome of a run.
func document(r Result, exit int, timeline []Moment) Document {
	o := r.Outcome
	d := Document{
		V:        1,
		Status:   statusWord(o.Status),
		Exit:     exit,
		Reason:   reason(&o),
		Target:   new(o.Target),
		Attempts: o.Attempts,
		Elapsed:  seconds(o.Elapsed),
		Notes:    append(notes(&o), hints(o.Verdict)...),
		Timeline: append([]Moment{}, timeline...),

		prediction: predict(r.output.Forecast, o.Age),
	}
	if r.value != nil {
		d.Value = r.value.JSON
	}
	if obs := o.Observation; obs != nil {
		d.HTTPStatus, d.ExitCode = obs.Code, obs.Exit
		d.Body, d.Encoding = bodyJSON(obs)
	}
	return d
}

// statusWord returns a status for JSON: null for none.
func statusWord(s status.Status) *string {
	if s == status.None {
		return nil
	}
	return new(s.String())
}

// bodyJSON returns a body as it stands in JSON: itself when it is JSON,
// otherwise a text, or base64 when it is no text.
func bodyJSON(o *status.Observation) (body json.RawMessage, encoding string) {
	switch {
	case !isText(o.Body):
		return quote(base64.StdEncoding.EncodeToString(o.Body)), "base64"
	case !o.Truncated && json.Valid(o.Body):
		return o.Body, ""
	}
	return quote(string(o.Body)), ""
}

func quote(s string) json.RawMessage {
	b, _ := encode(s) // a string cannot fail
	return bytes.TrimSuffix(b, []byte("\n"))
}

// encode returns v as one line of JSON, with < > & as they are.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

func writeDocument(s *term.Streams, d Document) error {
	b, err := encode(d)
	if err != nil {
		return &ResultError{Err: err}
	}
	return WriteOut(s, b)
}

// Timeline returns the attempts of the run with that target: the first 50 and
// the last 450.
func (r *Reporter) Timeline(target string) []Moment {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.run(target).history.moments()
}
