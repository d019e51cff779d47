package ui

import (
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// An outcome is how a run, one of its targets, or all of them together ended, in JSON.
type outcome struct {
	Status *string `json:"status"`
	Ending string  `json:"ending,omitempty"` // none of a run that never began
	Exit   any     `json:"exit,omitempty"`   // null if it was cancelled, none where all targets have one
	Reason string  `json:"reason"`
	*goal
	Attempts int `json:"attempts"`
	messages
	Elapsed Seconds  `json:"elapsed_s"`
	Resumed bool     `json:"resumed,omitempty"` // it had ended in an earlier run
	Objects []object `json:"objects,omitempty"` // in the last answer, that are not done
}

// An object is one of the objects that a preset judges, in JSON.
type object struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Reason string `json:"reason"`
}

// objectsOf describes the objects that are not done.
func objectsOf(v status.Verdict) (list []object) {
	for _, o := range v.Objects {
		if o.Status != status.Success {
			list = append(list, object{term.Line(o.ID), string(o.Status), term.Line(o.Reason)})
		}
	}
	return list
}

// A goal is the goal of several targets, in JSON, and how many of them ended in which way.
type goal struct {
	Goal   string         `json:"goal"`
	Need   int            `json:"need"`
	Counts map[string]int `json:"counts"` // of targets, by their endings
}

// A Document is the object of --json, which describes the outcome of a run. See
// docs/outcome.schema.json. Keys that do not apply are omitted, but status and
// target are null instead.
type Document struct {
	V int `json:"v"` // 1
	outcome
	Target     *string `json:"target"`
	HTTPStatus *int    `json:"http_status,omitempty"`
	ExitCode   *int    `json:"exit_code,omitempty"`
	content
	Notes []string `json:"notes,omitempty"`
	next
	prediction
	Timeline []Moment `json:"timeline"`
}

// A TargetResult is the result of one of several targets: a line of stdout and, without
// value and body, an element of [Summary]. See docs/target.schema.json.
type TargetResult struct {
	V    int    `json:"v,omitempty"` // 1; none in a Summary
	N    int    `json:"n"`
	Name string `json:"name"`
	outcome
	content
	result Result
}

// A Summary is the object of --json for several targets. See docs/summary.schema.json.
type Summary struct {
	V    int `json:"v"` // 1
	Exit int `json:"exit"`
	next
	outcome
	Notes   []string       `json:"notes,omitempty"` // on what was not remembered
	Targets []TargetResult `json:"targets"`
	Result  *TargetResult  `json:"result,omitempty"` // of the one that succeeded, where one is enough
}

// A next says whether and when to call again, in JSON.
type next struct {
	Again bool     `json:"again"`                // the same command makes sense once more
	In    *Seconds `json:"again_in_s,omitempty"` // what is left of the wait that the server asked for
}

// What is known of the messages of streams, in JSON.
type messages struct {
	Messages int      `json:"messages,omitempty"`
	Age      *Seconds `json:"last_message_s,omitempty"` // since the last of them
}

func messagesOf(s poll.State, now time.Time) (m messages) {
	if m.Messages = s.Messages; s.Messages > 0 {
		m.Age = new(seconds(max(0, now.Sub(s.Heard))))
	}
	return m
}

// A content is what an answer holds, in JSON.
type content struct {
	Value    any    `json:"value,omitempty"` // of --print; a list if there are several
	Body     any    `json:"body,omitempty"`
	Encoding string `json:"encoding,omitempty"` // "base64" if body is encoded so
}

// outcomeOf describes how a run ended; exit is nil for all targets together.
func outcomeOf(o *poll.Outcome, exit any) outcome {
	if o.Ending == poll.Cancelled {
		exit = json.RawMessage("null")
	}
	return outcome{Status: statusWord(statusAtEnd(o)), Ending: meaningOf(o.Ending).key, Exit: exit, Reason: term.Line(o.Reason),
		Attempts: o.State.Attempts, messages: messagesOf(o.State, o.State.Start.Add(o.Elapsed)), Elapsed: seconds(o.Elapsed),
		Resumed: o.Resumed, Objects: objectsOf(o.Verdict)}
}

// document describes the outcome of a run.
func (r *Reporter) document(result Result, exit int) Document {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := &result.Outcome
	d := Document{
		V: 1, outcome: outcomeOf(o, exit), Target: &o.Target, Notes: append(grounds(o, ""), oneLines("", r.notes)...),
		prediction: predict(r.cfg.Forecast, ageOf(o)), Timeline: append([]Moment{}, r.board.history.moments...),
	}
	d.Again = r.again(o.Ending)
	if in := againIn(o, time.Now()); d.Again && in > 0 {
		d.In = new(seconds(in))
	}
	d.setValue(result.values)
	d.setBody(o.Observation)
	if obs := o.Observation; obs != nil {
		d.HTTPStatus, d.ExitCode = obs.Code, obs.Exit
	}
	return d
}

// outcomeOfAll describes how several targets ended.
func (r *Reporter) outcomeOfAll(s *poll.Summary) outcome {
	counts, ended := map[string]int{}, r.board.endings()
	for _, e := range meanings() {
		counts[e.key] = ended[e.ending]
	}
	o := r.ended(poll.Event{Summary: s})
	all := outcomeOf(o, nil)
	all.Reason, all.goal = o.Reason, &goal{r.cfg.Goal, s.Need, counts}
	return all
}

// setValue sets the value, if there are any.
func (c *content) setValue(values []Value) {
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

// setBody sets the body, if there is any: JSON as it is, otherwise as text, or base64 if it is
// not text.
func (c *content) setBody(o *status.Observation) {
	switch {
	case o == nil:
	case !utf8.Valid(o.Body):
		c.Body, c.Encoding = o.Body, "base64" // as bytes are encoded
	case (!o.Truncated || o.StdoutOpen) && json.Valid(o.Body):
		c.Body = json.RawMessage(o.Body)
	default:
		c.Body = string(o.Body)
	}
}
