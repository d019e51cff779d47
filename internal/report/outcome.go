package report

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"unicode/utf8"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/poll"
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

	apart bool   // the body is no JSON: Body is its stand-in
	plain []byte // the body then
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
		Notes:    remarks(&o),
		Timeline: append([]Moment{}, timeline...),

		prediction: predict(r.output.Forecast, o.Age),
	}
	if r.value != nil {
		d.Value = r.value.JSON
	}
	if obs := o.Observation; obs != nil {
		d.HTTPStatus, d.ExitCode = obs.Code, obs.Exit
		d.setBody(obs)
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

// setBody sets the body as it stands in JSON: itself when it is JSON, otherwise a
// text, or base64 when it is no text.
func (d *Document) setBody(o *status.Observation) {
	if text := isText(o.Body); text && !o.Truncated && json.Valid(o.Body) {
		d.Body = o.Body
		return
	} else if !text {
		d.Encoding = "base64"
	}
	d.Body, d.apart, d.plain = json.RawMessage(standIn), true, o.Body
}

// standIn is what Body is until the document is written: a body that is no JSON
// can be long, and goes out piece by piece. The key and it stand nowhere after the
// body, for there are no quotes in a string of JSON.
const standIn = `"\u0000"`

// writeTo writes the document as a line.
func (d *Document) writeTo(w io.Writer) error {
	line, err := encode(d)
	if err != nil {
		return err
	}
	if !d.apart {
		_, err := w.Write(line)
		return err
	}
	at := bytes.LastIndex(line, []byte(`"body":`+standIn)) + len(`"body":"`)
	buffered := bufio.NewWriterSize(w, pieceSize)
	buffered.Write(line[:at])
	if d.Encoding == "base64" {
		e := base64.NewEncoder(base64.StdEncoding, buffered)
		e.Write(d.plain)
		e.Close()
	} else {
		writeText(buffered, d.plain)
	}
	buffered.Write(line[at+len(standIn)-len(`""`):])
	return buffered.Flush() // has the error of any of them
}

// pieceSize is how much of a text is quoted at once.
const pieceSize = 64 << 10

// writeText writes the inside of a string of JSON. The text is valid UTF-8.
func writeText(w *bufio.Writer, text []byte) {
	for len(text) > 0 {
		n := min(len(text), pieceSize)
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n--
		}
		quoted, _ := encode(string(text[:n])) // a string cannot fail
		if _, err := w.Write(quoted[len(`"`) : len(quoted)-len("\"\n")]); err != nil {
			return
		}
		text = text[n:]
	}
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
	return writeOut(s, d.writeTo)
}

// Timeline returns the attempts of a run: the first 50 and the last 450.
func (r *Reporter) Timeline(id poll.RunID) []Moment {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.run(id).history.moments()
}
