package fleet

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/pollcli/poll/internal/ask"
)

const (
	// maxAnswer is the size of an answer that is shared, at most.
	maxAnswer = 64 << 10
	// firstLook is the shortest time after which an answer is looked for.
	firstLook = 20 * time.Millisecond
	// usualAsks is how many requests of a process have a lease of the usual length.
	usualAsks = 500
)

// Question begins a wait for answers of a place. Nobody is elected: the process whose time comes
// first takes the lease on the question and asks. The others look again when the answer should be
// there. All compute the same time for the next attempt. Only answers to later requests count.
func (f *Fleet) Question(place string, identity []byte, schedule func(step int, u float64) time.Duration, step int) ask.Question {
	return &wait{
		f: f, place: place, key: f.key("question-", string(identity)), secret: f.mac("seal", string(identity)),
		schedule: schedule, step: step, joined: time.Now(), stopRenewing: func() {},
	}
}

// A wait is the wait of this process for answers to a question.
type wait struct {
	f        *Fleet
	place    string
	key      string
	secret   []byte // of the answers
	schedule func(step int, u float64) time.Duration
	joined   time.Time

	lastSeen int64 // answers to requests up to this number do not count; 0 before the first look
	step     int
	askID    int64 // the number of the last request, 0 if another process made it, or it was in vain

	stopRenewing context.CancelFunc
}

// Claim is called when an attempt is due. A process that finds no answer and no lease asks.
func (w *wait) Claim(now time.Time) ask.Turn {
	var l lease
	var at, askID int64
	var left time.Duration
	w.f.refresh(w.place)
	length := min(leaseTime*(1+w.f.asks.Load()/usualAsks), maxLease)
	shared := change(w.f, w.key, func(rec *lease, when int64) {
		if w.lastSeen == 0 {
			w.lastSeen = max(rec.Number, when-1)
		}
		at, askID, left = when, 0, w.left(rec, when)
		if left <= 0 && !w.isNews(rec, at) {
			askID = rec.take(at, w.lastSeen, w.step, length)
		}
		l = *rec
	})
	switch {
	case !shared:
		w.askID = 0
		return ask.Turn{Ask: true, Unshared: true}
	case askID != 0:
		w.begin(askID, length)
		return ask.Turn{Ask: true}
	case w.isNews(&l, at):
		return w.take(&l, at, now)
	}
	return ask.Turn{Next: now.Add(left)}
}

// isNews reports whether there is an answer to a request of after this wait began, also by the
// clock of another store.
func (w *wait) isNews(l *lease, at int64) bool {
	return l.Answered > w.lastSeen && micros(at-l.Answered) < time.Since(w.joined)
}

// take returns the answer of another process. If it cannot be read, this process asks for itself.
func (w *wait) take(l *lease, at int64, now time.Time) ask.Turn {
	w.lastSeen, w.askID = l.Answered, 0
	answer := w.open(l)
	if answer == nil {
		return ask.Turn{Ask: true}
	}
	w.step++
	return ask.Turn{Answer: answer, Next: now.Add(max(0, w.left(l, at)))}
}

// wait returns the wait after the last attempt.
func (w *wait) wait(l *lease) time.Duration { return w.schedule(max(l.Step, w.step), l.jitter()) }

// left returns how long it is until the next attempt or, while another process asks, the next look.
// It is due at once if that process has died, or if a clock was set.
func (w *wait) left(l *lease, at int64) time.Duration {
	age := micros(at - l.Ended)
	switch {
	case l.isHeld(at):
		return within(max(2*firstLook, min(micros(at-l.Number)/2, micros(l.Expires-at))))
	case l.Expires != 0 || age < 0:
		return 0
	}
	wait := w.wait(l)
	left := wait - age
	if w.step == 0 { // the first attempt comes early
		left = min(left, wait/2-time.Since(w.joined))
	}
	if left > 0 && w.askID == 0 { // the process that asked last is ahead, so that the others find the answer
		left += firstLook + within(min(wait/10, time.Second))
	}
	return left
}

// begin notes that this process makes a request, and renews its lease until it has. One that lasts
// for much longer than the schedule and the lease hangs perhaps.
func (w *wait) begin(number, length int64) {
	patience := max(3*w.wait(&lease{}), micros(length*3/2))
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	renewals := time.AfterFunc(micros(length/2), func() { w.renew(ctx, number, length) })
	w.f.asks.Add(1)
	w.askID, w.stopRenewing = number, sync.OnceFunc(func() {
		renewals.Stop()
		cancel()
		w.f.asks.Add(-1)
	})
}

// renew renews the lease of a request again and again.
func (w *wait) renew(ctx context.Context, number, length int64) {
	for ctx.Err() == nil {
		change(w.f, w.key, func(l *lease, now int64) { l.renew(now, number, length) })
		select {
		case <-ctx.Done():
		case <-time.After(micros(length / 2)):
		}
	}
}

// Answered shares the answer to the attempt that Claim gave to this process.
func (w *wait) Answered(answer []byte) (next time.Time) {
	now, number := time.Now(), w.askID
	w.stopRenewing()
	w.step++
	if answer == nil {
		w.askID = 0
	}
	if len(answer) > maxAnswer {
		w.f.say("long", "an answer of more than 64 KiB is not shared: each process asks for itself")
	}
	left := w.schedule(w.step, rand.Float64()) // if it was lost, or another process asks
	change(w.f, w.key, func(l *lease, at int64) {
		if l.end(at, number, w.sealed(answer, number)) {
			left = w.left(l, at)
		}
	})
	w.lastSeen = max(w.lastSeen, number)
	return now.Add(max(0, left))
}

// Close ends the wait. One for the same that begins soon after has short waits again, if they have
// grown.
func (w *wait) Close() {
	isAsking := w.lastSeen < w.askID
	hasGrown := w.schedule(w.step, 1) > 2*w.schedule(1, 1)
	if w.stopRenewing(); w.askID == 0 || !isAsking && !hasGrown {
		return
	}
	change(w.f, w.key, func(l *lease, at int64) {
		l.end(at, w.askID, nil)
		l.Step = 0
	})
}

// sealed encrypts the answer to a request, so that only a process that could have asked can read it,
// or make one. It returns nil for none, and "" for one that is too long.
func (w *wait) sealed(answer []byte, number int64) *string {
	switch {
	case answer == nil:
		return nil
	case len(answer) > maxAnswer:
		return new("")
	}
	return new(base64.StdEncoding.EncodeToString(w.seal().Seal(nil, nil, answer, w.about(number))))
}

// open returns the answer; nil if there is none.
func (w *wait) open(l *lease) []byte {
	sealed, _ := base64.StdEncoding.DecodeString(l.Answer)
	answer, _ := w.seal().Open([]byte{}, nil, sealed, w.about(l.Answered))
	return answer
}

// seal encrypts answers. It is large beside the wait.
func (w *wait) seal() cipher.AEAD {
	block, _ := aes.NewCipher(w.secret) // of 32 bytes, as it has to be
	seal, _ := cipher.NewGCMWithRandomNonce(block)
	return seal
}

// about is what an answer is bound to: an old one is none to a new request.
func (w *wait) about(number int64) []byte { return fmt.Appendf(nil, "%s %d", w.key, number) }

const (
	// leaseTime is how long a lease lasts that is not renewed, in microseconds: so long others wait.
	leaseTime = 5_000_000
	// maxLease is how long one of a process is that asks for thousands: to renew that many often
	// costs more than to ask.
	maxLease = 6 * leaseTime
	// forgottenAfter is the time after which a wait does not go on from the step of others, in microseconds.
	forgottenAfter = 60_000_000
	// maxSteps is more than any wait takes.
	maxSteps = 1 << 30
	// leaseVersion changes with the meaning of a lease.
	leaseVersion = 3
)

// A lease is shared by all waits for a question: it says whether a process asks, and has the last
// answer. Its times are in microseconds of the store's clock. Requests are numbered by their start
// time, forced to increase, so that a clock set back cannot make an old answer look new. Its methods
// are steps.
type lease struct {
	V        int    `json:"v"`
	Number   int64  `json:"number"` // of the newest request
	Step     int    `json:"step"`
	Expires  int64  `json:"expires"`  // 0 if the newest request has ended
	Ended    int64  `json:"ended"`    // when the last request did
	Answered int64  `json:"answered"` // the number of the request that the answer is to, 0 for none
	Answer   string `json:"answer"`   // sealed; empty if each has to ask for itself
}

func (l lease) isValid() bool {
	return l.V == leaseVersion && l.Number > 0 && l.Number < math.MaxInt64 && l.Answered >= 0 && l.Answered <= l.Number && l.Step >= 0 && l.Step < maxSteps
}

// isHeld reports whether a process asks. No lease is longer, unless a clock was set.
func (l *lease) isHeld(now int64) bool { return l.Expires > now && l.Expires <= now+maxLease }

// take begins a request with a number above two others. The waits of others get the answer to it,
// and not the one before.
func (l *lease) take(now, seen int64, step int, length int64) (number int64) {
	if now-l.Ended > forgottenAfter {
		l.Step = 0
	}
	l.V, l.Number, l.Step = leaseVersion, max(now, l.Number+1, seen+1), max(l.Step, step)
	l.Expires, l.Answered, l.Answer = now+length, 0, ""
	return l.Number
}

// renew prolongs the lease of a request, unless that has ended or another one has begun.
func (l *lease) renew(now, number, length int64) {
	if l.Number == number && l.Expires != 0 {
		l.Expires = now + length
	}
}

// end ends a request, if it is the newest and has not ended. It was in vain if answer is nil.
func (l *lease) end(now, number int64, answer *string) bool {
	if l.Number != number || l.Expires == 0 {
		return false
	}
	l.Expires, l.Ended = 0, now
	l.Step++
	if answer != nil {
		l.Answered, l.Answer = number, *answer
	}
	return true
}

// jitter returns a number between 0 and 1 that all compute alike.
func (l *lease) jitter() float64 {
	return float64(uint64(l.Number)*0x9e3779b97f4a7c15>>11) / (1 << 53) // Knuth's multiplicative hash
}
