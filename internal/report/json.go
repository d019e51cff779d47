package report

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// jsonLines is the face for programs: one JSON object per line for each event, and
// nothing else on stderr. docs/event.schema.json describes it.
type jsonLines struct{ r *Reporter }

func (f *jsonLines) due() time.Time { return time.Time{} }
func (f *jsonLines) tick(time.Time) {}

// A jsonEvent is an event in JSON. Every event has the first five keys, and others
// where they apply.
type jsonEvent struct {
	V          int      `json:"v"`     // 1
	Event      string   `json:"event"` // wait, start, attempt, end
	Target     string   `json:"target"`
	Attempt    int      `json:"attempt"` // waiting, started or ended; at the end the number made
	Elapsed    Seconds  `json:"elapsed_s"`
	Wait       *Seconds `json:"wait_s,omitempty"`
	Status     any      `json:"status,omitempty"` // a word; null at the end of a run that has none
	Rule       string   `json:"rule,omitempty"`
	Reason     *string  `json:"reason,omitempty"`
	HTTPStatus *int     `json:"http_status,omitempty"`
	ExitCode   *int     `json:"exit_code,omitempty"`
	Took       *Seconds `json:"took_s,omitempty"`
	Hint       *Seconds `json:"hint_s,omitempty"`
	Notes      []string `json:"notes,omitempty"` // on the verdict and conditions never decided, and hints
	prediction
	Error string `json:"error,omitempty"` // why there was no answer; for a failed run, the closing words
}

func (f *jsonLines) event(_ *run, ev poll.Event) {
	o := jsonEvent{V: 1, Event: ev.Kind.String(), Target: term.Line(ev.Target), Attempt: ev.Attempt,
		Elapsed: seconds(ev.Elapsed), prediction: predict(f.r.cfg.Forecast, ev.Age())}
	switch ev.Kind {
	case poll.EventWait:
		o.Wait = new(seconds(ev.Wait))
		o.Hint = hintSeconds(ev.Hint)
	case poll.EventAttempt:
		o.setVerdict(ev.Verdict, ev.Verdict.Status, ev.Verdict.Reason, ev.Observation)
		o.Notes = hints(ev.Verdict)
		o.Took = new(seconds(ev.Took))
		if obs := ev.Observation; obs != nil {
			o.Hint = hintSeconds(obs.Hint)
			if obs.Failure != nil {
				o.Error = term.Line(obs.Failure.Reason)
			}
		}
	case poll.EventEnd:
		out := ev.Outcome
		o.setVerdict(out.Verdict, out.Status, out.Reason, out.Observation)
		o.Notes = remarks(out)
		if out.Ending != poll.Succeeded {
			// Without "poll: " before each line.
			words := strings.ReplaceAll("\n"+f.r.closing(out, ""), "\npoll: ", "\n")
			o.Error = strings.Trim(words, "\n")
		}
	}
	if line, err := encode(o); err == nil { // never fails for numbers and words
		f.r.con.say(string(line))
	}
}

// setVerdict fills in the observation and what it means.
func (o *jsonEvent) setVerdict(v status.Verdict, s status.Status, reason string, obs *status.Observation) {
	o.Status = statusWord(s)
	o.Rule = term.Line(v.Rule)
	o.Reason = new(term.Line(reason))
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
	return new(s.String())
}

// encode returns v as one line of JSON, with < > & as they are.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}
