package fleet

import (
	crand "crypto/rand"
	"fmt"
	"hash/fnv"
)

const (
	// lease is how long who asks is waited for without a sign of life, in microseconds.
	lease = 5_000_000
	// mostSteps is more than anybody takes.
	mostSteps = 1 << 30
	// questionVersion changes with the meaning of a question.
	questionVersion = 1
)

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
}

func (q question) isValid() bool {
	return q.V == questionVersion && q.ID != "" && q.N >= 0 && q.Had >= 0 && q.Had <= q.N && q.Step >= 0 && q.Step < mostSteps
}

// isHeld reports whether somebody asks.
func (q *question) isHeld(now int64) bool { return q.Until > now && q.Until <= now+lease }

// claim begins an ask, after at least so many.
func (q *question) claim(now int64, step int) (n int64) {
	if q.V == 0 {
		q.V, q.ID = questionVersion, crand.Text()
	}
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

// answered ends an ask, if it is the newest. Without an answer it was in vain.
func (q *question) answered(now, n int64, answer *string) bool {
	if n == 0 || q.N != n {
		return false
	}
	q.Until, q.Ended = 0, now
	q.Step++
	if answer != nil {
		q.Had, q.Asked, q.Answer = n, q.Begun, *answer
	}
	return true
}

// jitter returns a number between 0 and 1 that all compute alike.
func (q *question) jitter() float64 {
	h := fnv.New64a()
	fmt.Fprint(h, q.ID, q.N)
	return float64(h.Sum64()>>11) / (1 << 53)
}
