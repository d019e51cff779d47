// Package body keeps the beginning of answers, within a bound for all that are long.
package body

import (
	"context"
	"io"
	"sync"
)

const (
	// free is how much of an answer is kept without a place, in bytes.
	free = 1 << 20
	// places is how many answers may be longer at once.
	places = 2
	// first is the room for an answer whose length is not announced, in bytes.
	first = 512
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
func (h *Hold) free() int64 {
	if h == nil {
		return free
	}
	return max(0, free-h.Kept)
}

// take waits for a place until ctx is done.
func (h *Hold) take(ctx context.Context) error {
	if h.Budget == nil || h.taken {
		return nil
	}
	h.Budget.once.Do(func() { h.Budget.long = make(chan struct{}, places) })
	select { // one that is free is taken even if ctx is done
	case h.Budget.long <- struct{}{}:
		h.taken = true
		return nil
	default:
	}
	select {
	case h.Budget.long <- struct{}{}:
		h.taken = true
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Release gives the place back, if one is held. Nothing is kept any more.
func (h *Hold) Release() {
	h.Kept = 0
	if h.taken {
		h.taken = false
		<-h.Budget.long
	}
}

// A Buffer keeps the beginning of an answer.
type Buffer struct {
	Limit int64 // how many bytes are kept at most
	Hold  *Hold // what a long answer needs a place of
	Kept  []byte
}

// ReadFrom reads up to the limit or the end, of which it reports whether it was met. The
// announced length, -1 if it is unknown, is not trusted, but saves room.
func (b *Buffer) ReadFrom(ctx context.Context, r io.Reader, announced int64) (end bool, err error) {
	free := int(b.Hold.free())
	for b.left() > 0 {
		room := b.Kept[len(b.Kept):cap(b.Kept)]
		switch {
		case len(room) > 0:
		case int64(len(b.Kept)) == announced, len(b.Kept) == free: // this may be the end, which needs no room
			room = make([]byte, min(32, b.left()))
		default:
			if err := b.grow(ctx, 1, announced); err != nil {
				return false, err
			}
			continue
		}
		n, err := r.Read(room)
		if n > 0 && len(b.Kept) == cap(b.Kept) {
			if failed := b.grow(ctx, int64(len(b.Kept)+n), announced); failed != nil {
				return false, failed
			}
			copy(b.Kept[len(b.Kept):cap(b.Kept)], room[:n])
		}
		b.Kept = b.Kept[:len(b.Kept)+n]
		if err == io.EOF {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// Write keeps what there is room for, or nothing once ctx is done.
func (b *Buffer) Write(ctx context.Context, p []byte) {
	p = p[:min(int64(len(p)), b.left())]
	need := int64(len(b.Kept) + len(p))
	if need > int64(cap(b.Kept)) && b.grow(ctx, need, need) != nil {
		return
	}
	b.Kept = append(b.Kept, p...)
}

// left is how much may still be kept.
func (b *Buffer) left() int64 { return b.Limit - int64(len(b.Kept)) }

// grow makes room for at least so many bytes in all, and for the expected length: -1 if it
// is unknown, and not believed beyond what is free before that much has come. Doubling
// copies less than append's growth does, and never passes the limit.
func (b *Buffer) grow(ctx context.Context, least, expected int64) error {
	have, free := int64(cap(b.Kept)), b.Hold.free()
	if expected < 0 {
		expected = first
	}
	if have < free {
		expected = min(expected, free)
	}
	room := min(max(2*have, least, expected), b.Limit)
	if room > free {
		if err := b.Hold.take(ctx); err != nil {
			return err
		}
	}
	b.Kept = append(make([]byte, 0, room), b.Kept...)
	return nil
}
