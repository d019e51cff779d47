// Package body keeps the beginning of answers, within a bound for all that are long.
package body

import (
	"bytes"
	"context"
	"io"
	"sync"
)

const (
	// free is how much of an answer is kept without a place, in bytes.
	free = 1 << 20
	// short is how long an answer is at least that keeps the room it was read into, in bytes.
	short = 64 << 10
	// believed is the longest announced length for which room is made, in bytes.
	believed = 64 << 20
	// places is how many answers may be longer at once.
	places = 2
)

// A Budget is poll.Bodies.
type Budget struct {
	once sync.Once
	long chan struct{} // holds a value for each place that is taken
}

// A Hold is what one attempt holds of a budget: a place, or none. A nil Budget has a
// place for everyone.
type Hold struct {
	Budget *Budget
	// Kept is how much is kept beside what is read now, in bytes, such as earlier pages.
	Kept  int64
	taken bool
}

// free is how much may still be kept without a place, in bytes.
func (h *Hold) free() int64 { return max(0, free-h.Kept) }

// take takes a place that is free, or waits for one until ctx is done.
func (h *Hold) take(ctx context.Context) error {
	if h.Budget == nil || h.taken {
		return nil
	}
	h.Budget.once.Do(func() { h.Budget.long = make(chan struct{}, places) })
	select {
	case h.Budget.long <- struct{}{}: // even if ctx is done
	default:
		select {
		case h.Budget.long <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	h.taken = true
	return nil
}

// Release gives the place back, if one is held. Nothing is kept any more.
func (h *Hold) Release() {
	h.Kept = 0
	if h.taken {
		h.taken = false
		<-h.Budget.long
	}
}

// Read reads at most limit bytes, and reports whether it met the end. Room is made for the
// announced bytes, -1 if their number is unknown, but at first for no more than may be kept
// without a place. What was read before an error is returned with it.
func (h *Hold) Read(ctx context.Context, r io.Reader, announced, limit int64) (kept []byte, end bool, err error) {
	var b bytes.Buffer
	for _, most := range []int64{min(h.free()+1, limit), limit} { // without a place, then with one
		if room := min(announced, most, believed) - int64(b.Len()); room >= 0 {
			b.Grow(int(room) + bytes.MinRead)
		}
		want := most - int64(b.Len())
		n, err := b.ReadFrom(io.LimitReader(r, want))
		if err != nil || n < want {
			return fit(b.Bytes()), err == nil, err
		}
		if most == limit {
			break
		}
		if err := h.take(ctx); err != nil {
			return b.Bytes(), false, err
		}
	}
	return b.Bytes(), false, nil
}

// fit returns a short answer without the room that is left behind it: thousands may be kept.
func fit(kept []byte) []byte {
	if len(kept) < short {
		return bytes.Clone(kept)
	}
	return kept
}
