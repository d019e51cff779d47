// Package turns says whose turn it is to ask, where many wait for the same answer: what they
// know together is a small record, and each call is a step from one record to the next. The
// steps take the time as an argument and keep nothing else, so that a record may be in
// memory, in a file or on a server.
//
// Nobody is elected. Whoever's time comes first takes a lease, asks, and shares the answer;
// the others take it. A lease keeps attempts few, and nothing depends on it: who loses it has
// made one attempt too many.
//
// Times are in microseconds since some beginning, 0 for none.
package turns

// Second is a second.
const Second int64 = 1_000_000

const (
	// Lease is how long the others wait for who is asking, unless that is prolonged.
	Lease = 5 * Second
	// horizon bounds waits: who writes what makes no sense is not believed for longer.
	horizon = 3600 * Second
	// glance is after how long who has had no answer looks again whether another asks: the
	// one who asks may have begun before.
	glance = Second
	// linger is how long an answer is kept at least.
	linger = 60 * Second
	// mostAttempts bounds the number of attempts.
	mostAttempts = 1 << 30
)

// A State is what is known of a question. The zero value is one that nobody has asked.
type State struct {
	// Of the attempts that have ended:
	Begun int64 // when the one began whose answer is shared, 0 for none
	Ended int64 // when the last one did
	First int64 // when the first one began
	N     int64 // how many there were
	Wait  int64 // before the last one
	Next  int64 // after it, 0 if who made it makes no more
	Long  bool  // the answer is too long to be shared

	// Of the one under way:
	Owner   uint64 // who makes it
	Claimed int64  // when it began
	Lease   int64  // until when the others wait for it
}

// A Member is what one wait knows of a question.
type Member struct {
	ID uint64
	// Since is when its wait began, or the last attempt that counted for it: only the answer
	// to a later one does.
	Since int64
	// Versed is true once it has had an answer, or has made an attempt. N and First are then
	// those of the State.
	Versed   bool
	N, First int64
	Held     int64 // until when it leaves its first attempt to the others
	Claimed  int64 // when its own attempt began
	Wait     int64 // before that
}

// A Turn says what a member does.
type Turn uint8

// What a member does about an attempt that is due.
const (
	Hold  Turn = iota // it claims again, or takes the answer that comes before
	Take              // it takes the answer
	Ask               // it asks, and shares the answer
	Alone             // it asks, since the answer cannot be shared
)

// Claim says whose turn it is, a wait after the last attempt, and until when to hold. The
// state changes if it is the member's.
func (s *State) Claim(m *Member, now, wait int64) (turn Turn, until int64) {
	s.Settle(now)
	lives := s.lives(now)
	switch {
	case s.Begun > max(m.Since, 0):
		m.Counted(s)
		return Take, 0
	case s.Long && now <= s.Ended+2*max(s.Wait, s.Next)+Lease:
		return Alone, 0
	case s.leased(now) && s.Owner != m.ID:
		until := s.Lease
		switch {
		case s.Ended > s.Claimed: // without an answer, which may be better elsewhere
			until = min(until, s.Ended+max(wait, min(s.Next, glance)))
		case !m.Versed:
			until = min(until, now+glance)
		}
		if until > now {
			return Hold, until
		}
	case lives && !m.Versed:
		if half := now + s.Next/2; m.Held == 0 || m.Held > half {
			m.Held = min(half, s.Ended+s.Next)
		}
		if m.Held > now {
			return Hold, m.Held
		}
	}
	if !lives { // it is the member's series that goes on, or a new one
		s.N, s.First, s.Next, s.Long = m.N, m.First, 0, false
		if s.First == 0 {
			s.First = now
		}
		if !m.Versed {
			s.Ended, s.Wait = 0, 0
		}
	}
	if s.Claimed = now; now == s.Begun {
		s.Claimed++
	}
	s.Owner, s.Lease = m.ID, now+Lease
	m.Claimed, m.Wait = s.Claimed, bounded(wait)
	return Ask, 0
}

// Counted notes that a member has taken the answer.
func (m *Member) Counted(s *State) {
	m.Since, m.Versed, m.N, m.First, m.Held = s.Begun, true, s.N, s.First, 0
}

// Renew prolongs the lease of a member, if it has it.
func (s *State) Renew(m Member, now int64) bool {
	if !s.owns(m) {
		return false
	}
	s.Lease = now + Lease
	return true
}

// Release gives the lease of a member back, if it has it.
func (s *State) Release(m Member) bool {
	if !s.owns(m) {
		return false
	}
	s.Owner, s.Claimed, s.Lease = 0, 0, 0
	return true
}

// An Ending is what came of an attempt.
type Ending uint8

// What comes of an attempt.
const (
	Answered Ending = iota // an answer
	TooLong                // one that cannot be shared
	Failed                 // none
)

// End notes what came of the attempt of a member, whose next one comes after a wait, unless
// another has taken its turn since, or the clock was set back. Who had no answer and goes on
// keeps the lease, and the others hold for a wait of theirs: a server that is down is not
// asked by all at once.
func (s *State) End(m Member, now int64, e Ending, next int64) bool {
	if !s.owns(m) || m.Claimed > now {
		return false
	}
	s.Settle(now)
	if m.Versed || s.N == 0 {
		s.Wait = m.Wait
	}
	s.Ended, s.Next, s.N = now, bounded(next), min(s.N+1, mostAttempts)
	if s.Long = e == TooLong; e == Failed {
		if next == 0 { // whoever goes on has to ask for itself
			s.Owner, s.Claimed, s.Lease = 0, 0, 0
		}
		return true
	}
	if s.Begun = m.Claimed; s.Long {
		s.Begun = 0
	}
	s.Owner, s.Claimed, s.Lease = 0, 0, 0
	return true
}

// Keep returns how long a state is kept.
func (s *State) Keep(now int64) int64 {
	return max(s.Lease, s.Ended+2*max(s.Wait, s.Next)+linger, now+linger) - now
}

func (s *State) owns(m Member) bool {
	return s.Owner == m.ID && s.Claimed == m.Claimed && m.Claimed != 0
}

// leased reports whether somebody is asking. A lease that is longer than any can be is none.
func (s *State) leased(now int64) bool {
	return now < s.Lease && s.Lease <= now+Lease && s.Claimed <= now+1 && s.Claimed > now-horizon
}

// lives reports whether there are others who will ask soon. Where nobody did for twice the
// wait, there are none.
func (s *State) lives(now int64) bool { return s.Next > 0 && now <= s.Ended+2*s.Next+Lease }

// Settle makes a state one that can hold at a time: a clock may have been set back, and what
// is written somewhere may have been written by anyone. An answer of the future is one of
// before the clock was set back: who knows when.
func (s *State) Settle(now int64) {
	if s.Begun > now+1 {
		s.Begun = 0
	}
	s.Ended = min(s.Ended, now)
	s.First = min(s.First, now)
	s.N = min(s.N, mostAttempts)
	s.Wait, s.Next = bounded(s.Wait), bounded(s.Next)
}

func bounded(wait int64) int64 { return max(0, min(wait, horizon)) }
