package ui

import (
	"math"
	"strings"

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
	case poll.EventPlace:
		line = jsonEvent{V: 1, Event: string(ev.Kind), Place: term.Line(ev.Place.Name), Elapsed: seconds(ev.Elapsed),
			Reason: new(term.Line(ev.Place.Reason)), Closed: seconds(max(0, ev.Place.ClosedUntil.Sub(ev.At)))}
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
