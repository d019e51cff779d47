package poll

import "time"

// A Limiter says when attempts at a place may be made, so that all who ask there stay
// within what it allows: the targets of a [Group], and others if the Limiter shares what
// it knows with them. An attempt first reserves a slot, waits for it, confirms it, and
// then begins. A Limiter may be used from several goroutines.
//
// No call fails. A Limiter that has to ask elsewhere takes as long as that takes, within
// bounds of its own, and goes on alone where it gets no answer.
type Limiter interface {
	// Reserve takes the next free slot at a place, now or later.
	Reserve(place string) Slot
	// Release gives back a slot that will not be used. One that is not given back keeps
	// the others waiting for the time between two slots.
	Release(slot Slot)
	// Confirm reports whether a slot whose time has come still holds. If the place was
	// closed or its rate cut meanwhile, it does not, and another must be reserved.
	Confirm(slot Slot) bool
	// Throttled reports that the attempt in a slot was refused for load. The place is
	// closed for wait, if that is not 0, and its rate is cut. It returns what holds now,
	// without a Reason.
	Throttled(slot Slot, wait time.Duration) Place
	// Remaining reports that the place allows n further attempts within reset, as its
	// RateLimit fields said. It returns what holds now, without a Reason.
	Remaining(slot Slot, n int, reset time.Duration) Place
	// Rate returns how many attempts a second a place allows now, 0 if there is no limit.
	Rate(place string) float64
}

// A Slot is a moment at which one attempt may begin.
type Slot struct {
	Place   string
	At      time.Time
	Version uint64 // of the place's rate: a refusal cuts it only if it has this version
	// ClosedUntil is when the place opens, zero if it is open.
	ClosedUntil time.Time
	// Alone is true if the slot is shared with no other process for now, although it should be.
	Alone bool
}
