package ui

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// A jsonEvent is an event of a run in JSON. An event of a target has v, event, target, attempt and
// elapsed_s; with several targets also n and name; the other keys where they apply. See
// docs/event.schema.json.
type jsonEvent struct {
	V          int      `json:"v"`              // 1
	Event      string   `json:"event"`          // wait, start, message, attempt, end, place
	N          int      `json:"n,omitempty"`    // of several targets
	Name       string   `json:"name,omitempty"` // likewise
	Target     *string  `json:"target,omitempty"`
	Place      string   `json:"place,omitempty"`
	Attempt    *int     `json:"attempt,omitempty"` // waiting, started or ended; at the end the number made
	Elapsed    Seconds  `json:"elapsed_s"`
	Wait       *Seconds `json:"wait_s,omitempty"`
	HeldBy     string   `json:"held_by,omitempty"`  // gate, rate
	Closed     *Seconds `json:"closed_s,omitempty"` // a place
	Status     any      `json:"status,omitempty"`   // a word; null at the end of a run that has none
	Rule       string   `json:"rule,omitempty"`
	Reason     *string  `json:"reason,omitempty"`
	HTTPStatus *int     `json:"http_status,omitempty"`
	ExitCode   *int     `json:"exit_code,omitempty"`
	Took       *Seconds `json:"took_s,omitempty"`
	messages
	Hint     *Seconds `json:"hint_s,omitempty"`
	Progress *float64 `json:"progress,omitempty"` // from 0 to 1
	Show     []any    `json:"show,omitempty"`
	Notes    []string `json:"notes,omitempty"` // on the verdict and conditions never decided, and hints
	prediction
	Objects []object `json:"objects,omitempty"` // at the end, that are not done
	Error   string   `json:"error,omitempty"`   // why there was no answer; for a failed run, the closing words
}

// A jsonGoal is an EventGoal in JSON.
type jsonGoal struct {
	V     int    `json:"v"`
	Event string `json:"event"`
	outcome
	Notes []string `json:"notes,omitempty"` // on what was not remembered
	Error string   `json:"error,omitempty"` // the closing words if the goal was not reached
}

// object is the face for programs: it writes an event as an object on a line, and nothing else
// is on stderr.
func (r *Reporter) object(row *Row, ev poll.Event, found reading) {
	var line any
	switch ev.Kind {
	case poll.EventPlace:
		place := jsonEvent{V: 1, Event: string(ev.Kind), Place: term.Line(ev.Place.Name), Elapsed: seconds(ev.Elapsed),
			Reason: new(term.Line(ev.Place.Reason))}
		if left := ev.Place.ClosedUntil.Sub(ev.At); left > 0 {
			place.Closed = new(seconds(left))
		}
		line = place
	case poll.EventGoal:
		goal := jsonGoal{V: 1, Event: string(ev.Kind), outcome: r.outcomeOfAll(ev.Summary), Notes: oneLines("", r.notes)}
		if !r.succeeded(ev) {
			goal.Error = strings.Join(r.closing(ev), "\n")
		}
		line = goal
	default:
		said := verdictOf(ev) + " " + row.reason
		if ev.Kind == poll.EventMessage && said == row.logged.text {
			return
		}
		row.logged.text = said
		line = r.jsonEvent(row, ev, found)
	}
	if text, err := encode(line); err == nil { // never fails for numbers and words
		r.con.say(string(text))
	}
}

// jsonEvent returns an event of a run.
func (r *Reporter) jsonEvent(row *Row, ev poll.Event, found reading) jsonEvent {
	o := jsonEvent{V: 1, Event: string(ev.Kind), N: row.n, Target: new(term.Line(row.name)), Attempt: new(row.attempt),
		Elapsed: seconds(ev.Elapsed), messages: messagesOf(ev.State, ev.At)}
	if !r.board.single() { // a list has no number
		o.Name = *o.Target
	}
	if row.n == 0 {
		o.prediction = predict(r.cfg.Forecast, ev.Age())
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
		out := ev.Outcome
		o.setVerdict(out.Verdict, statusAtEnd(out), out.Reason, out.Observation)
		o.Notes, o.Objects = append(grounds(out, ""), oneLines("", r.notes)...), objectsOf(out.Verdict)
		if out.Ending != poll.Succeeded {
			o.Error = strings.Join(r.closingOf(out), "\n")
		}
	}
	return o
}

// setVerdict fills in the observation and what it means.
func (o *jsonEvent) setVerdict(v status.Verdict, s status.Status, reason string, obs *status.Observation) {
	o.Status, o.Rule, o.Reason = statusWord(s), term.Line(v.Rule), new(term.Line(reason))
	if obs != nil {
		o.HTTPStatus, o.ExitCode = obs.Code, obs.Exit
	}
}

// Seconds is a number of seconds in JSON, to the millisecond.
type Seconds float64

func seconds(d time.Duration) Seconds {
	return Seconds(math.Round(d.Seconds()*1000) / 1000)
}

func hintSeconds(h *status.Hint) *Seconds {
	if h == nil {
		return nil
	}
	return new(seconds(h.Wait))
}

// statusWord returns a status for JSON: null for none.
func statusWord(s status.Status) *string {
	if s == status.None {
		return nil
	}
	return new(string(s))
}

// encode returns v as one line of JSON, with < > & as they are.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}
