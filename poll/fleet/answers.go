package fleet

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/pollcli/poll/internal/ask"
)

// mostAnswer is the size of an answer that is shared, at most.
const mostAnswer = 64 << 10

// Question begins a wait for answers of a place. Nobody is elected: whose time comes first asks,
// and has the lease on the question until then; the others look again when the answer should be
// there. All compute the same time for the next attempt. Only what is asked for later counts.
func (f *Fleet) Question(place string, identity []byte, schedule func(step int, u float64) time.Duration) ask.Question {
	block, _ := aes.NewCipher(f.mac("seal", string(identity))) // of 32 bytes, as it has to be
	seal, _ := cipher.NewGCMWithRandomNonce(block)
	return &wait{
		f: f, place: place, key: f.key("question-", string(identity)), seal: seal,
		schedule: schedule, joined: time.Now(), quiet: func() {},
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

	seen int64 // answers of asks up to this one do not count; 0 before the first look
	step int
	mine bool // the last attempt was made here

	asks  int64              // the ask that is under way here, 0 for none
	quiet context.CancelFunc // ends its signs of life
}

// Claim is called when an attempt is due.
func (w *wait) Claim(now time.Time) ask.Turn {
	var q question
	var at, askID int64
	var left time.Duration
	w.f.hear(w.place)
	shared := change(w.f, w.key, func(rec *question, when int64) {
		if w.seen == 0 {
			w.seen = max(rec.N, when-1)
		}
		at, askID, left = when, 0, w.left(rec, when)
		if left <= 0 && !w.isNew(rec, at) {
			askID = rec.claim(at, w.seen, w.step)
		}
		q = *rec
	})
	switch {
	case !shared:
		return ask.Turn{Ask: true, Unshared: true}
	case askID != 0:
		w.begin(askID)
		return ask.Turn{Ask: true}
	case w.isNew(&q, at):
		return w.take(&q, at, now)
	}
	return ask.Turn{Next: now.Add(left)}
}

// isNew reports whether a question has an answer that counts and was not taken, in the time of
// another store, too.
func (w *wait) isNew(q *question, at int64) bool {
	return q.Had > w.seen && micros(at-q.Had) < time.Since(w.joined)
}

// take returns the answer that a question has. If that is none, this process asks for itself.
func (w *wait) take(q *question, at int64, now time.Time) ask.Turn {
	w.seen = q.Had
	answer := w.open(q)
	if answer == nil {
		return ask.Turn{Ask: true}
	}
	w.step++
	w.mine = false
	return ask.Turn{Answer: answer, Next: now.Add(max(0, w.left(q, at)))}
}

// wait returns the wait after the last attempt.
func (w *wait) wait(q *question) time.Duration {
	return w.schedule(max(q.Step, w.step), q.jitter())
}

// left returns how long it is until the next attempt or, while another asks, the next look. Who
// finds no lease that can be, and no time of the last attempt, asks.
func (w *wait) left(q *question, at int64) time.Duration {
	if q.isHeld(at) {
		look := 20*time.Millisecond + max(0, micros(at-q.N))/4
		return min(look+rand.N(look), micros(q.Until-at)+rand.N(micros(lease/20)))
	}
	age := micros(at - q.Ended)
	if q.Until != 0 || age < 0 { // the asker has died, or the clock was set back
		return 0
	}
	wait := w.wait(q)
	if age > 2*(wait+micros(lease)) { // nobody has been here for long
		q.Step = 0
	}
	left := wait - age
	if w.step == 0 {
		left = min(left, wait/2-time.Since(w.joined))
	}
	if left > 0 && !w.mine { // who asked last is ahead, so that the others find the answer
		took := min(max(0, micros(q.Ended-q.N)), wait)
		left += 20*time.Millisecond + took*3/2 + rand.N(1+min(wait/10, time.Second))
	}
	return left
}

// begin notes that this process makes an ask, and shows that it is alive until it has. One that
// lasts for much longer than the schedule and the lease hangs perhaps.
func (w *wait) begin(n int64) {
	patience := max(3*w.wait(&question{}), micros(lease*3/2))
	ctx, quiet := context.WithTimeout(context.Background(), patience)
	w.asks, w.quiet = n, quiet
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(micros(lease / 3)):
			}
			change(w.f, w.key, func(q *question, now int64) {
				if q.N == n && q.Until != 0 { // no other has begun
					q.Until = now + lease
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
	w.mine = answer != nil && n != 0
	if len(answer) > mostAnswer {
		w.f.say("long", "an answer of more than 64 KiB is not shared: each process asks for itself")
	}
	left := w.schedule(w.step, rand.Float64()) // if it was lost, or another asks
	change(w.f, w.key, func(q *question, at int64) {
		if q.answered(at, n, w.sealed(answer, q)) {
			left = w.left(q, at)
		}
	})
	w.seen = max(w.seen, n)
	return now.Add(max(0, left))
}

// end ends the signs of life.
func (w *wait) end() {
	w.quiet()
	w.asks = 0
}

// Close ends the wait. Who waits for the same soon after begins with short waits again.
func (w *wait) Close() {
	n := w.asks
	if w.end(); n == 0 && !w.mine {
		return
	}
	change(w.f, w.key, func(q *question, at int64) {
		q.answered(at, n, nil)
		q.Step = 0
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
	return new(base64.StdEncoding.EncodeToString(w.seal.Seal(nil, nil, answer, w.about(q.N))))
}

// open returns the answer that a question has; nil if there is none.
func (w *wait) open(q *question) []byte {
	sealed, _ := base64.StdEncoding.DecodeString(q.Answer)
	answer, _ := w.seal.Open([]byte{}, nil, sealed, w.about(q.Had))
	return answer
}

// about is what an answer is bound to: an old one is none to a new ask.
func (w *wait) about(n int64) []byte { return fmt.Appendf(nil, "%s %d", w.key, n) }
