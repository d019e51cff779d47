package poll

import (
	"context"
	"sync"
	"time"
)

// A clock is the context of an attempt that enforces AttemptTimeout. The clock stops while any of the attempt's
// requests waits for the limiter.
type clock struct {
	context.Context
	timer *time.Timer
	mu    sync.Mutex
	held  int           // number of requests that wait for the limiter
	left  time.Duration // time that was left when the clock last started
	since time.Time     // time at which the clock last started
}

// newClock starts a clock that ends the attempt after limit. The caller must call stop to release the clock.
func newClock(ctx context.Context, limit time.Duration) (c *clock, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	c = &clock{Context: ctx, left: limit, since: time.Now()}
	c.timer = time.AfterFunc(limit, func() { cancel(ErrAttemptTimeout) })
	return c, func() {
		c.timer.Stop()
		cancel(nil)
	}
}

// hold stops the clock while a request waits for the limiter. The caller calls release after the wait. If
// several requests wait, the clock continues after the last release. On a nil clock hold does nothing.
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

// restart gives the attempt another limit, which starts now. It returns false if the attempt has timed out or ended, or
// if c is nil.
func (c *clock) restart(limit time.Duration) bool {
	if c == nil || !c.timer.Stop() {
		return false
	}
	c.left = limit
	c.hold()()
	return c.Err() == nil
}

// Deadline returns the time at which the attempt times out if no further request has to wait for the limiter.
// While a request waits, Deadline returns the deadline of the parent context.
func (c *clock) Deadline() (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	run, _ := c.Context.Deadline()
	if c.held > 0 {
		return run, !run.IsZero()
	}
	return earliest(run, c.since.Add(c.left)), true
}
