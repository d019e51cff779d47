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

// A State is what a later run needs to continue a wait. The wait works on it, each event of a
// wait has a copy of it, and [Poller.Past] goes on from one, in the same process or another. It
// has a JSON form, in which durations are in nanoseconds, and which has further members for the
// run that goes on. The zero value is that of a wait that has not begun.
//
// A State holds no header and no credentials. Its JSON form can hold the URL that is followed as
// the answer named it, and the cookies of its origin, which may be secrets: keep a State
// where others cannot read it.
type State struct {
	// Start is when the wait began. Began is when the operation did, as far as is known: at
	// the Start, or when an attempt to start it was answered; zero until then.
	Start time.Time `json:"start,omitzero"`
	Began time.Time `json:"began,omitzero"`
	// Attempts counts the attempts that were begun. Sent is how many of them were to start
	// the operation.
	Attempts int `json:"attempts,omitempty"`
	Sent     int `json:"sent,omitempty"`
	// Starting is true from the moment before a request that starts the operation is sent
	// until it is known what became of it. A wait that goes on from such a State has Failed:
	// the operation may have started, and a second request might start it again.
	Starting bool `json:"starting,omitempty"`

	// Last is when the last attempt ended, zero if there was none. Status and Reason are of
	// its verdict, or of the outcome once the wait has ended. Streak counts the consecutive
	// ones with that Status, and Since is when the first of them came. Hint is the wait that
	// the server asked for, counted from Last; nil if it asked for none.
	Last   time.Time     `json:"last,omitzero"`
	Status status.Status `json:"status,omitempty"`
	Reason string        `json:"reason,omitempty"`
	Streak int           `json:"streak,omitempty"`
	Since  time.Time     `json:"since,omitzero"`
	Hint   *status.Hint  `json:"hint,omitempty"`
	// Messages counts the messages of streams that were judged, and Heard is when the last of them came.
	Messages int       `json:"messages,omitempty"`
	Heard    time.Time `json:"heard,omitzero"`
	// Due is when the next attempt comes, zero if that is not planned yet.
	Due time.Time `json:"due,omitzero"`

	progress

	// Ending is how the wait ended if it has Succeeded or Failed, and Elapsed how long it
	// took. Any other ending leaves the wait open: Ending is "". So does a failure by the
	// caller's context, which says nothing of the operation, and a failure that leaves a started
	// operation [Outcome.Unfinished]. With the Ending of a wait that
	// has Succeeded set to "", a wait that goes on from its State looks at its result again.
	Ending  Ending        `json:"ending,omitempty"`
	Elapsed time.Duration `json:"elapsed_ns,omitempty"`
}

// progress is the part of a State that is of use only to the run that goes on from it.
type progress struct {
	// Sum is a sum (CRC-32 of IEEE 802.3) of the last answer, and Changed when it last was another.
	Sum     uint32    `json:"sum,omitempty"`
	Changed time.Time `json:"changed,omitzero"`
	// LastLook is true if Due was moved so that it fits before the deadline, and Reserved if it is
	// the time that a [Limiter] gave. Previous is the schedule's last wait.
	LastLook bool          `json:"last_look,omitempty"`
	Reserved bool          `json:"reserved,omitempty"`
	Previous time.Duration `json:"previous_ns,omitempty"`
	// Refusals counts the attempts that were THROTTLED without a hint: each one slows a constant schedule down.
	Refusals int `json:"refusals,omitempty"`
	// Anew is the number of the attempt after which the schedule began anew, since a stream had messages.
	Anew int `json:"anew,omitempty"`
	// Took is how long the newest attempts took that ended by themselves, or for which too little time
	// was left at the deadline; 0 is none.
	Took [5]time.Duration `json:"took_ns,omitzero"`
	// Listed is when the first of the answers in a row came that showed the same elements, all of
	// which have ended, of a list whose number of elements is not known; zero if the last one did not.
	Listed time.Time `json:"listed,omitzero"`
	// Shown is true of an element that an answer has held; Absent is how many complete answers in a row have not held an element.
	Shown  bool `json:"shown,omitempty"`
	Absent int  `json:"absent,omitempty"`
	// Evidence is the response that the next ones have to be newer than, such as the response to the
	// start; nil for none.
	Evidence *evidence `json:"evidence,omitempty"`
	// Keys is a sum of the keys that the last complete list has shown; 0 if there was none.
	Keys uint32 `json:"keys,omitempty"`
	// Matched are the rules for NOT_READY that matched a response: true for a rule that matched a
	// successful response.
	Matched map[string]bool `json:"matched,omitempty"`
	// Limit is the last closing of an origin that was reported to a Limiter; nil if no origin was closed.
	Limit *limit `json:"limit,omitempty"`
	// Position is the [Report.Position] of the last attempt; nil if there is none.
	Position json.RawMessage `json:"position,omitempty"`
}

// A limit is the closing of an origin: for a duration from a time on.
type limit struct {
	Place  string        `json:"place"`
	At     time.Time     `json:"at"`
	Wait   time.Duration `json:"wait_ns"`
	Reason string        `json:"reason,omitempty"`
}

// left returns how long the origin stays closed. A clock that was ahead makes no wait longer.
func (l *limit) left(now time.Time) time.Duration {
	if l == nil {
		return 0
	}
	return l.Wait - max(0, now.Sub(l.At))
}

// Ended reports whether the wait has Succeeded or Failed, so that there is nothing to go on
// with.
func (s State) Ended() bool { return s.Ending != "" }

// restore reports a closing of an earlier run to a Limiter, if there is one: the origin stays closed for all waits.
func (l *limit) restore(to Limiter) {
	if left := l.left(time.Now()); left > 0 && to != nil {
		to.Done(l.Place, Feedback{Sent: l.At, Refused: true, Wait: left, Reason: l.Reason})
	}
}

const stateVersion = 3

// A keptState is the JSON form of a State, of whose fields it is made.
type keptState struct {
	V int `json:"v"`
	plainState
}

type plainState State

// MarshalJSON returns the JSON form of a State.
func (s State) MarshalJSON() ([]byte, error) {
	return json.Marshal(keptState{stateVersion, plainState(s)})
}

// UnmarshalJSON reads the JSON form of a State. A State that makes no sense is an error.
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

// check reports what makes no sense.
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
