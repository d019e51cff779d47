package fleet

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	crand "crypto/rand"
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/poll/internal/share"
)

const (
	// mostAnswer is the size of an answer that is shared, at most.
	mostAnswer = 64 << 10
	// lease is how long who asks is waited for without a sign of life.
	lease = 5_000_000 // microseconds
	// longest is the most that an attempt is taken to last, for how long others wait for it.
	longest = 60 * lease
	// mostSteps is more than anybody takes.
	mostSteps = 1 << 30
	// questionVersion changes with the meaning of a question.
	questionVersion = 1
)

// Answers has all processes of a [Fleet] share what they are answered. Nobody is elected: whose
// time comes first asks, and has the lease on the question until then; the others look again
// when the answer should be there. All compute the same time for the next attempt.
type Answers struct{ Fleet *Fleet }

var _ poll.Answers = Answers{}

// Question begins a wait.
func (a Answers) Question(identity []byte, since time.Time, schedule func(step int, u float64) time.Duration) share.Question {
	block, _ := aes.NewCipher(a.Fleet.mac("seal", string(identity))) // of 32 bytes, as it has to be
	seal, _ := cipher.NewGCMWithRandomNonce(block)
	return &wait{
		f: a.Fleet, key: a.Fleet.key("question-", string(identity)), seal: seal,
		schedule: schedule, since: since, joined: time.Now(),
	}
}

// A wait is the wait of this process for answers to a question.
type wait struct {
	f        *Fleet
	key      string
	seal     cipher.AEAD
	schedule func(step int, u float64) time.Duration
	joined   time.Time

	since  time.Time // answers count that were asked for after
	seen   int64     // answers of asks up to this one do not count
	id     string    // of the record that was seen
	step   int
	heard  time.Time // when the last attempt ended, zero if none has
	mine   bool      // it was made here
	window int64     // the last one that was signed in to

	asks  int64              // the ask that is under way here, 0 for none
	quiet context.CancelFunc // ends its signs of life
}

// change takes a step on the record of the question, and reports whether all share it.
func (w *wait) change(do func(q *question, now int64)) (shared bool) {
	q, shared := change(w.f, w.key, &w.window, func(q *question, now int64, _ bool) bool {
		if q.V == 0 {
			q.V, q.ID = questionVersion, crand.Text()
		}
		before := *q
		do(q, now)
		return *q != before
	})
	if shared {
		w.f.waiters.Store(max(w.f.waiters.Load(), int64(q.size())))
	}
	return shared
}

// Claim is called when an attempt is due.
func (w *wait) Claim(now time.Time) share.Turn {
	var q question
	var at, seen, ask int64
	var left time.Duration
	var isNew bool
	shared := w.change(func(record *question, when int64) {
		at, ask, seen = when, 0, w.seenIn(record)
		isNew = record.Had > seen && record.Asked <= at && at-record.Asked < now.Sub(w.since).Microseconds()
		if left = w.left(record, at, now); left <= 0 && !isNew {
			ask = record.claim(at, w.step)
		}
		q = *record
	})
	w.id, w.seen = q.ID, seen
	switch {
	case isNew:
		return w.take(&q, at, now)
	case ask != 0:
		w.begin(ask, now, shared)
		return share.Turn{Ask: true, Alone: !shared}
	}
	return share.Turn{Next: now.Add(left)}
}

// seenIn returns up to which ask the answers of a record do not count. Of a record that was
// made since, only the time decides.
func (w *wait) seenIn(q *question) int64 {
	switch w.id {
	case "":
		return q.N
	case q.ID:
		return w.seen
	}
	return 0
}

// take returns the answer that a question has. If that is none, this process asks for itself.
func (w *wait) take(q *question, at int64, now time.Time) share.Turn {
	w.seen, w.since = q.Had, now.Add(-micros(at-q.Asked))
	answer := w.open(q)
	if answer == nil {
		return share.Turn{Ask: true}
	}
	w.step++
	w.heard, w.mine = now, false
	return share.Turn{Answer: answer, Next: now.Add(max(0, w.left(q, at, now)))}
}

// left returns how long it is until the next attempt or, while another asks, the next look.
func (w *wait) left(q *question, at int64, now time.Time) time.Duration {
	wait := w.schedule(max(q.Step, w.step), q.jitter())
	took := micros(q.took(at))
	if q.Until != 0 {
		// Who asks for much longer than the schedule and the last one hangs perhaps.
		patience := max(3*wait, 2*micros(lease))
		if !q.isHeld(at) || took > patience {
			return 0
		}
		look := 20*time.Millisecond + took/4
		return min(look+rand.N(look), micros(q.Until-at)+rand.N(lease*time.Microsecond/20))
	}
	age := micros(at - q.Ended)
	if q.N == 0 || age < 0 { // nobody has asked, or the clock was set back
		if w.heard.IsZero() {
			return 0
		}
		age = now.Sub(w.heard)
	}
	if age > 2*wait+2*micros(lease) { // nobody has been here for long
		q.Step = 0
	}
	left := wait - age
	if w.step == 0 {
		left = min(left, wait/2-now.Sub(w.joined))
	}
	if left > 0 && !w.mine { // who asked last is ahead, so that the others find the answer
		left += 20*time.Millisecond + took*3/2 + rand.N(1+min(wait/10, time.Second))
	}
	return left
}

// begin notes that this process makes an ask, and shows that it is alive until it has.
func (w *wait) begin(n int64, now time.Time, shared bool) {
	w.asks, w.since = n, now
	ctx, quiet := context.WithCancel(context.Background())
	if w.quiet = quiet; !shared {
		return
	}
	id := w.id
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(lease * time.Microsecond / 3):
			}
			w.f.try(w.key, func(text string, now int64, _ bool) string {
				q := read[question](w.f, text)
				if q.ID != id {
					return text
				}
				q.isAlive(now, n)
				return encode(q)
			})
		}
	}()
}

// Answered shares the answer to the attempt that Claim gave to this process.
func (w *wait) Answered(answer []byte) (next time.Time) {
	now, n := time.Now(), w.asks
	var left time.Duration
	w.end()
	w.step++
	w.heard, w.mine = now, answer != nil
	if len(answer) > mostAnswer {
		w.f.say("long", "an answer of more than 64 KiB is not shared: each process asks for itself")
	}
	w.change(func(q *question, at int64) {
		if q.ID != w.id || q.N != n { // it was lost, or another asks
			left = w.schedule(max(q.Step, w.step), q.jitter())
			return
		}
		q.answered(at, n, w.sealed(answer, q))
		left = w.left(q, at, now)
	})
	w.seen = max(w.seen, n)
	return now.Add(max(0, left))
}

// end ends the signs of life.
func (w *wait) end() {
	if w.quiet != nil {
		w.quiet()
	}
	w.asks, w.quiet = 0, nil
}

// Close ends the wait. Who waits for the same soon after begins with short waits again.
func (w *wait) Close() {
	n := w.asks
	if w.end(); n == 0 && !w.mine {
		return
	}
	w.change(func(q *question, at int64) {
		if q.ID == w.id {
			q.answered(at, n, nil)
			q.Step = 0
		}
	})
}

// sealed encrypts the answer to the newest ask: only who could have asked can read it, or make
// one. It returns nil for none, and nothing for one that is too long.
func (w *wait) sealed(answer []byte, q *question) *string {
	switch {
	case answer == nil:
		return nil
	case len(answer) > mostAnswer:
		return new("")
	}
	return new(base64.StdEncoding.EncodeToString(w.seal.Seal(nil, nil, answer, w.about(q.ID, q.N, q.Begun))))
}

// open returns the answer that a question has; nil if there is none.
func (w *wait) open(q *question) []byte {
	sealed, _ := base64.StdEncoding.DecodeString(q.Answer)
	answer, _ := w.seal.Open([]byte{}, nil, sealed, w.about(q.ID, q.Had, q.Asked))
	return answer
}

// about is what an answer is bound to: an old one is none to a new ask.
func (w *wait) about(id string, n, begun int64) []byte {
	return fmt.Appendf(nil, "%s %s %d %d", w.key, id, n, begun)
}

// A question is what is shared of one. It counts asks, so that no clock decides which answer is
// new. Its times are in microseconds of the store's clock. Its methods are steps.
type question struct {
	V      int    `json:"v"`
	ID     string `json:"id"` // of this record: numbers of one that was lost mean nothing
	N      int64  `json:"n"`  // the newest ask
	Step   int    `json:"step"`
	Begun  int64  `json:"begun"` // the newest ask
	Until  int64  `json:"until"` // when its lease ends, 0 if it has ended
	Ended  int64  `json:"ended"`
	Had    int64  `json:"had"`    // the ask that was answered, 0 if none was since another began
	Asked  int64  `json:"asked"`  // when that began
	Answer string `json:"answer"` // sealed; empty if each has to ask for itself
	crowd
}

func (q question) isValid() bool {
	return q.V == questionVersion && q.ID != "" && q.N >= 0 && q.Had >= 0 && q.Had <= q.N && q.Step >= 0 && q.Step < mostSteps
}

func (q *question) processes() *crowd { return &q.crowd }

// isHeld reports whether somebody asks.
func (q *question) isHeld(now int64) bool { return q.Until > now && q.Until <= now+lease }

// took returns how long the newest ask lasted, or has lasted until now.
func (q *question) took(now int64) int64 {
	if q.Until == 0 {
		now = q.Ended
	}
	return min(max(0, now-q.Begun), longest)
}

// claim begins an ask, after at least so many.
func (q *question) claim(now int64, step int) (n int64) {
	q.N, q.Step = q.N+1, max(q.Step, step)
	q.Begun, q.Until = now, now+lease
	q.Had, q.Asked, q.Answer = 0, 0, "" // who waits gets the next
	return q.N
}

// isAlive notes that who made an ask is alive. It does nothing once another has begun.
func (q *question) isAlive(now, n int64) {
	if q.N == n && q.Until != 0 {
		q.Until = now + lease
	}
}

// answered ends an ask. Without an answer it was in vain.
func (q *question) answered(now, n int64, answer *string) {
	if q.N != n {
		return
	}
	q.Until, q.Ended = 0, now
	q.Step++
	if answer != nil {
		q.Had, q.Asked, q.Answer = n, q.Begun, *answer
	}
}

// jitter returns a number between 0 and 1 that all compute alike.
func (q *question) jitter() float64 {
	h := fnv.New64a()
	fmt.Fprint(h, q.ID, q.N)
	return float64(h.Sum64()>>11) / (1 << 53)
}
