package pace

import "maps"

// A Result is what came of a request, in the time of the [Record].
type Result struct {
	Sent      int64 // when it was sent
	Refused   bool  // for load
	Wait      int64 // that the refusal asked for, 0 = none
	Remaining int   // requests that are allowed until Reset has passed, if that is more than 0
	Reset     int64
}

// A Slot is a time for one request, in the time of its [Record].
type Slot struct{ At, Epoch int64 }

// Given are the slots that were given for later, by the time that the caller was told.
type Given map[int64]Slot

// Again returns the slot that a request has if it still holds, and takes another otherwise.
func (g Given) Again(l *Record, r Rules, now, had int64) (s Slot, same bool) {
	if s, ok := g[had]; ok && l.Holds(s) {
		return s, true
	}
	return Slot{l.Take(r, now), l.Epoch}, false
}

// Keep notes a slot that was told for later. A slot is used once it is told for now.
func (g Given) Keep(now, told int64, s Slot) {
	if delete(g, told); told > now {
		maps.DeleteFunc(g, func(other int64, _ Slot) bool { return other < now-60*second })
		g[told] = s
	}
}

// Learn notes what came of a request. It reports whether the place is closed for longer now.
func (l *Record) Learn(r Rules, now int64, result Result) (closed bool) {
	before := l.Closed
	if result.Reset > 0 {
		l.Remaining(r, now, result.Remaining, result.Reset)
	}
	if result.Refused {
		l.Refused(r, now, result.Sent, result.Wait)
	}
	return l.Closed > before
}
