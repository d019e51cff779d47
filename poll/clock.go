package poll

import (
	"context"
	"sync"
	"time"
)

// A clock is the context of an attempt, and limits the time that the attempt takes. The clock stands still while a
// request waits in a gate.
type clock struct {
	context.Context
	timer *time.Timer
	mu    sync.Mutex
	held  int           // how many requests wait in a gate
	left  time.Duration // the time left when the clock started last
	since time.Time     // when that was
}

// newClock starts a clock. The caller has to stop the clock.
func newClock(ctx context.Context, limit time.Duration) (c *clock, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	c = &clock{Context: ctx, left: limit, since: time.Now()}
	c.timer = time.AfterFunc(limit, func() { cancel(ErrAttemptTimeout) })
	return c, func() {
		c.timer.Stop()
		cancel(nil)
	}
}

// hold stops the clock while one more request waits in a gate. It returns the function that ends the wait. A nil clock limits
// nothing.
func (c *clock) hold() (release func()) {
	if c == nil {
		return func() {}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held++; c.held == 1 && c.timer.Stop() {
		c.left -= time.Since(c.since)
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.held--; c.held == 0 && c.Err() == nil {
			c.since = time.Now()
			c.timer.Reset(c.left)
		}
	}
}

// Deadline returns when the attempt ends if no further request waits in a gate.
func (c *clock) Deadline() (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	run, _ := c.Context.Deadline()
	if c.held > 0 {
		return run, !run.IsZero()
	}
	return earliest(run, c.since.Add(c.left)), true
}
