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

// A State holds everything that a later run needs to continue a wait. Each event has a copy of the wait's
// current State. To continue, in the same process or in another, set [Poller.Past] to a State. The zero value
// is the state of a wait that has not started.
//
// The JSON form of a State has durations in nanoseconds, and additional members that only a later run uses.
//
// A State contains no header fields and no credentials. However, its JSON form can contain cookies, and the URL
// that the wait follows. Since both can be secrets, store a State where other users cannot read it.
type State struct {
	// Start is the time at which the wait started. Began is the time at which the operation started, as far as
	// known. If the wait starts the operation, Began is the time of the response to the start request, and zero
	// before that response. Otherwise Began is equal to Start.
	Start time.Time `json:"start,omitzero"`
	Began time.Time `json:"began,omitzero"`
	// Attempts is the number of attempts made, including a running attempt. Sent is the number of those
	// attempts whose purpose was to start the operation.
	Attempts int `json:"attempts,omitempty"`
	Sent     int `json:"sent,omitempty"`
	// Starting is true from just before the start request is sent until the outcome of the request is known. If
	// a run continues from a State with Starting, the wait ends with Failed at once: the operation may have
	// been started, and another request might start it a second time.
	Starting bool `json:"starting,omitempty"`

	// Last is the time at which the last attempt ended, and zero before the first attempt. Status and Reason
	// are from the verdict on the last attempt or, if the wait has ended, from its Outcome. Streak is the
	// number of consecutive attempts with this Status, and Since is the time of the first of these attempts.
	// RetryAfter is the wait that the server requested, counting from Last; nil without such a request.
	Last       time.Time          `json:"last,omitzero"`
	Status     status.Status      `json:"status,omitempty"`
	Reason     string             `json:"reason,omitempty"`
	Streak     int                `json:"streak,omitempty"`
	Since      time.Time          `json:"since,omitzero"`
	RetryAfter *status.RetryAfter `json:"hint,omitempty"`
	// Messages is the number of stream messages that were evaluated. Heard is the time of the last message.
	Messages int       `json:"messages,omitempty"`
	Heard    time.Time `json:"heard,omitzero"`
	// Due is the time of the next attempt, or zero if it has not been planned.
	Due time.Time `json:"due,omitzero"`

	progress

	// Ending is [Succeeded] or [Failed] if the wait is over, and Elapsed is how long it took. Otherwise Ending
	// is "", and a later run can continue the wait. Ending is also "" if the wait Failed, but a later run can
	// still continue: because the caller's context caused the failure, Poller.Starting returned an error,
	// Poller.Finalize rejected the result, or [Outcome.Unfinished] is true. To fetch the result of a Succeeded
	// wait again, set Ending to "" before the next run.
	Ending  Ending        `json:"ending,omitempty"`
	Elapsed time.Duration `json:"elapsed_ns,omitempty"`
}

// progress holds the fields of State that only a later run uses.
type progress struct {
	// Sum is the CRC-32 checksum (IEEE) of the last response. Changed is the time at which Sum last changed.
	Sum     uint32    `json:"sum,omitempty"`
	Changed time.Time `json:"changed,omitzero"`
	// LastAttempt is true if Due was moved so that the attempt fits before the deadline. Reserved is true if
	// Due is a time that a [Limiter] returned. Previous is the wait that the schedule last returned.
	LastAttempt bool          `json:"last_look,omitempty"`
	Reserved    bool          `json:"reserved,omitempty"`
	Previous    time.Duration `json:"previous_ns,omitempty"`
	// Refusals is the number of attempts that were THROTTLED without a requested wait. A constant schedule is
	// slowed down for each of them.
	Refusals int `json:"refusals,omitempty"`
	// Anew is the number of the last attempt after which the schedule restarted, because its stream had
	// messages; 0 means that there was no such attempt.
	Anew int `json:"anew,omitempty"`
	// Took holds the durations of the latest attempts, which determine how much time is reserved for a last
	// attempt. 0 marks an unused entry.
	Took [5]time.Duration `json:"took_ns,omitzero"`
	// Listed is for a list with an unknown number of elements. It is the time of the first response after which
	// all elements had ended, provided that all responses since then showed the same elements; otherwise it is
	// zero.
	Listed time.Time `json:"listed,omitzero"`
	// Shown is true if a response has contained this element of a list. Absent is the number of consecutive
	// complete responses without the element.
	Shown  bool `json:"shown,omitempty"`
	Absent int  `json:"absent,omitempty"`
	// Evidence describes the response that later responses must not predate, such as the response to the start
	// request. A cache might return an older response. Nil means that any response counts.
	Evidence *evidence `json:"evidence,omitempty"`
	// Keys is a checksum of the element names in the last complete list, or 0 before the first complete list.
	Keys uint32 `json:"keys,omitempty"`
	// Matched contains the NOT_READY rules that have matched a response. The value is true for a rule that
	// matched a successful response.
	Matched map[string]bool `json:"matched,omitempty"`
	// Pause is the last pause that a server requested and that this wait reported to a Limiter. It is nil without
	// such a pause. The pause may be over.
	Pause *pause `json:"limit,omitempty"`
	// Position is the [Report.Position] from the last attempt, or nil if there was none.
	Position json.RawMessage `json:"position,omitempty"`
}

// A pause is a period in which no requests may be sent to Origin, because the origin has requested a pause. It
// starts at At, and lasts for Wait.
type pause struct {
	Origin string        `json:"origin"`
	At     time.Time     `json:"at"`
	Wait   time.Duration `json:"wait_ns"`
	Reason string        `json:"reason,omitempty"`
}

// left returns how much of the pause remains. now is the current time. left returns 0 if p is nil, and 0 or
// less if the pause is over. If the clock was set back after p.At, the result is at most p.Wait.
func (p *pause) left(now time.Time) time.Duration {
	if p == nil {
		return 0
	}
	return p.Wait - max(0, now.Sub(p.At))
}

// Ended reports whether the wait has Succeeded or Failed, so that a later run has nothing left to do.
func (s State) Ended() bool { return s.Ending != "" }

// restore reports the pause of an earlier run to the Limiter, so that it applies to all waits. It does nothing
// if the pause is over or if the Limiter is nil.
func (p *pause) restore(to Limiter) {
	if left := p.left(time.Now()); left > 0 && to != nil {
		to.Done(p.Origin, Feedback{Sent: p.At, Refused: true, Wait: left, Reason: p.Reason})
	}
}

// stateVersion is the version of the JSON form of a State. Only this version can be read.
const stateVersion = 3

// A keptState is the JSON form of a State: its fields and a version.
type keptState struct {
	V int `json:"v"`
	plainState
}

// plainState is a State without methods, so that package json encodes its fields.
type plainState State

// MarshalJSON implements [json.Marshaler].
func (s State) MarshalJSON() ([]byte, error) {
	return json.Marshal(keptState{stateVersion, plainState(s)})
}

// UnmarshalJSON implements [json.Unmarshaler]. If text has another version, or values that no wait can have
// (such as a negative count), UnmarshalJSON returns an error and does not change s.
func (s *State) UnmarshalJSON(text []byte) error {
	var known keptState
	err := json.Unmarshal(text, &known)
	if err == nil && known.V != stateVersion {
		err = fmt.Errorf("it has version %d, but only version %d is supported", known.V, stateVersion)
	}
	if err == nil {
		err = State(known.plainState).validate()
	}
	if err != nil {
		return fmt.Errorf("the state of a wait: %w", err)
	}
	*s = State(known.plainState)
	return nil
}

// mostCounted is the largest count in a valid State. The sum of two such counts does not overflow.
const mostCounted = math.MaxInt / 2

// validate returns an error if a field of s has a value that no wait can have, and nil otherwise.
func (s State) validate() error {
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
	if s.Sent > s.Attempts || slices.Min(counts) < 0 || slices.Max(counts) > mostCounted || min(s.Previous, s.Elapsed) < 0 || s.RetryAfter != nil && s.RetryAfter.Wait < 0 {
		return errors.New("its counts are invalid")
	}
	return nil
}
