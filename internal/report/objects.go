package report

import (
	"strings"
	"time"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/poll"
)

// objects is the face for programs: one JSON object per event, one per line,
// and nothing else on stderr. docs/event.schema.json describes them.
type objects struct{ r *Reporter }

// An object is an event in JSON. The first five keys are in every one, the
// others where they apply.
type object struct {
	V          int      `json:"v"`     // 1
	Event      string   `json:"event"` // wait, start, attempt, end
	Target     string   `json:"target"`
	Attempt    int      `json:"attempt"` // waited for, begun or ended; at the end how many were made
	Elapsed    Seconds  `json:"elapsed_s"`
	Wait       *Seconds `json:"wait_s,omitempty"`
	Status     any      `json:"status,omitempty"` // a word; null at the end of a run that has none
	Rule       string   `json:"rule,omitempty"`
	Reason     *string  `json:"reason,omitempty"`
	HTTPStatus *int     `json:"http_status,omitempty"`
	ExitCode   *int     `json:"exit_code,omitempty"`
	Took       *Seconds `json:"took_s,omitempty"`
	Hint       *Seconds `json:"hint_s,omitempty"`
	// Notes are remarks on the verdict and on what was never decided, and hints.
	Notes []string `json:"notes,omitempty"`
	prediction
	// Error is why an attempt had no answer; at the end of a run that failed,
	// the closing words.
	Error string `json:"error,omitempty"`
}

func (f *objects) event(_ *run, ev poll.Event) {
	o := object{V: 1, Event: ev.Kind.String(), Target: term.Line(ev.Target), Attempt: ev.Attempt, Elapsed: seconds(ev.Elapsed),
		prediction: predict(f.r.cfg.Forecast, ev.Age())}
	switch ev.Kind {
	case poll.EventWait:
		o.Wait = new(seconds(ev.Wait))
		if ev.Hint != nil {
			o.Hint = new(seconds(ev.Hint.Wait))
		}
	case poll.EventAttempt:
		o.attempt(ev)
	case poll.EventEnd:
		f.end(&o, ev.Outcome)
	}
	line, err := encode(o)
	if err != nil {
		return // cannot be: an object holds numbers and words
	}
	f.r.con.say(string(line))
}

// attempt fills in what an attempt saw.
func (o *object) attempt(ev poll.Event) {
	o.Status = ev.Verdict.Status.String()
	o.Rule = term.Line(ev.Verdict.Rule)
	o.Reason = new(term.Line(ev.Verdict.Reason))
	o.Notes = hints(ev.Verdict)
	o.Took = new(seconds(ev.Took))
	obs := ev.Observation
	if obs == nil {
		return
	}
	o.HTTPStatus, o.ExitCode = obs.Code, obs.Exit
	if obs.Hint != nil {
		o.Hint = new(seconds(obs.Hint.Wait))
	}
	if obs.Failure != nil {
		o.Error = term.Line(obs.Failure.Reason)
	}
}

// end fills in how the run ended.
func (f *objects) end(o *object, out *poll.Outcome) {
	o.Status = statusWord(out.Status)
	o.Rule = term.Line(out.Verdict.Rule)
	o.Reason = new(reason(out))
	o.Notes = remarks(out)
	if out.Observation != nil {
		o.HTTPStatus, o.ExitCode = out.Observation.Code, out.Observation.Exit
	}
	if out.Ending != poll.Succeeded {
		o.Error = unprefixed(f.r.closing(out, ""))
	}
}

// unprefixed returns closing words without the name of the program before each.
func unprefixed(closing string) string {
	var b strings.Builder
	for line := range strings.Lines(closing) {
		b.WriteString(strings.TrimPrefix(line, "poll: "))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (f *objects) due() time.Time { return time.Time{} }
func (f *objects) beat(time.Time) {}
