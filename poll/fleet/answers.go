package fleet

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/pollcli/poll/poll/internal/share"
)

// mostAnswer is the size of an answer that is shared, at most.
const mostAnswer = 64 << 10

// Question begins a wait for answers of a place. Nobody is elected: whose time comes first asks,
// and has the lease on the question until then; the others look again when the answer should be
// there. All compute the same time for the next attempt.
func (f *Fleet) Question(place string, identity []byte, since time.Time, schedule func(step int, u float64) time.Duration) share.Question {
	block, _ := aes.NewCipher(f.mac("seal", string(identity))) // of 32 bytes, as it has to be
	seal, _ := cipher.NewGCMWithRandomNonce(block)
	return &wait{
		f: f, place: place, key: f.key("question-", string(identity)), seal: seal,
		schedule: schedule, since: since, joined: time.Now(),
	}
}

// A wait is the wait of this process for answers to a question.
type wait struct {
	f        *Fleet
	place    string
	key      string
	seal     cipher.AEAD
	schedule func(step int, u float64) time.Duration
	joined   time.Time

	since time.Time // answers count that were asked for after
	seen  int64     // answers of asks up to this one do not count
	id    string    // of the record that was seen
	step  int
	heard time.Time // when the last attempt ended, zero if none has
	mine  bool      // it was made here

	asks  int64              // the ask that is under way here, 0 for none
	quiet context.CancelFunc // ends its signs of life
}

// Claim is called when an attempt is due.
func (w *wait) Claim(now time.Time) share.Turn {
	var q question
	var at, seen, ask int64
	var left time.Duration
	var isNew bool
	w.f.hear(w.place)
	shared := change(w.f, w.key, func(rec *question, when int64) {
		at, ask, seen = when, 0, w.seenIn(rec)
		isNew = rec.Had > seen && rec.Asked <= at && at-rec.Asked < now.Sub(w.since).Microseconds()
		if left = w.left(rec, at, now); left <= 0 && !isNew {
			ask = rec.claim(at, w.step)
		}
		q = *rec
	})
	if shared && q.ID != "" {
		w.id, w.seen = q.ID, seen
	}
	switch {
	case !shared:
		w.since = now
		return share.Turn{Ask: true, Alone: true}
	case isNew:
		return w.take(&q, at, now)
	case ask != 0:
		w.begin(ask, now)
		return share.Turn{Ask: true}
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

// wait returns the wait after the last attempt.
func (w *wait) wait(q *question) time.Duration {
	return w.schedule(max(q.Step, w.step), q.jitter())
}

// left returns how long it is until the next attempt or, while another asks, the next look.
func (w *wait) left(q *question, at int64, now time.Time) time.Duration {
	if q.isHeld(at) {
		look := 20*time.Millisecond + max(0, micros(at-q.Begun))/4
		return min(look+rand.N(look), micros(q.Until-at)+rand.N(micros(lease/20)))
	}
	if q.Until != 0 { // who asked is gone
		return 0
	}
	age := micros(at - q.Ended)
	if q.N == 0 || age < 0 { // nobody has asked, or the clock was set back
		if w.heard.IsZero() {
			return 0
		}
		age = now.Sub(w.heard)
	}
	wait := w.wait(q)
	if age > 2*(wait+micros(lease)) { // nobody has been here for long
		q.Step = 0
	}
	left := wait - age
	if w.step == 0 {
		left = min(left, wait/2-now.Sub(w.joined))
	}
	if left > 0 && !w.mine { // who asked last is ahead, so that the others find the answer
		took := min(max(0, micros(q.Ended-q.Begun)), wait)
		left += 20*time.Millisecond + took*3/2 + rand.N(1+min(wait/10, time.Second))
	}
	return left
}

// begin notes that this process makes an ask, and shows that it is alive until it has. One that
// lasts for much longer than the schedule and the lease hangs perhaps.
func (w *wait) begin(n int64, now time.Time) {
	id, patience := w.id, max(3*w.wait(&question{}), micros(lease*3/2))
	ctx, quiet := context.WithTimeout(context.Background(), patience)
	w.asks, w.since, w.quiet = n, now, quiet
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(micros(lease / 3)):
			}
			change(w.f, w.key, func(q *question, now int64) {
				if q.ID == id {
					q.isAlive(now, n)
				}
			})
		}
	}()
}

// Answered shares the answer to the attempt that Claim gave to this process.
func (w *wait) Answered(answer []byte) (next time.Time) {
	now, n := time.Now(), w.asks
	w.end()
	w.step++
	w.heard, w.mine = now, answer != nil && n != 0
	if len(answer) > mostAnswer {
		w.f.say("long", "an answer of more than 64 KiB is not shared: each process asks for itself")
	}
	left := w.schedule(w.step, rand.Float64()) // if it was lost, or another asks
	change(w.f, w.key, func(q *question, at int64) {
		if q.ID == w.id && q.answered(at, n, w.sealed(answer, q)) {
			left = w.left(q, at, now)
		}
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
	change(w.f, w.key, func(q *question, at int64) {
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
