package poll

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"slices"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll/internal/share"
	"github.com/pollcli/poll/status"
)

// Answers has processes that would ask the same thing share what was answered: one of them
// asks, and the others judge its answer, each by their own rules. Package fleet has them.
type Answers = share.Answers

// A sharing is what a source has of the answers that are shared.
type sharing struct {
	question share.Question // nil before the first claim
	identity []byte         // of question
	turn     share.Turn     // of the attempt that is due, or under way
	answer   *status.Observation
	held     time.Time // until when the attempt that is due is left to another at most
	next     time.Time // when all who share the answers look next, zero = that is not known
}

// mostHeld is how long an attempt is left to another process at most, where no attempt may
// take less.
const mostHeld = 30 * time.Second

// shares reports whether it has to be known who makes the next attempt. One that starts
// something is everybody's own.
func (s *source) shares() bool {
	w := s.lead()
	_, ok := w.probe.(sharer) // and not its result
	return ok && w.p.Answers != nil && !w.startDue()
}

// claim finds out who makes the attempt that is due.
func (h *sharing) claim(s *source) {
	w := s.lead()
	session := w.probe.(sharer)
	h.turn, h.answer, s.granted = share.Turn{Ask: true}, nil, true
	identity := session.Identity(w.p.AnswersName)
	if identity == nil {
		h.leave()
		return
	}
	if u, err := url.Parse(s.place.name); w.p.AnswersName == "" && err == nil && share.IsLocal(u.Hostname()) {
		identity = append(identity, share.Machine()...)
	}
	if !bytes.Equal(identity, h.identity) {
		h.leave()
		since := slices.MaxFunc([]time.Time{w.Start.Add(w.p.InitialDelay), w.Began, w.Last}, time.Time.Compare)
		h.identity = identity
		h.question = w.p.Answers.Question(s.place.name, identity, since, w.commonWait)
	}
	h.turn = h.question.Claim(time.Now())
	h.next = h.turn.Next
	if h.turn.Answer != nil {
		o, err := readAnswer(h.turn.Answer, session)
		if h.answer = &o; err == nil {
			return
		}
		h.turn, h.answer = share.Turn{Ask: true, Alone: true}, nil
	}
	if h.held.IsZero() {
		h.held = time.Now().Add(cmp.Or(w.p.AttemptTimeout, mostHeld))
	}
	s.granted = !h.isLeft(w, time.Now())
}

// commonWait returns the wait after so many attempts of all who share the answers.
func (w *wait) commonWait(step int, u float64) time.Duration {
	random := rand.New(rand.NewPCG(math.Float64bits(u), uint64(step)))
	var waited, wait time.Duration
	const most = 100 // the waits have long reached their longest
	for n := range min(step, most) + 1 {
		wait = w.p.Schedule.Wait(backoff.Step{N: n, Elapsed: waited, Previous: wait}, random)
		waited = backoff.Add(waited, wait)
	}
	return wait
}

// isLeft reports whether the attempt is left to another process. It is due again when that is
// to be done with it, or at its time for the last look.
func (h *sharing) isLeft(w *wait, now time.Time) bool {
	if h.turn.Ask || w.LastLook || h.turn.Next.IsZero() || !now.Before(h.held) { // whoever makes it may hang
		return false
	}
	w.Due, w.Reserved = earliest(h.turn.Next, h.held), false
	if !w.deadline.IsZero() {
		latest := w.deadline.Add(-w.reserve(w.deadline.Sub(now)))
		w.LastLook = latest.Before(w.Due)
		w.Due = earliest(w.Due, latest)
	}
	return true
}

// write returns the answer to an attempt for others, nil if there is none for them: what keeps
// an answer from coming may be different there.
func (h *sharing) write(s *source, o status.Observation) []byte {
	if h == nil || h.question == nil || o.Failure != nil || o.Following.Start {
		return nil
	}
	session, ok := s.lead().probe.(sharer)
	if !ok {
		return nil
	}
	text, err := json.Marshal(sharedAnswer{V: answerVersion, Observation: o, Left: session.Leave()})
	if err != nil {
		return nil
	}
	return text
}

// answered shares the answer to an attempt that this process was to make.
func (h *sharing) answered(answer []byte) {
	if h != nil && h.question != nil && h.turn.Ask {
		h.next = h.question.Answered(answer)
	}
}

// forget forgets the attempt that has ended.
func (h *sharing) forget() {
	if h != nil {
		h.turn, h.answer, h.held = share.Turn{}, nil, time.Time{}
	}
}

// leave ends what is shared.
func (h *sharing) leave() {
	if h == nil || h.question == nil {
		return
	}
	h.question.Close()
	h.question, h.identity, h.next = nil, nil, time.Time{}
}

// isTaken reports whether the attempt is another process's.
func (s *source) isTaken() bool { return s.sharing != nil && s.sharing.answer != nil }

// isAlone reports whether the attempt should have been shared, and was not.
func (s *source) isAlone() bool { return s.sharing != nil && !s.isTaken() && s.sharing.turn.Alone }

// answerVersion begins each answer. It has to change with the meaning of what follows.
const answerVersion = 2

// A sharedAnswer is an answer as those who share it read it.
type sharedAnswer struct {
	V           int                `json:"v"`
	Observation status.Observation `json:"observation"`
	Left        json.RawMessage    `json:"left,omitempty"`
}

// readAnswer reads the answer of another, and has the session adopt it.
func readAnswer(text []byte, session sharer) (status.Observation, error) {
	var a sharedAnswer
	if err := json.Unmarshal(text, &a); err != nil {
		return a.Observation, fmt.Errorf("read a shared answer: %w", err)
	}
	o := &a.Observation
	if a.V != answerVersion || o.Failure != nil || o.Following.Start {
		return *o, errors.New("read a shared answer: it is none")
	}
	if err := session.Adopt(*o, a.Left); err != nil {
		return *o, fmt.Errorf("take over a shared answer: %w", err)
	}
	o.Taken = true
	return *o, nil
}
