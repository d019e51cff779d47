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

// A State has the facts that a later run needs to continue a wait. The wait updates its own State, each event
// has a copy, and a run with [Poller.Past] continues from a State, in the same process or another. In the JSON
// form durations are in nanoseconds. The JSON form also has members that only a later run uses. The zero value
// is the state of a wait that has not started.
//
// A State holds no header and no credentials. Its JSON form can hold the URL that the wait follows, as the
// response named the URL, and the cookies of the origin. Both may be secrets: keep a State where other users
// cannot read it.
type State struct {
	// Start is the time when the wait started. Began is the time at which the operation started, as far as is
	// known: Start or, if the wait starts the operation, the time of the response to the start request; zero before
	// that response.
	Start time.Time `json:"start,omitzero"`
	Began time.Time `json:"began,omitzero"`
	// Attempts counts the attempts that were started. Sent counts the attempts that were to start the operation.
	Attempts int `json:"attempts,omitempty"`
	Sent     int `json:"sent,omitempty"`
	// Starting is true from the moment before the start request is sent until its outcome is known. A wait that
	// resumes with Starting fails at once: the operation may have started, and a second request might start it
	// again.
	Starting bool `json:"starting,omitempty"`

	// Last is the time when the last attempt ended, zero before the first attempt. Status and Reason belong to
	// the verdict of the last attempt or, once the wait has ended, to the outcome. Streak counts the consecutive
	// attempts with that Status, and Since is the time of the first such attempt. Hint is the wait that the server
	// requested, counted from Last; nil without such a request.
	Last   time.Time     `json:"last,omitzero"`
	Status status.Status `json:"status,omitempty"`
	Reason string        `json:"reason,omitempty"`
	Streak int           `json:"streak,omitempty"`
	Since  time.Time     `json:"since,omitzero"`
	Hint   *status.Hint  `json:"hint,omitempty"`
	// Messages counts the messages of streams that were evaluated. Heard is the time of the last such message.
	Messages int       `json:"messages,omitempty"`
	Heard    time.Time `json:"heard,omitzero"`
	// Due is the time of the next attempt, zero if it is not planned yet.
	Due time.Time `json:"due,omitzero"`

	progress

	// Ending is [Succeeded] or [Failed] if the wait has ended in that way, and Elapsed is how long the wait took.
	// Ending is "" if the wait is open. Any other ending leaves the wait open. A failure by the caller's context
	// also leaves it open, since such a failure is not about the operation, and so does a failure with
	// [Outcome.Unfinished] set. If a caller sets the Ending of a wait that has Succeeded to "", the next run checks
	// for the result again.
	Ending  Ending        `json:"ending,omitempty"`
	Elapsed time.Duration `json:"elapsed_ns,omitempty"`
}

// progress has the fields of a State that only a later run uses.
type progress struct {
	// Sum is the CRC-32 (IEEE 802.3) of the last response. Changed is the time when Sum last changed.
	Sum     uint32    `json:"sum,omitempty"`
	Changed time.Time `json:"changed,omitzero"`
	// LastAttempt is true if Due was moved so that the attempt fits before the deadline. Reserved is true if a
	// [Limiter] returned Due. Previous is the last wait that the schedule returned.
	LastAttempt bool          `json:"last_look,omitempty"`
	Reserved    bool          `json:"reserved,omitempty"`
	Previous    time.Duration `json:"previous_ns,omitempty"`
	// Refusals counts the attempts that were THROTTLED without a hint: each such attempt makes the waits of a
	// constant schedule longer.
	Refusals int `json:"refusals,omitempty"`
	// Anew is the number of the last attempt whose stream had messages and restarted the schedule; 0 without such
	// an attempt.
	Anew int `json:"anew,omitempty"`
	// Took has the durations of the newest attempts that ended by themselves, or that had too little time before
	// the deadline; 0 is an unused entry.
	Took [5]time.Duration `json:"took_ns,omitzero"`
	// Listed is about a list of unknown length. It is the time of the first of the consecutive responses that
	// showed the same elements, all of which have ended; zero if the last response was different.
	Listed time.Time `json:"listed,omitzero"`
	// Shown is true if a response has held the element. Absent counts the consecutive complete responses without
	// the element.
	Shown  bool `json:"shown,omitempty"`
	Absent int  `json:"absent,omitempty"`
	// Evidence is the response that later responses must not predate, such as the response to the start request;
	// nil if any response counts.
	Evidence *evidence `json:"evidence,omitempty"`
	// Keys is a checksum of the keys in the last complete list; 0 before the first complete list.
	Keys uint32 `json:"keys,omitempty"`
	// Matched are the rules for NOT_READY that matched a response: true for a rule that matched a
	// successful response.
	Matched map[string]bool `json:"matched,omitempty"`
	// Limit is the last closing of an origin that was reported to a Limiter; nil if no origin was closed.
	Limit *limit `json:"limit,omitempty"`
	// Position is the [Report.Position] of the last attempt; nil if the attempt had no position.
	Position json.RawMessage `json:"position,omitempty"`
}

// A limit is the closing of an origin: no request may be sent to Origin for Wait after At.
type limit struct {
	Origin string        `json:"origin"`
	At     time.Time     `json:"at"`
	Wait   time.Duration `json:"wait_ns"`
	Reason string        `json:"reason,omitempty"`
}

// left returns how long the origin stays closed; 0 if l is nil, and 0 or less if the origin is open. If the
// clock was set back since l.At, the result is at most l.Wait.
func (l *limit) left(now time.Time) time.Duration {
	if l == nil {
		return 0
	}
	return l.Wait - max(0, now.Sub(l.At))
}

// Ended reports whether the wait has Succeeded or Failed. A later run then has nothing left to do.
func (s State) Ended() bool { return s.Ending != "" }

// restore reports a closing of an earlier run to the Limiter to, so that the origin stays closed for all waits.
// It does nothing if the closing is over or to is nil.
func (l *limit) restore(to Limiter) {
	if left := l.left(time.Now()); left > 0 && to != nil {
		to.Done(l.Origin, Feedback{Sent: l.At, Refused: true, Wait: left, Reason: l.Reason})
	}
}

const stateVersion = 3

// A keptState is the JSON form of a State: the version and the fields of the State.
type keptState struct {
	V int `json:"v"`
	plainState
}

type plainState State

// MarshalJSON returns the JSON form of a State.
func (s State) MarshalJSON() ([]byte, error) {
	return json.Marshal(keptState{stateVersion, plainState(s)})
}

// UnmarshalJSON reads the JSON form of a State. It returns an error, and leaves s unchanged, for another version
// and for values that no wait can have, such as a negative count.
func (s *State) UnmarshalJSON(text []byte) error {
	var known keptState
	err := json.Unmarshal(text, &known)
	if err == nil && known.V != stateVersion {
		err = fmt.Errorf("it has version %d, and only %d is known", known.V, stateVersion)
	}
	if err == nil {
		err = State(known.plainState).check()
	}
	if err != nil {
		return fmt.Errorf("the state of a wait: %w", err)
	}
	*s = State(known.plainState)
	return nil
}

// mostCounted is the largest count that a State can have, so that no sum of counts overflows.
const mostCounted = math.MaxInt / 2

// check returns an error if s has a value that no wait can have; otherwise nil.
func (s State) check() error {
	switch s.Status {
	case status.None, status.Success, status.NotReady, status.Throttled, status.Error:
	default:
		return fmt.Errorf("unknown status %.20q", s.Status)
	}
	switch s.Ending {
	case "", Succeeded, Failed:
	default:
		return fmt.Errorf("unknown ending %.20q", s.Ending)
	}
	counts := []int{s.Attempts, s.Sent, s.Streak, s.Absent, s.Messages, s.Anew, s.Refusals}
	if s.Sent > s.Attempts || slices.Min(counts) < 0 || slices.Max(counts) > mostCounted || min(s.Previous, s.Elapsed) < 0 || s.Hint != nil && s.Hint.Wait < 0 {
		return errors.New("its counts make no sense")
	}
	return nil
}
