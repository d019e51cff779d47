package report

import (
	"io"
	"sync"
	"time"
)

// queueSize is how many bytes wait in a queue before Write waits, too.
const queueSize = 1 << 20

// queuePause is the shortest time between two writes of a queue: thousands of lines that come
// at once would otherwise wake its goroutine for each of them.
const queuePause = time.Millisecond

// A queue is a writer that does not wait for a slow reader until queueSize bytes are
// waiting for it. What comes while a write is under way, or right after it, is written
// together.
type queue struct {
	w io.Writer

	mu      sync.Mutex
	changed sync.Cond // of what follows
	waiting []byte
	written []func() // to be called once that is written
	closing bool
	idle    bool // everything is written
	err     error
}

// newQueue returns a queue before w. If a write fails, lost is called once with the error,
// on another goroutine.
func newQueue(w io.Writer, lost func(error)) *queue {
	q := &queue{w: w, idle: true}
	q.changed.L = &q.mu
	go func() {
		if err := q.run(); err != nil {
			lost(err)
		}
	}()
	return q
}

// Write queues p. Its error is that of an earlier write.
func (q *queue) Write(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.waiting) >= queueSize && q.err == nil {
		q.changed.Wait()
	}
	if q.err != nil {
		return 0, q.err
	}
	q.waiting = append(q.waiting, p...)
	q.idle = false
	q.changed.Broadcast()
	return len(p), nil
}

// Full reports whether Write would wait. Nil is not full.
func (q *queue) Full() bool {
	if q == nil {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting) >= queueSize
}

// Then calls f once all that was queued so far is written, but not if that fails. It may do
// so on another goroutine.
func (q *queue) Then(f func()) {
	q.mu.Lock()
	if !q.idle {
		q.written = append(q.written, f)
		f = func() {}
	}
	q.mu.Unlock()
	f()
}

// Close waits until everything is written, or a write has failed.
func (q *queue) Close() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closing = true
	q.changed.Broadcast()
	for !q.idle && q.err == nil {
		q.changed.Wait()
	}
	return q.err
}

// run writes what is queued, until that fails or the queue is closed.
func (q *queue) run() error {
	var writing []byte
	var next time.Time
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		for len(q.waiting) == 0 && len(q.written) == 0 {
			q.idle = true
			q.changed.Broadcast()
			if q.closing {
				return nil
			}
			q.changed.Wait()
		}
		if pause := time.Until(next); pause > 0 {
			q.mu.Unlock()
			time.Sleep(pause)
			q.mu.Lock()
		}
		next = time.Now().Add(queuePause)
		writing, q.waiting = q.waiting, writing[:0]
		written := q.written
		q.written = nil
		q.changed.Broadcast()
		q.mu.Unlock()
		err := q.write(writing, written)
		q.mu.Lock()
		if q.err = err; err != nil {
			q.changed.Broadcast()
			return err
		}
	}
}

// write writes what was queued, and tells that it did.
func (q *queue) write(text []byte, written []func()) error {
	if len(text) > 0 {
		if _, err := q.w.Write(text); err != nil {
			return err
		}
	}
	for _, f := range written {
		f()
	}
	return nil
}
