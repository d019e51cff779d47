package poll

import (
	"encoding/json"
	"time"

	"github.com/pollcli/poll/status"
)

// Answers has those who would ask the same thing share what was answered: whoever's time
// comes first asks, and the others judge that answer, each by their own rules. It may be
// used from several goroutines.
//
// No call fails. One that has to ask elsewhere takes as long as that takes, within bounds
// of its own, and has each ask for itself where there is no answer.
type Answers interface {
	// Question returns what is shared by all who ask the same. Identity is all that makes
	// the attempt, credentials, too. Only what was asked for after since counts. News is
	// called on any goroutine once another has been answered: the next Claim returns that. It is
	// called, too, once an attempt that was to be claimed later may be claimed.
	Question(identity []byte, since time.Time, news func()) Question
}

// A Question is what one wait has of its [Answers]. Its methods are called one at a time.
type Question interface {
	// Claim says who makes the attempt that is due, wait after the last answer. If none is due
	// yet, it only returns an answer that has come meanwhile, or the zero Turn, and does not
	// block; but one that was due, and is to be claimed later, may be claimed once there is news.
	Claim(wait time.Duration, due bool) Turn
	// Answered shares the answer to the attempt that a Claim gave to this process, or says
	// that there is none to share, if it is nil. Next is the wait before the next attempt, 0
	// if this process makes none.
	Answered(answer []byte, next time.Duration)
	// Close is called once the wait is over, or asks something else. It does not block.
	Close()
}

// A Turn says who makes an attempt.
type Turn struct {
	// Ask is true if this process is to make the attempt, and to say so to [Question] once it
	// has. Alone is true if it has to because nothing is shared for now.
	Ask, Alone bool
	// Answer is what another was answered since the last Claim; nil if there is none.
	Answer []byte
	// Until is when to claim again if there is neither: another is asking, or will.
	Until time.Time
	// Series is where all who share stand, if they do.
	Series Series
}

// A Series is the sequence of attempts that all who share answers make together. From it
// all of them plan the same next attempt, as far as their schedules are the same.
type Series struct {
	Began    time.Time     // of the first attempt
	N        int           // attempts that have ended so far
	Ended    time.Time     // of the last one, zero if there was none
	Previous time.Duration // the wait before it
	Seed     uint64        // of the jitter of all waits
}

// A Sharer is a session whose answers can be shared.
type Sharer interface {
	// Identity returns all that makes the next attempt; nil if its answer must not be shared,
	// because it may change something. With a name, whoever gave it vouches that it does not.
	Identity(name string) []byte
	// Leave returns what an answer left in the session: where to look next, and what makes the
	// next request conditional.
	Leave() json.RawMessage
	// Adopt takes over an answer, and what it left in the session of another.
	Adopt(o status.Observation, left json.RawMessage) error
}
