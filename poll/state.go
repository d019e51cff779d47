package poll

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/pollcli/poll/status"
)

// A State is what a wait keeps from one attempt to the next. [Poller.Past] goes on from it,
// in the same process or another one. It has a JSON form. The zero value is that of a wait
// that has not begun.
//
// A State holds no header, no credentials and no cookies. Session can hold the URL that is
// followed as the answer named it, and such a URL may itself be a secret: keep a State where
// others cannot read it.
type State struct {
	// Start is when the wait began, and Began when the operation did, as in an [Event].
	Start, Began time.Time
	// Attempts counts the attempts that were begun. Sent is how many of them were to start
	// the operation.
	Attempts, Sent int
	// Starting is true from the moment before a request that starts the operation is sent
	// until it is known what became of it. A wait that goes on from such a State has Failed:
	// the operation may have started, and a second request might start it again.
	Starting bool

	// Last is when the last attempt ended, zero if there was none; Status and Reason are of
	// its verdict, Streak counts the consecutive ones with that Status, and Hint is the wait
	// that the server asked for, counted from Last; nil if it asked for none.
	Last   time.Time
	Status status.Status
	Reason string
	Streak int
	Hint   *status.Hint
	// Since is when the first of those consecutive ones came. Changed is when the answer last
	// was another than before, and Body a sum (CRC-32C) of it.
	Since, Changed time.Time
	Body           uint32
	// Previous is the schedule's last wait, Took how long an attempt takes; 0 if that is not
	// known.
	Previous, Took time.Duration
	// Due is when the next attempt comes, zero if that is not planned yet. LastLook is true
	// if the wait before it was shortened so that it fits before the deadline.
	Due      time.Time
	LastLook bool

	// Shown is true of an element that an answer has held.
	Shown bool
	// Session is what the session of the probe keeps, if that is a [Resumer].
	Session json.RawMessage

	// Ended is true once the wait has Succeeded or Failed, which is the Ending. Status and
	// Reason are then those of the [Outcome], and Elapsed is its Elapsed. Any other ending
	// leaves the wait open.
	Ended   bool
	Ending  Ending
	Elapsed time.Duration
}

// A Resumer is a session that can go on from what an earlier session of the same probe
// kept. What it keeps is JSON without credentials, but for cookies of the URL that it follows.
type Resumer interface {
	Save() json.RawMessage
	// Resume is called before the first attempt. An error means that kept is of no use.
	Resume(kept json.RawMessage) error
}

const stateVersion = 1

// A jsonState is the JSON form of a State: times in RFC 3339, durations in seconds.
type jsonState struct {
	V        int             `json:"v"`
	Start    time.Time       `json:"start,omitzero"`
	Began    time.Time       `json:"began,omitzero"`
	Attempts int             `json:"attempts,omitempty"`
	Sent     int             `json:"sent,omitempty"`
	Starting bool            `json:"starting,omitempty"`
	Last     time.Time       `json:"last,omitzero"`
	Status   string          `json:"status,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Streak   int             `json:"streak,omitempty"`
	Since    time.Time       `json:"since,omitzero"`
	Changed  time.Time       `json:"changed,omitzero"`
	Body     uint32          `json:"body,omitempty"`
	Hint     float64         `json:"hint_s,omitempty"`
	HintFrom string          `json:"hint_source,omitempty"`
	Previous float64         `json:"previous_s,omitempty"`
	Took     float64         `json:"took_s,omitempty"`
	Due      time.Time       `json:"due,omitzero"`
	LastLook bool            `json:"last_look,omitempty"`
	Shown    bool            `json:"shown,omitempty"`
	Session  json.RawMessage `json:"session,omitempty"`
	Ending   string          `json:"ending,omitempty"`
	Elapsed  float64         `json:"elapsed_s,omitempty"`
}

// MarshalJSON returns the JSON form of a State.
func (s State) MarshalJSON() ([]byte, error) {
	j := jsonState{
		V: stateVersion, Start: s.Start.UTC(), Began: s.Began.UTC(), Attempts: s.Attempts, Sent: s.Sent, Starting: s.Starting,
		Last: s.Last.UTC(), Status: s.Status.String(), Reason: s.Reason, Streak: s.Streak,
		Since: s.Since.UTC(), Changed: s.Changed.UTC(), Body: s.Body,
		Previous: s.Previous.Seconds(), Took: s.Took.Seconds(), Due: s.Due.UTC(), LastLook: s.LastLook, Shown: s.Shown, Session: s.Session,
	}
	if s.Hint != nil {
		j.Hint, j.HintFrom = s.Hint.Wait.Seconds(), s.Hint.Source
	}
	if s.Ended {
		j.Ending, j.Elapsed = s.Ending.String(), s.Elapsed.Seconds()
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads the JSON form of a State. A State that makes no sense is an error.
func (s *State) UnmarshalJSON(text []byte) error {
	var j jsonState
	if err := json.Unmarshal(text, &j); err != nil {
		return fmt.Errorf("the state of a wait: %w", err)
	}
	if j.V != stateVersion {
		return fmt.Errorf("the state of a wait has version %d, and only %d is known", j.V, stateVersion)
	}
	known, err := j.state()
	if err != nil {
		return fmt.Errorf("the state of a wait: %w", err)
	}
	*s = known
	return nil
}

// state returns the State that j stands for, unless it makes no sense.
func (j *jsonState) state() (State, error) {
	s := State{
		Start: j.Start, Began: j.Began, Attempts: j.Attempts, Sent: j.Sent, Starting: j.Starting,
		Last: j.Last, Reason: j.Reason, Streak: j.Streak, Previous: fromSeconds(j.Previous), Took: fromSeconds(j.Took),
		Since: j.Since, Changed: j.Changed, Body: j.Body,
		Due: j.Due, LastLook: j.LastLook, Shown: j.Shown, Session: j.Session, Elapsed: fromSeconds(j.Elapsed),
	}
	if j.Hint > 0 {
		s.Hint = &status.Hint{Wait: fromSeconds(j.Hint), Source: j.HintFrom}
	}
	statuses := []string{status.None.String(), status.Success.String(), status.NotReady.String(), status.Throttled.String(), status.Error.String()}
	at := slices.Index(statuses, j.Status)
	if at < 0 {
		return State{}, fmt.Errorf("unknown status %.20q", j.Status)
	}
	s.Status = status.Status(at)
	switch j.Ending {
	case "":
	case Succeeded.String():
		s.Ended, s.Ending = true, Succeeded
	case Failed.String():
		s.Ended, s.Ending = true, Failed
	default:
		return State{}, fmt.Errorf("unknown ending %.20q", j.Ending)
	}
	if j.Attempts < 0 || j.Sent < 0 || j.Sent > j.Attempts || j.Streak < 0 || min(s.Previous, s.Took, s.Elapsed) < 0 {
		return State{}, errors.New("its counts make no sense")
	}
	return s, nil
}

// fromSeconds converts to a duration, saturating.
func fromSeconds(s float64) time.Duration {
	if ns := math.Round(s * 1e9); ns < math.MaxInt64 {
		return time.Duration(max(ns, math.MinInt64))
	}
	return math.MaxInt64
}

// State returns what a wait keeps after what happened in an event of its target. It must be
// called before the event's consumer returns.
func (e Event) State() State {
	if e.of == nil {
		return State{}
	}
	s := e.of.save()
	if e.Kind == EventEnd && s.LastLook { // the next run has another deadline
		s.Due, s.LastLook = time.Time{}, false
	}
	if o := e.Outcome; o != nil && (o.Ending == Succeeded || o.Ending == Failed) && e.of.refused == nil {
		s = State{
			Start: s.Start, Began: s.Began, Last: s.Last, Attempts: o.Attempts, Sent: s.Sent, Status: o.Status, Reason: o.Reason,
			Ended: true, Ending: o.Ending, Elapsed: o.Elapsed,
		}
	}
	return s
}

// save returns the state of a run.
func (r *run) save() State {
	if r.Past != nil && r.Past.Ended {
		return *r.Past
	}
	s := State{
		Start: r.Start, Began: r.began, Attempts: r.attempts, Sent: r.sent, Starting: r.starting,
		Last: r.looked, Status: r.last.verdict.Status, Reason: r.last.verdict.Reason, Streak: r.streak, Hint: r.hint(),
		Previous: r.previous, Due: r.due, LastLook: r.lastLook, Shown: r.shown,
		Since: r.since, Changed: r.changed, Body: r.body,
	}
	if r.Past != nil && r.last.observation == nil {
		s.Hint = r.Past.Hint // what remained of it counts from later than Last
	}
	if r.took.n > 0 {
		s.Took = max(r.took.median(), 1) // 0 would be none
	}
	if r.done != nil { // it is looked for again
		s.Status, s.Streak = status.NotReady, 0
	}
	if r.session != nil {
		s.Session = r.session.Save()
	}
	return s
}

// restore goes on from the Past. What its clock had ahead of this one's is now.
func (r *run) restore() {
	past, now := r.Past, time.Now()
	earlier := func(t time.Time) time.Time {
		if t.After(now) {
			return now
		}
		return t
	}
	if !past.Start.IsZero() {
		r.Start = earlier(past.Start)
	}
	r.began, r.looked, r.due = earlier(past.Began), earlier(past.Last), past.Due
	r.since, r.changed, r.body = earlier(past.Since), earlier(past.Changed), past.Body
	r.attempts, r.sent, r.starting = past.Attempts, min(past.Sent, past.Attempts), past.Starting
	r.previous, r.streak, r.lastLook, r.shown = past.Previous, past.Streak, past.LastLook, past.Shown
	r.last = &judged{verdict: status.Verdict{Status: past.Status, Reason: past.Reason}}
	if past.Took > 0 {
		r.took.add(past.Took)
	}
	if !r.looked.IsZero() {
		r.waited = now.Sub(r.looked)
	}
	if hint := past.Hint; hint != nil && hint.Wait > r.waited {
		r.hinted = &status.Hint{Wait: hint.Wait - r.waited, Source: hint.Source}
	}
}

var (
	errMayHaveStarted = errors.New("the operation may have started: the request that starts it was sent, and its answer is not known")
	errNoSession      = errors.New("the operation has been started, and this probe cannot go on with it")
)

// restoreSession gives the session of the probe what an earlier one kept.
func (r *run) restoreSession() error {
	r.session, _ = r.probe.(Resumer)
	if r.Past == nil {
		return nil
	}
	if r.session != nil && len(r.Past.Session) > 0 {
		if err := r.session.Resume(r.Past.Session); err != nil {
			return fmt.Errorf("go on with the wait: %w", err)
		}
	}
	if !r.began.IsZero() && r.startDue() {
		return errNoSession
	}
	return nil
}

// over returns how a run ended that goes on from a Past after which there is nothing to do.
func (r *run) over() (Outcome, bool) {
	switch past := r.Past; {
	case past == nil:
	case past.Ended:
		return Outcome{
			Run: r.ID, Target: r.Target, Ending: past.Ending, Reason: past.Reason, Elapsed: past.Elapsed, Resumed: true,
			Status: past.Status, Attempts: past.Attempts, Verdict: status.Verdict{Status: past.Status, Reason: past.Reason},
		}, true
	case past.Starting:
		return r.cannotBegin(errMayHaveStarted), true
	case r.MaxAttempts > 0 && r.attempts >= r.MaxAttempts:
		return r.outcome(AttemptsExhausted), true
	}
	return Outcome{}, false
}

// announce tells that the next attempt is to start the operation, which must not happen if
// that cannot be noted.
func (r *run) announce() error {
	if !r.startDue() {
		return nil
	}
	r.starting = true
	if r.Starting != nil {
		r.refused = r.Starting(r.save())
	}
	if r.refused != nil {
		r.starting = false
	}
	return r.refused
}

// hint returns the wait that the server asked for last, nil for none.
func (r *run) hint() *status.Hint {
	if o := r.last.observation; o != nil {
		return o.Hint
	}
	return r.hinted
}
