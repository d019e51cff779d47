package poll

import (
	"bytes"
	"time"

	"github.com/pollcli/poll/status"
)

// A source is what is looked at again and again: the session of a probe. The waits that share
// it judge each of its answers by their own rules, and the first of them sets the schedule; or
// it is a list, whose elements have waits. A source is in one of these states: it sleeps until
// it is due, stands in line at a door of its place, or is busy in another goroutine with what
// is behind the door.
type source struct {
	loop  *loop
	waits []*wait // that have not ended; of a list, its own
	list  *list   // nil unless the answers hold elements, or once it is over
	n     int     // its number, from 0
	place *place

	busy    bool
	wake    time.Time   // when it wakes
	at      int         // its place in the agenda
	door    int         // the first that it has not passed
	holds   [doors]bool // what it holds of its place
	begun   time.Time   // the attempt that is under way
	lent    bool        // its attempt takes so long that it has given its room to another
	granted bool        // the attempt is this process's, and the request may go now
	told    *Place      // how its place is closed, to be told; nil if it is not
	sharing *sharing    // nil unless its answers are shared with other processes
}

// lead returns the wait that sets the schedule.
func (s *source) lead() *wait { return s.waits[0] }

// ended reports whether there is nothing more to look for.
func (s *source) ended() bool { return len(s.waits) == 0 }

// all returns all waits, that of a list first.
func (s *source) all() []*wait {
	if s.list != nil {
		return append(s.waits[:1:1], s.list.waiting...)
	}
	return s.waits
}

// do does what is behind the door. It tells nothing, and touches nothing but the source.
func (s *source) do() {
	switch s.door {
	case claim:
		if s.sharing == nil {
			s.sharing = new(sharing)
		}
		s.sharing.claim(s)
	case slot:
		s.reserve()
	case attempt:
		s.look()
		s.inform()
	}
}

// reserve asks the limiter when the request may go.
func (s *source) reserve() {
	var had time.Time
	if first := s.lead(); first.Reserved {
		had = first.Due
	}
	had, closed := s.loop.Limiter.Next(s.place.name, had)
	if s.granted = !had.After(time.Now()); !s.granted && closed != "" {
		s.told = &Place{Name: s.place.name, ClosedUntil: had, Reason: closed}
	}
	for _, w := range s.waits {
		w.Due, w.Reserved = had, true
	}
}

// look makes the attempt, and judges it for every wait.
func (s *source) look() {
	first := s.lead()
	var o status.Observation
	var took time.Duration
	var answer []byte
	if s.isTaken() {
		o = *s.sharing.answer
	} else {
		o, took = first.look(s.pace())
		answer = s.sharing.write(s, o) // before the session goes on to a result
	}
	for _, w := range s.waits {
		w.answered(o, took)
	}
	s.sharing.answered(answer)
	if len(s.waits) == 1 && s.list == nil && first.unrunnable() == "" {
		first.lookForResult(s.pace())
	}
}

// inform tells the limiter what the attempt saw.
func (s *source) inform() {
	if !s.place.limited || s.isTaken() {
		return
	}
	v := s.lead().last.verdict
	for _, w := range s.waits {
		if w.last.verdict.Status == status.Throttled {
			v = w.last.verdict
		}
	}
	s.told = s.tellLimiter(s.place.name, s.begun, s.lead().last.observation, v)
}

// tellLimiter tells the limiter what the answer to a request said, if it is of use to it. It
// returns how the place is closed since then, nil if it is not.
func (s *source) tellLimiter(name string, sent time.Time, o *status.Observation, v status.Verdict) *Place {
	refused := v.Status == status.Throttled
	if o.Stopped() || o.Elsewhere || !refused && o.Quota == nil {
		return nil
	}
	r := Result{Sent: sent, Refused: refused, Reason: v.Reason}
	if refused && o.Hint != nil {
		r.Wait, r.Reason = o.Hint.Wait, o.Hint.Source
	}
	wait := r.Wait
	if o.Quota != nil {
		r.Remaining, r.Reset = o.Quota.Remaining, o.Quota.Reset
	}
	if r.Reset > 0 && r.Remaining <= 0 {
		wait = max(wait, r.Reset)
		if !refused {
			r.Reason = "nothing remains of its rate limit"
		}
	}
	s.loop.Limiter.Done(name, r)
	if wait <= 0 {
		return nil
	}
	return &Place{Name: name, ClosedUntil: time.Now().Add(wait), Reason: r.Reason}
}

// count counts an attempt that another process has made, or should have shared.
func (s *source) count() {
	taken, alone := 0, 0
	switch {
	case s.isTaken():
		taken = 1
	case s.isAlone():
		alone = 1
	}
	s.loop.Taken += taken
	s.loop.Alone += alone
	for _, w := range s.all() {
		w.Taken += taken
		w.Alone += alone
	}
}

// keptBody is how much is kept of an answer that did not end a wait in a group, in bytes. It
// is enough for what is told of the last answer.
const keptBody = 8 << 10

// slim drops what the end of the wait does not need of its last attempt. What was told of it
// does not change.
func (w *wait) slim() {
	w.last.verdict.Answers = nil
	seen := w.last.observation
	if seen.Header == nil && seen.Remarks == nil && seen.Pages == nil && seen.Within == nil && len(seen.Body) <= keptBody {
		return
	}
	o := *seen
	o.Header, o.Remarks, o.Pages, o.Within = nil, nil, nil, nil
	if len(o.Body) > keptBody {
		o.Body, o.Truncated = bytes.Clone(o.Body[:keptBody]), true
	}
	w.last.observation = &o
}
