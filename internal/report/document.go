package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/status"
)

// A Document is the object of --json, which describes the outcome of a run. See
// docs/outcome.schema.json. Keys that do not apply are omitted, but status and
// target are null instead.
type Document struct {
	V        int     `json:"v"` // 1
	Status   *string `json:"status"`
	Exit     int     `json:"exit"`
	Reason   string  `json:"reason"`
	Target   *string `json:"target"`
	Attempts int     `json:"attempts"`
	*sharing
	Elapsed    Seconds `json:"elapsed_s"`
	Resumed    bool    `json:"resumed,omitempty"` // it had ended in an earlier run
	HTTPStatus *int    `json:"http_status,omitempty"`
	ExitCode   *int    `json:"exit_code,omitempty"`
	content
	Notes []string `json:"notes,omitempty"`
	prediction
	Latency  *latency `json:"latency,omitempty"` // of the attempts in the timeline
	Timeline []Moment `json:"timeline"`
}

// A content is what an answer holds, in JSON.
type content struct {
	Value    json.RawMessage `json:"value,omitempty"` // of --print; a list if there are several
	Body     json.RawMessage `json:"body,omitempty"`
	Encoding string          `json:"encoding,omitempty"` // "base64" if body is encoded so

	text   []byte // the body: Body only marks its place
	isJSON bool   // text is JSON
}

// WriteFailure writes the --json object of a run that never began, as on a usage
// error. It has no status and no target.
func WriteFailure(s *term.Streams, exit int, reason string) error {
	d := Document{V: 1, Exit: exit, Reason: term.Line(reason), Timeline: []Moment{}}
	return writeOut(s, func(w io.Writer) error { return writeObject(w, d, d.content) })
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
		Attempts: o.State.Attempts,
		sharing:  r.sharing(o.State.Attempts, o.State.Taken, o.State.Alone),
		Elapsed:  seconds(o.Elapsed),
		Resumed:  o.Resumed,
		Notes:    remarks(&o),
		Timeline: []Moment{},

		prediction: predict(r.cfg.Forecast, ageOf(o)),
	}
	r.mu.Lock()
	d.Notes = append(d.Notes, oneLines("", r.said)...)
	if r.run != nil {
		d.Timeline = append(d.Timeline, r.run.timeline.moments()...)
	}
	if r.run != nil && r.run.attempt != nil {
		if isOfServer(r.run.attempt.Observation) {
			d.Latency = new(latencyOf(made(slices.Clone(d.Timeline))))
		}
	}
	r.mu.Unlock()
	d.setValue(result.values)
	if obs := o.Observation; obs != nil {
		d.HTTPStatus, d.ExitCode = obs.Code, obs.Exit
		d.setBody(obs)
	}
	return d
}

// bodyPlace stands for a body. That can be long, so it is written piece by piece, and not
// read again if it is known to be JSON. The key and its place appear nowhere after the
// body, since quotes in a JSON string are escaped.
const bodyPlace = `"\u0000"`

// setValue sets the value, if there are any.
func (c *content) setValue(values []Value) {
	var all []json.RawMessage
	for _, v := range values {
		all = append(all, v.JSON)
	}
	switch len(all) {
	case 0:
	case 1:
		c.Value = all[0]
	default:
		c.Value, _ = encode(all) // valid JSON, each of them
	}
}

// setBody sets the body: JSON as it is, otherwise as text, or base64 if it is not
// text.
func (c *content) setBody(o *status.Observation) {
	c.Body, c.text = json.RawMessage(bodyPlace), o.Body
	switch {
	case len(o.Body) == 0:
		c.Body = json.RawMessage(`""`)
	case !utf8.Valid(o.Body):
		c.Encoding = "base64"
	case !o.Truncated:
		isElement := o.Within != nil && o.Presence == status.Present // of an answer that was read
		c.isJSON = isElement || json.Valid(o.Body)
	}
}

// writeObject writes an object as a line: at once, unless there is a body longer than
// maxWhole. c is the last content in it.
func writeObject(w io.Writer, object any, c content) error {
	line, err := encode(object)
	if err != nil {
		return err
	}
	if len(c.text) == 0 {
		_, err := w.Write(line)
		return err
	}
	at := bytes.LastIndex(line, []byte(`"body":`+bodyPlace)) + len(`"body":`)
	size := len(c.text)
	if !c.isJSON {
		size *= maxEscaped
	}
	b := bufio.NewWriterSize(w, len(line)+min(size, pieceSize))
	b.Write(line[:at])
	if c.isJSON {
		writeCompact(b, c.text)
	} else {
		b.WriteByte('"')
		writeBody(b, c.text, c.Encoding == "")
		b.WriteByte('"')
	}
	b.Write(line[at+len(bodyPlace):])
	return b.Flush() // has the error of any of them
}

// pieceSize is how much of a body is written at once: a multiple of 3, so that
// pieces in base64 can be concatenated.
const pieceSize = maxEscaped * maxWhole

// maxWhole is the longest body that is written at once with its line, whatever it holds;
// maxEscaped is how long a byte of it can get.
const maxWhole, maxEscaped = 8 << 10, len(`\u0000`)

// writeCompact writes JSON without the space between its tokens.
func writeCompact(w *bufio.Writer, text []byte) {
	from, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case !quoted && c <= ' ':
			w.Write(text[from:i])
			from = i + 1
		}
	}
	w.Write(text[from:])
}

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
