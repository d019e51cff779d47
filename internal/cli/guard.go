package cli

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/pollcli/poll/internal/term"
	"github.com/pollcli/poll/poll"
)

const (
	// margin is what an end in good order may take longer than the grace: the
	// killed program is waited for, and the last words are said.
	margin = 2 * time.Second
	// settling is what it may take after the second signal.
	settling = time.Second
	// lastWords is how long the guard's own may take.
	lastWords = 100 * time.Millisecond
	// tick is how often the guard looks. It counts these, so that the time for
	// which the process was stopped does not count.
	tick = 250 * time.Millisecond
)

// A guard is the last resort: it ends the process when that has been told to
// end, by a signal or because its time is over, and does not. Something is stuck
// then that knows no context, such as a write to a pipe that nobody reads. The
// guard asks nothing of it. The program of an attempt needs no guard, since
// nothing that stops it can be stuck.
type guard struct {
	ctx       context.Context // done at the first signal
	hurry     <-chan struct{} // closed at the second
	limits    chan limit
	delivered func() int64 // changes while somebody reads the result
	writing   atomic.Bool  // the result is under way
	end       func(error)
}

// A limit is what a run says of its time.
type limit struct {
	timeout  time.Duration // 0 for none
	deadline time.Time
	grace    time.Duration
}

// newGuard returns a guard that ends this process.
func newGuard(ctx context.Context, hurry <-chan struct{}, s *term.Streams) *guard {
	g := &guard{ctx: ctx, hurry: hurry, limits: make(chan limit, 1), delivered: s.Delivered}
	g.end = func(cause error) {
		said := make(chan struct{})
		go func() {
			fmt.Fprintf(s.Err, "poll: %v; what was under way is given up\n", cause)
			close(said)
		}()
		select {
		case <-said:
		case <-time.After(lastWords):
		}
		Exit(ctx, exitCode(cause))
	}
	return g
}

// watch returns when the process ends by itself.
func (g *guard) watch() {
	l := limit{grace: poll.DefaultGrace}
	var cause error // nil while nobody has asked for the end
	var left time.Duration
	var deadline, ticks <-chan time.Time
	var hurry <-chan struct{}
	signal, delivered := g.ctx.Done(), int64(0)
	for {
		select {
		case l = <-g.limits:
			if l.timeout > 0 && signal != nil {
				deadline = time.After(time.Until(l.deadline))
			}
			continue
		case <-deadline:
			cause, left = &timeoutError{l.timeout}, l.grace+margin
		case <-signal:
			signal, hurry, deadline = nil, g.hurry, nil
			if cause = context.Cause(g.ctx); errors.Is(cause, context.Canceled) {
				return
			}
			left = l.grace + margin
		case <-hurry:
			hurry, left = nil, min(left, settling)
		case <-ticks:
			left -= tick
		}
		if now := g.delivered(); now != delivered && signal != nil {
			delivered, left = now, l.grace+margin
		}
		if left <= 0 {
			g.end(g.explained(cause))
			return
		}
		ticks = time.After(tick)
	}
}

// explained is the cause of the end, and why that is not the one that may have
// been said already: a SUCCESS is none until somebody has its result.
func (g *guard) explained(cause error) error {
	if g.writing.Load() {
		return fmt.Errorf("%w, and the result was not written in full by then", cause)
	}
	return cause
}

// await returns what f returns, or the cause of ctx if that is done before.
// Nothing can end a read from a pipe that nobody writes to, so f is then left
// to itself, and what it has under its hands must not be used any more.
func await(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// deliver writes the result, and gives up at a signal. What comes of a signal
// is written, too, and then it is for the guard to see to the end.
func (w World) deliver(ctx context.Context, write func() error) error {
	if w.guard != nil {
		w.guard.writing.Store(true)
		defer w.guard.writing.Store(false)
	}
	if ctx.Err() != nil {
		return write()
	}
	return await(ctx, write)
}
