package poll

import (
	"encoding/json"
	"time"

	"github.com/pollcli/poll/internal/ask"
	"github.com/pollcli/poll/status"
)

// Answers lets processes that would ask the same question share the answer: one of them
// asks, and the others judge its answer, each by their own rules. A Fleet of package fleet
// is one. They may be used from several goroutines.
type Answers interface {
	// Question begins a wait for answers of a place. identity is all that the attempt
	// consists of, with its credentials. Only answers to requests from now on count.
	// schedule returns the wait after so many steps; u, from 0 to 1, is its jitter: the
	// same for all who share the question, so that they agree on the time. This wait has
	// made step of them already.
	Question(place string, identity []byte, schedule func(step int, u float64) time.Duration, step int) ask.Question
}

// A sharing is the part of a source in the answers that are shared.
type sharing struct {
	question ask.Question // nil if the next attempt is not shared
	identity []byte       // of question
	turn     ask.Turn     // of the attempt that is due, or under way
	answer   *status.Observation
	next     time.Time // when all who share the answers look next, zero = that is not known
}

// answered shares the answer to an attempt that this process was to make. It shares no failure:
// others may not have the same one.
func (h *sharing) answered(probe Probe, o status.Observation) {
	if h.question == nil || !h.turn.Ask {
		return
	}
	var answer []byte
	if session, ok := as[Sharer](probe); ok && o.Failure == nil && !o.Following.Start {
		answer, _ = json.Marshal(sharedAnswer{V: answerVersion, Observation: o, Left: session.Leave()})
	}
	h.next = h.question.Answered(answer)
}

// leave ends the question, if there is one.
func (h *sharing) leave() {
	if h != nil && h.question != nil {
		h.question.Close()
		h.question, h.identity, h.next = nil, nil, time.Time{}
	}
}

// answerVersion begins each answer. It has to change with the meaning of what follows.
const answerVersion = 3

// A sharedAnswer is an answer as those who share it read it.
type sharedAnswer struct {
	V           int                `json:"v"`
	Observation status.Observation `json:"observation"`
	Left        json.RawMessage    `json:"left,omitempty"`
}

// adoptAnswer takes over the answer of another, and reports whether it is one.
func (h *sharing) adoptAnswer(session Sharer) bool {
	var a sharedAnswer
	err := json.Unmarshal(h.turn.Answer, &a)
	o := &a.Observation
	if err != nil || a.V != answerVersion || o.Failure != nil || o.Following.Start || session.Adopt(*o, a.Left) != nil {
		return false
	}
	o.Taken = true
	h.answer = o
	return true
}
