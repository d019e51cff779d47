package fleet

import "math"

const (
	// lease is how long who asks is waited for without a sign of life, in microseconds.
	lease = 5_000_000
	// mostSteps is more than anybody takes.
	mostSteps = 1 << 30
	// questionVersion changes with the meaning of a question.
	questionVersion = 2
)

// A question is what is shared of one. Its times are in microseconds of the store's clock. Requests
// are numbered by their start time, forced to increase, so that a clock set back cannot make an old
// answer look new. Its methods are steps.
type question struct {
	V      int    `json:"v"`
	N      int64  `json:"n"` // the newest ask
	Step   int    `json:"step"`
	Until  int64  `json:"until"` // when its lease ends, 0 if it has ended
	Ended  int64  `json:"ended"`
	Had    int64  `json:"had"`    // the ask that was answered, 0 if none was since another began
	Answer string `json:"answer"` // sealed; empty if each has to ask for itself
}

func (q question) isValid() bool {
	return q.V == questionVersion && q.N > 0 && q.N < math.MaxInt64 && q.Had >= 0 && q.Had <= q.N && q.Step >= 0 && q.Step < mostSteps
}

// isHeld reports whether somebody asks.
func (q *question) isHeld(now int64) bool { return q.Until > now && q.Until <= now+lease }

// claim begins an ask, after at least so many, and after the one that was seen.
func (q *question) claim(now, seen int64, step int) (n int64) {
	q.V, q.N, q.Step = questionVersion, max(now, q.N+1, seen+1), max(q.Step, step)
	q.Until = now + lease
	q.Had, q.Answer = 0, "" // who waits gets the next
	return q.N
}

// answered ends an ask, if it is the newest. Without an answer it was in vain.
func (q *question) answered(now, n int64, answer *string) bool {
	if q.N != n || n == 0 {
		return false
	}
	q.Until, q.Ended = 0, now
	q.Step++
	if answer != nil {
		q.Had, q.Answer = n, *answer
	}
	return true
}

// jitter returns a number between 0 and 1 that all compute alike.
func (q *question) jitter() float64 {
	return float64(uint64(q.N)*0x9e3779b97f4a7c15>>11) / (1 << 53) // Knuth's multiplicative hash
}
