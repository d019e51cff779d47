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

// take takes a place that is free, or waits for one until ctx is done.
func (h *Hold) take(ctx context.Context) error {
	if h.Budget == nil || h.taken {
		return nil
	}
	h.Budget.once.Do(func() { h.Budget.long = make(chan struct{}, places) })
	select {
	case h.Budget.long <- struct{}{}:
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

// A Buffer keeps the beginning of an answer.
type Buffer struct {
	Limit int64 // how many bytes are kept at most
	Hold  *Hold // what a long answer needs a place of
	Kept  []byte
}

// ReadFrom reads up to the limit or the end, of which it reports whether it was met. The
// announced length, -1 if it is unknown, is not trusted, but saves room.
func (b *Buffer) ReadFrom(ctx context.Context, r io.Reader, announced int64) (end bool, err error) {
	for int64(len(b.Kept)) < b.Limit && err == nil {
		if len(b.Kept) == cap(b.Kept) {
			if err := b.grow(ctx, announced); err != nil {
				return false, err
			}
		}
		var n int
		n, err = r.Read(b.Kept[len(b.Kept):cap(b.Kept)])
		b.Kept = b.Kept[:len(b.Kept)+n]
	}
	if err == io.EOF {
		return true, nil
	}
	return false, err
}

// grow makes room for at least a byte more, and for the announced length, which is not
// believed beyond what is free before that much has come. The end of an answer needs room
// for a byte, too: only a read shows it. Doubling copies less than append's growth does,
// and never passes the limit.
func (b *Buffer) grow(ctx context.Context, announced int64) error {
	have, free := int64(cap(b.Kept)), b.Hold.free()+1
	if announced < 0 {
		announced = first - 1
	}
	room := min(max(2*have, min(announced, b.Limit-1)+1), b.Limit)
	if have < free {
		room = min(room, free)
	}
	if room > free {
		if err := b.Hold.take(ctx); err != nil {
			return err
		}
	}
	b.Kept = append(make([]byte, 0, room), b.Kept...)
	return nil
}
