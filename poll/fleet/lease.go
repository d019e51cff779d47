package fleet

import "math"

const (
	// leaseTime is how long a lease lasts that is not renewed, in microseconds: so long others wait.
	leaseTime = 5_000_000
	// mostLease is how long one of a process is that asks for thousands: to renew that many often
	// costs more than to ask.
	mostLease = 6 * leaseTime
	// forgottenAfter is the time after which a wait does not go on from the step of others, in microseconds.
	forgottenAfter = 60_000_000
	// mostSteps is more than any wait takes.
	mostSteps = 1 << 30
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
	return l.V == leaseVersion && l.Number > 0 && l.Number < math.MaxInt64 && l.Answered >= 0 && l.Answered <= l.Number && l.Step >= 0 && l.Step < mostSteps
}

// isHeld reports whether a process asks. No lease is longer, unless a clock was set.
func (l *lease) isHeld(now int64) bool { return l.Expires > now && l.Expires <= now+mostLease }

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
