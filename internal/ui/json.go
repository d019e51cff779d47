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
)

// A jsonEvent is an event in JSON. An event of a target has v, event, target, attempt and elapsed_s, and
// with several targets n and name. It has each other key that applies. See docs/event.schema.json.
type jsonEvent struct {
	V       int      `json:"v"`              // 1
	Event   string   `json:"event"`          // wait, start, message, attempt, end, place, goal
	N       int      `json:"n,omitempty"`    // of several targets
	Name    string   `json:"name,omitempty"` // of several targets
	Target  *string  `json:"target,omitempty"`
	Place   string   `json:"place,omitempty"`
	Attempt *int     `json:"attempt,omitempty"` // that is waited for, starts or has ended; at the end the number of attempts
	Elapsed Seconds  `json:"elapsed_s"`
	Wait    *Seconds `json:"wait_s,omitempty"`
	HeldBy  string   `json:"held_by,omitempty"`  // gate, rate
	Closed  Seconds  `json:"closed_s,omitempty"` // an origin
	Status  any      `json:"status,omitempty"`   // null at the end of a run without a status
	Rule    string   `json:"rule,omitempty"`
	Ending  string   `json:"ending,omitempty"` // of the goal
	Reason  *string  `json:"reason,omitempty"`
	*goalJSON
	Attempts   *int     `json:"attempts,omitempty"` // of the goal
	HTTPStatus *int     `json:"http_status,omitempty"`
	ExitCode   *int     `json:"exit_code,omitempty"`
	Took       *Seconds `json:"took_s,omitempty"`
	messagesJSON
	Hint     Seconds  `json:"hint_s,omitempty"`
	Progress *float64 `json:"progress,omitempty"` // from 0 to 1
	Show     []any    `json:"show,omitempty"`
	Notes    []string `json:"notes,omitempty"` // on the verdict and on undecided conditions, and hints
	predictionJSON
	Objects []objectJSON `json:"objects,omitempty"` // at the end: those that are not done
	Error   string       `json:"error,omitempty"`   // the reason for no response; at the end without success, the last words
}

// object returns an event as a line of JSON, "" for a message that reports nothing new.
func (v *view) object(row *Row, ev poll.Event, found shown) string {
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
			goal.Error = strings.Join(v.lastWords(ev).fromLine(), "\n")
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
	text, _ := encode(line) // never fails for numbers and texts
	return string(text)
}

// jsonEvent returns an event of a wait.
func (v *view) jsonEvent(row *Row, ev poll.Event, found shown) jsonEvent {
	o := jsonEvent{V: 1, Event: string(ev.Kind), N: row.n, Target: new(term.Line(row.name)), Attempt: new(row.attempt),
		Elapsed: seconds(ev.Elapsed), messagesJSON: messagesOf(ev.State, ev.At)}
	if !v.board.single() { // a list has no number
		o.Name = *o.Target
	}
	if row.n == 0 {
		o.predictionJSON = predict(v.cfg.Forecast, ev.Age())
	}
	switch ev.Kind {
	case poll.EventWait:
		o.Wait, o.Hint, o.HeldBy = new(seconds(ev.Wait)), hintSeconds(hintOf(ev)), string(ev.HeldBy)
	case poll.EventAttempt, poll.EventMessage:
		o.setVerdict(ev.Verdict, ev.Verdict.Status, ev.Verdict.Reason, ev.Observation)
		o.Notes, o.Show = hints(ev.Verdict), found.values
		if ev.Kind == poll.EventAttempt {
			o.Took = new(seconds(ev.Took))
		}
		if found.label != "" {
			o.Progress = new(math.Round(1000*found.share) / 1000)
		}
		if obs := ev.Observation; obs != nil {
			o.Hint = hintSeconds(obs.Hint)
			if obs.Failure != nil {
				o.Error = term.Line(obs.Failure.Reason)
			}
		}
	case poll.EventEnd:
		e := endOf(ev.Outcome)
		o.setVerdict(e.Verdict, e.status(), e.Reason, e.Observation)
		o.Notes, o.Objects = append(grounds(ev.Outcome, ""), oneLines("", v.notes)...), objectsOf(e.Verdict)
		if e.Ending != poll.Succeeded {
			o.Error = strings.Join(v.wordsOf(e).fromLine(), "\n")
		}
	}
	return o
}

// setVerdict sets the observation and its verdict.
func (o *jsonEvent) setVerdict(v status.Verdict, s status.Status, reason string, obs *status.Observation) {
	o.Status, o.Rule, o.Reason = statusWord(s), term.Line(v.Rule), new(term.Line(reason))
	if obs != nil {
		o.HTTPStatus, o.ExitCode = obs.Code, obs.Exit
	}
}

// An outcomeJSON is an [end] in JSON.
type outcomeJSON struct {
	Status *string `json:"status"`
	Ending string  `json:"ending,omitempty"` // none of a run that never started
	Exit   any     `json:"exit,omitempty"`   // null after a cancellation; none if the document has one for all targets
	Reason string  `json:"reason"`
	*goalJSON
	Attempts int `json:"attempts"`
	messagesJSON
	Elapsed Seconds      `json:"elapsed_s"`
	Resumed bool         `json:"resumed,omitempty"` // the end was in an earlier run
	Objects []objectJSON `json:"objects,omitempty"` // in the last response, that are not done
}

// An objectJSON is an object of a response that a preset evaluates by itself, in JSON.
type objectJSON struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Reason string `json:"reason"`
}

// objectsOf returns the objects that are not done.
func objectsOf(v status.Verdict) (list []objectJSON) {
	for _, o := range v.Objects {
		if o.Status != status.Success {
			list = append(list, objectJSON{term.Line(o.ID), string(o.Status), term.Line(o.Reason)})
		}
	}
	return list
}

// A goalJSON is the goal of several targets, and their numbers by ending, in JSON.
type goalJSON struct {
	Goal   string         `json:"goal"`
	Need   int            `json:"need"`
	Counts map[string]int `json:"counts"` // targets by their endings
}

// A Document is the object of --json for a single wait. See docs/outcome.schema.json. Keys that do not
// apply are omitted, except status and target, which are null.
type Document struct {
	V int `json:"v"` // 1
	outcomeJSON
	Target     *string `json:"target"`
	HTTPStatus *int    `json:"http_status,omitempty"`
	ExitCode   *int    `json:"exit_code,omitempty"`
	contentJSON
	Notes []string `json:"notes,omitempty"`
	callAgain
	predictionJSON
	Timeline []Moment `json:"timeline"`
}

// A TargetResult is the result of one of several targets: a line of stdout and, without
// value and body, an element of a [Summary]. See docs/target.schema.json.
type TargetResult struct {
	V    int    `json:"v,omitempty"` // 1; none in a Summary
	N    int    `json:"n"`
	Name string `json:"name"`
	outcomeJSON
	contentJSON
	result Result
}

// A Summary is the object of --json for several targets. See docs/summary.schema.json.
type Summary struct {
	V    int `json:"v"` // 1
	Exit int `json:"exit"`
	callAgain
	outcomeJSON
	Notes   []string       `json:"notes,omitempty"` // on runs that were not recorded
	Targets []TargetResult `json:"targets"`
	Result  *TargetResult  `json:"result,omitempty"` // of the target that succeeded, if one is enough
}

// A callAgain reports whether and when to run the same command again, in JSON.
type callAgain struct {
	Again bool    `json:"again"`
	In    Seconds `json:"again_in_s,omitempty"` // the rest of the wait that the server asked for
}

// A messagesJSON counts the messages of streams, in JSON.
type messagesJSON struct {
	Messages int      `json:"messages,omitempty"`
	Age      *Seconds `json:"last_message_s,omitempty"` // since the last message
}

func messagesOf(s poll.State, now time.Time) (m messagesJSON) {
	if m.Messages = s.Messages; s.Messages > 0 {
		m.Age = new(seconds(max(0, now.Sub(s.Heard))))
	}
	return m
}

// A contentJSON is the content of a response, in JSON.
type contentJSON struct {
	Value    any    `json:"value,omitempty"` // of --print; a list of several values
	Body     any    `json:"body,omitempty"`
	Encoding string `json:"encoding,omitempty"` // of the body: "base64", or none
}

// json returns the end in JSON. exit is the exit code, or nil.
func (e end) json(exit any) outcomeJSON {
	if e.Ending == poll.Cancelled {
		exit = json.RawMessage("null")
	}
	return outcomeJSON{Status: statusWord(e.status()), Ending: meaningOf(e.Ending).key, Exit: exit, Reason: term.Line(e.Reason), goalJSON: e.goal,
		Attempts: e.State.Attempts, messagesJSON: messagesOf(e.State, e.State.Start.Add(e.Elapsed)), Elapsed: seconds(e.Elapsed),
		Resumed: e.Resumed, Objects: objectsOf(e.Verdict)}
}

// document describes the end of a single wait.
func (v *view) document(result Result, exit int) Document {
	o := &result.Outcome
	e := v.end(o, nil, time.Now())
	d := Document{
		V: 1, outcomeJSON: e.json(exit), Target: &o.Target, Notes: append(grounds(o, ""), oneLines("", v.notes)...),
		callAgain: callAgain{e.again, seconds(e.in)}, predictionJSON: predict(v.cfg.Forecast, ageOf(o)), Timeline: append([]Moment{}, v.board.timeline.moments...),
	}
	d.setValue(result.values)
	d.setBody(o.Observation)
	if obs := o.Observation; obs != nil {
		d.HTTPStatus, d.ExitCode = obs.Code, obs.Exit
	}
	return d
}

// summary describes the end of several targets.
func (v *view) summary(s *poll.Summary, targets []TargetResult, winner *TargetResult, exit int) Summary {
	e := v.end(nil, s, time.Now())
	rows := append([]TargetResult{}, targets...)
	slices.SortFunc(rows, func(a, b TargetResult) int { return cmp.Compare(a.N, b.N) })
	return Summary{V: 1, Exit: exit, callAgain: callAgain{e.again, seconds(e.in)}, outcomeJSON: e.json(nil), Notes: oneLines("", v.notes), Targets: rows, Result: winner}
}

// setValue sets the value of --print, if there is a value.
func (c *contentJSON) setValue(values []Value) {
	var all []json.RawMessage
	for _, v := range values {
		all = append(all, v.JSON)
	}
	if len(all) == 1 {
		c.Value = all[0]
	} else if len(all) > 1 {
		c.Value = all
	}
}

// setBody sets the body of a response: as JSON, as a string, or in base64 if the body is not
// UTF-8.
func (c *contentJSON) setBody(o *status.Observation) {
	switch {
	case o == nil:
	case !utf8.Valid(o.Body):
		c.Body, c.Encoding = o.Body, "base64" // as encoding/json encodes bytes
	case (!o.Truncated || o.StdoutOpen) && json.Valid(o.Body):
		c.Body = json.RawMessage(o.Body)
	default:
		c.Body = string(o.Body)
	}
}

// A predictionJSON is a forecast in JSON.
type predictionJSON struct {
	Expected    *Seconds `json:"expected_s,omitempty"`       // the median run
	Probability *float64 `json:"probability_done,omitempty"` // at this age
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

// ageOf returns how long the operation had been running at the end, 0 if that is unknown. The end of
// a resumed wait is older than its event.
func ageOf(o *poll.Outcome) time.Duration {
	if o.State.Began.IsZero() {
		return 0
	}
	return o.Elapsed - o.State.Began.Sub(o.State.Start)
}

func hintSeconds(h *status.Hint) Seconds {
	if h == nil {
		return 0
	}
	return seconds(h.Wait)
}

// statusWord returns a status for JSON, nil for None.
func statusWord(s status.Status) *string {
	if s == status.None {
		return nil
	}
	return new(string(s))
}

// encode returns v as one line of JSON. It does not escape < > &.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}
