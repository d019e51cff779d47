package ui

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A jsonEvent is a line of --progress json. An event of a target has the keys v, event, target, attempt and
// elapsed_s, and with several targets also n and name. Every other key is present only if it applies. See
// docs/event.schema.json.
type jsonEvent struct {
	V       int          `json:"v"`              // the version of the format: 1
	Event   string       `json:"event"`          // the kind of event: wait, start, message, attempt, end, place or goal
	N       int          `json:"n,omitempty"`    // only with several targets
	Name    string       `json:"name,omitempty"` // only with several targets
	Target  *string      `json:"target,omitempty"`
	Place   string       `json:"place,omitempty"`
	Attempt *int         `json:"attempt,omitempty"` // the number of the attempt that is next, starts or has ended; at the end, the number of all attempts
	Elapsed secondsJSON  `json:"elapsed_s"`
	Wait    *secondsJSON `json:"wait_s,omitempty"`
	HeldBy  string       `json:"held_by,omitempty"`  // "gate" or "rate": why a due attempt does not start
	Closed  secondsJSON  `json:"closed_s,omitempty"` // how long attempts at the origin are held back
	Status  any          `json:"status,omitempty"`   // null if a run ends without a status
	Rule    string       `json:"rule,omitempty"`
	Ending  string       `json:"ending,omitempty"` // only in the event "goal"
	Reason  *string      `json:"reason,omitempty"`
	*goalJSON
	Attempts   *int         `json:"attempts,omitempty"` // only in the event "goal"
	HTTPStatus *int         `json:"http_status,omitempty"`
	ExitCode   *int         `json:"exit_code,omitempty"`
	Took       *secondsJSON `json:"took_s,omitempty"`
	messagesJSON
	RetryAfter secondsJSON `json:"hint_s,omitempty"`
	Progress   *float64    `json:"progress,omitempty"` // from 0 to 1
	Show       []any       `json:"show,omitempty"`
	Notes      []string    `json:"notes,omitempty"` // notes and hints on the verdict and on undecided conditions
	predictionJSON
	Objects []objectJSON `json:"objects,omitempty"` // at the end, the objects that are not done
	Error   string       `json:"error,omitempty"`   // why there was no response; after an end without success, the closing lines
}

// object returns the line of JSON for the event ev. It returns "" for a message whose verdict and reason are the
// same as before.
func (v *view) object(row *boardRow, ev poll.Event, found shown) string {
	var line any
	switch ev.Kind {
	case poll.EventOrigin:
		line = jsonEvent{V: 1, Event: string(ev.Kind), Place: term.Line(ev.Origin.Name), Elapsed: seconds(ev.Elapsed),
			Reason: new(term.Line(ev.Origin.Reason)), Closed: seconds(max(0, ev.Origin.ClosedUntil.Sub(ev.At)))}
	case poll.EventGoal:
		all := v.end(nil, ev.Summary, ev.At).json(nil)
		goal := jsonEvent{V: 1, Event: string(ev.Kind), Status: all.Status, Ending: all.Ending, Reason: &all.Reason, goalJSON: all.goalJSON,
			Attempts: &all.Attempts, Elapsed: all.Elapsed, Notes: oneLines("", v.notes)}
		if ev.Summary.Ending != poll.Succeeded {
			goal.Error = strings.Join(v.closing(ev).fromLine(), "\n")
		}
		line = goal
	default:
		news := verdictOf(ev) + " " + row.reason
		if ev.Kind == poll.EventMessage && news == row.logged.text {
			return ""
		}
		row.logged.text = news
		line = v.jsonEvent(row, ev, found)
	}
	text, _ := encode(line) // numbers and strings can always be encoded
	return string(text)
}

// jsonEvent returns the JSON for an event of a target or a list.
func (v *view) jsonEvent(row *boardRow, ev poll.Event, found shown) jsonEvent {
	o := jsonEvent{V: 1, Event: string(ev.Kind), N: row.n, Target: new(term.Line(row.name)), Attempt: new(row.attempt),
		Elapsed: seconds(ev.Elapsed), messagesJSON: messagesOf(ev.State, ev.At)}
	if !v.board.single() { // a list has no number, only a name
		o.Name = *o.Target
	}
	if row.n == 0 {
		o.predictionJSON = predict(v.cfg.Forecast, ev.Age())
	}
	switch ev.Kind {
	case poll.EventWait:
		o.Wait, o.RetryAfter, o.HeldBy = new(seconds(ev.Wait)), waitSeconds(requestedWait(ev)), ev.HeldBy
	case poll.EventAttempt, poll.EventMessage:
		o.setVerdict(ev.Verdict, ev.Verdict.Status, ev.Verdict.Reason, ev.Observation)
		o.Notes, o.Show = corrections(ev.Verdict), found.values
		if ev.Kind == poll.EventAttempt {
			o.Took = new(seconds(ev.Took))
		}
		if found.label != "" {
			o.Progress = new(math.Round(1000*found.share) / 1000)
		}
		o.RetryAfter = waitSeconds(ev.Observation.RetryAfter)
		if f := ev.Observation.Failure; f != nil {
			o.Error = term.Line(f.Reason)
		}
	case poll.EventEnd:
		e := endOf(ev.Outcome)
		o.setVerdict(e.Verdict, e.status(), e.Reason, e.Observation)
		o.Notes, o.Objects = append(hintLines("", e.Verdict.Reason, e.Hints), oneLines("", v.notes)...), objectsOf(e.Verdict)
		if e.Ending != poll.Succeeded {
			o.Error = strings.Join(v.closingOf(e).fromLine(), "\n")
		}
	}
	return o
}

// setVerdict sets the fields for a verdict, and for the response that was evaluated.
func (o *jsonEvent) setVerdict(v status.Verdict, s status.Status, reason string, obs *status.Observation) {
	o.Status, o.Rule, o.Reason = statusWord(s), term.Line(v.Rule), new(term.Line(reason))
	if obs != nil {
		o.HTTPStatus, o.ExitCode = obs.Code, obs.Exit
	}
}

// An outcomeJSON is the JSON for an [end].
type outcomeJSON struct {
	Status *string `json:"status"`
	Ending string  `json:"ending,omitempty"` // missing if the run never started
	Exit   any     `json:"exit,omitempty"`   // null after a cancellation; missing if the document has an exit code for all targets
	Reason string  `json:"reason"`
	*goalJSON
	Attempts int `json:"attempts"`
	messagesJSON
	Elapsed secondsJSON  `json:"elapsed_s"`
	Resumed bool         `json:"resumed,omitempty"` // whether the wait had ended in an earlier run
	Objects []objectJSON `json:"objects,omitempty"` // the objects in the last response that are not done
}

// An objectJSON is the JSON for an object in a response, if a preset evaluates each object separately.
type objectJSON struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Reason string `json:"reason"`
}

// objectsOf returns the objects of a verdict that are not done.
func objectsOf(v status.Verdict) (list []objectJSON) {
	for _, o := range v.Objects {
		if o.Status != status.Success {
			list = append(list, objectJSON{term.Line(o.ID), string(o.Status), term.Line(o.Reason)})
		}
	}
	return list
}

// A goalJSON is the JSON for the goal of several targets, with the number of targets for each ending.
type goalJSON struct {
	Goal   string         `json:"goal"`
	Need   int            `json:"need"`
	Counts map[string]int `json:"counts"` // the number of targets for each ending
}

// A documentJSON is the output of --json for a single wait. See docs/outcome.schema.json. Keys that do not apply are
// omitted, except status and target, which are then null.
type documentJSON struct {
	V int `json:"v"` // the version of the format: 1
	outcomeJSON
	Target     *string `json:"target"`
	HTTPStatus *int    `json:"http_status,omitempty"`
	ExitCode   *int    `json:"exit_code,omitempty"`
	contentJSON
	Notes []string `json:"notes,omitempty"`
	callAgain
	predictionJSON
	Timeline []moment `json:"timeline"`
}

// A targetJSON is the result of one of several targets. Each is a line on stdout. With --json, a targetJSON is
// an element of a [summaryJSON] instead, without the response body. See docs/target.schema.json.
type targetJSON struct {
	V    int    `json:"v,omitempty"` // the version of the format: 1; missing in a summaryJSON
	N    int    `json:"n"`
	Name string `json:"name"`
	outcomeJSON
	contentJSON
	result Result
}

// A summaryJSON is the output of --json for several targets. See docs/summary.schema.json.
type summaryJSON struct {
	V    int `json:"v"` // the version of the format: 1
	Exit int `json:"exit"`
	callAgain
	outcomeJSON
	Notes   []string     `json:"notes,omitempty"` // notes on runs that could not be recorded
	Targets []targetJSON `json:"targets"`
	Result  *targetJSON  `json:"result,omitempty"` // the target that succeeded, if one is enough
}

// A callAgain is the JSON for whether and when the caller should run the same command again.
type callAgain struct {
	Again bool        `json:"again"`
	In    secondsJSON `json:"again_in_s,omitempty"` // how long the server requires the caller to wait first
}

// A messagesJSON is the JSON for the messages of a stream.
type messagesJSON struct {
	Messages int          `json:"messages,omitempty"`
	Age      *secondsJSON `json:"last_message_s,omitempty"` // the time since the last message
}

func messagesOf(s poll.State, now time.Time) (m messagesJSON) {
	if m.Messages = s.Messages; s.Messages > 0 {
		m.Age = new(seconds(max(0, now.Sub(s.Heard))))
	}
	return m
}

// A contentJSON is the JSON for the content of a response.
type contentJSON struct {
	Value    any    `json:"value,omitempty"` // the value of --print; a list if --print is repeated
	Body     any    `json:"body,omitempty"`
	Encoding string `json:"encoding,omitempty"` // "base64" if the body is encoded
}

// json returns the JSON for the end e. exit is the exit code, or nil to omit the exit code. After a cancellation,
// the exit code is always null.
func (e end) json(exit any) outcomeJSON {
	if e.Ending == poll.Cancelled {
		exit = json.RawMessage("null")
	}
	return outcomeJSON{Status: statusWord(e.status()), Ending: meaningOf(e.Ending).key, Exit: exit, Reason: term.Line(e.Reason), goalJSON: e.goal,
		Attempts: e.State.Attempts, messagesJSON: messagesOf(e.State, e.at()), Elapsed: seconds(e.Elapsed),
		Resumed: e.Resumed, Objects: objectsOf(e.Verdict)}
}

// document returns the output of --json for a single wait.
func (v *view) document(result Result, exit int) documentJSON {
	o := &result.Outcome
	e := v.end(o, nil, time.Now())
	d := documentJSON{
		V: 1, outcomeJSON: e.json(exit), Target: &o.Target, Notes: append(hintLines("", o.Verdict.Reason, o.Hints), oneLines("", v.notes)...),
		callAgain: callAgain{e.again, seconds(e.in)}, predictionJSON: predict(v.cfg.Forecast, poll.Event{At: e.at(), State: o.State}.Age()), Timeline: v.board.timeline.kept(),
	}
	d.setValue(result.values)
	d.setBody(o.Observation)
	if obs := o.Observation; obs != nil {
		d.HTTPStatus, d.ExitCode = obs.Code, obs.Exit
	}
	return d
}

// summary returns the output of --json for several targets. winner is the target that was enough, or nil.
func (v *view) summary(s *poll.Summary, targets []targetJSON, winner *targetJSON, exit int) summaryJSON {
	e := v.end(nil, s, time.Now())
	rows := append([]targetJSON{}, targets...)
	slices.SortFunc(rows, func(a, b targetJSON) int { return cmp.Compare(a.N, b.N) })
	return summaryJSON{V: 1, Exit: exit, callAgain: callAgain{e.again, seconds(e.in)}, outcomeJSON: e.json(nil), Notes: oneLines("", v.notes), Targets: rows, Result: winner}
}

// setValue sets the value of --print. It does nothing if values is empty.
func (c *contentJSON) setValue(values []expr.Value) {
	var all []json.RawMessage
	for _, v := range values {
		all = append(all, json.RawMessage(cmp.Or(v.Raw, "null")))
	}
	if len(all) == 1 {
		c.Value = all[0]
	} else if len(all) > 1 {
		c.Value = all
	}
}

// setBody sets the body of the response. A valid JSON body becomes a JSON value, other UTF-8 becomes a string, and
// any other body is encoded in base64.
func (c *contentJSON) setBody(o *status.Observation) {
	switch {
	case o == nil:
	case !utf8.Valid(o.Body):
		c.Body, c.Encoding = o.Body, "base64" // package json encodes a []byte in base64
	case (!o.Truncated || o.StdoutOpen) && json.Valid(o.Body):
		c.Body = json.RawMessage(o.Body)
	default:
		c.Body = string(o.Body)
	}
}

// A predictionJSON is the JSON for a forecast from past runs.
type predictionJSON struct {
	Expected    *secondsJSON `json:"expected_s,omitempty"`       // how long the median run takes
	Probability *float64     `json:"probability_done,omitempty"` // the probability that a run is over at this age
}

func predict(f Forecast, age time.Duration) predictionJSON {
	if f == nil {
		return predictionJSON{}
	}
	return predictionJSON{
		Expected:    new(seconds(f.Quantile(0.5))),
		Probability: new(math.Round(1000*done(f, age)) / 1000),
	}
}

// waitSeconds returns the wait that a server requires, or 0 if asked is nil.
func waitSeconds(asked *status.RetryAfter) secondsJSON {
	return seconds(cmp.Or(asked, new(status.RetryAfter)).Wait)
}

// statusWord returns a status for JSON. It returns nil, which becomes null, for None.
func statusWord(s status.Status) *string {
	if s == status.None {
		return nil
	}
	return new(string(s))
}

// encode returns v as one line of JSON. It does not escape the characters <, > and &.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}
