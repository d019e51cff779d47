package fleet

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/poll/internal/share"
)

// A memory is a store in memory.
type memory struct {
	mu      sync.Mutex
	records map[string]string
}

func (m *memory) swap(_ context.Context, key, old, next string) (now string, at int64, swapped bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at = time.Now().UnixMicro()
	if next == "" || m.records[key] != old {
		return m.records[key], at, false, nil
	}
	m.records[key] = next
	return "", at, true, nil
}

func (m *memory) close() {}

// A fake is a store in memory, in which things go wrong.
type fake struct {
	memory
	mu    sync.Mutex
	delay time.Duration
	away  error
	clock time.Duration // ahead of this process's
	calls int
}

func newFake() *fake {
	return &fake{memory: memory{records: map[string]string{}}, delay: time.Millisecond}
}

func (s *fake) set(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

func (s *fake) swap(ctx context.Context, key, old, next string) (string, int64, bool, error) {
	s.mu.Lock()
	delay, away := s.delay, s.away
	s.calls++
	s.mu.Unlock()
	select {
	case <-time.After(delay / 2):
	case <-ctx.Done():
		return "", 0, false, ctx.Err()
	}
	if away != nil {
		return "", 0, false, away
	}
	now, at, swapped, err := s.memory.swap(ctx, key, old, next)
	s.mu.Lock()
	at += s.clock.Microseconds()
	s.mu.Unlock()
	time.Sleep(delay / 2)
	return now, at, swapped, err
}

// forget loses all records.
func (s *fake) forget() {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	s.records = map[string]string{}
}

// A thing is what is asked about. It is done at a time.
type thing struct {
	mu    sync.Mutex
	begun time.Time
	done  time.Time
	took  time.Duration
	asked []time.Duration
}

func (t *thing) ask() []byte {
	t.mu.Lock()
	t.asked = append(t.asked, time.Since(t.begun).Round(time.Millisecond))
	t.mu.Unlock()
	time.Sleep(t.took)
	if time.Now().Before(t.done) {
		return []byte("running")
	}
	return []byte("done")
}

// waitFor waits for the thing as package poll does, and returns when it knew.
func waitFor(t *thing, a share.Answers, schedule func(int, float64) time.Duration, fails func() bool) time.Duration {
	q := a.Question([]byte("thing"), time.Now(), schedule)
	defer q.Close()
	for {
		turn := q.Claim(time.Now())
		answer, next := turn.Answer, turn.Next
		if turn.Ask {
			if fails() {
				time.Sleep(t.took)
			} else {
				answer = t.ask()
			}
			next = q.Answered(answer)
		}
		if string(answer) == "done" {
			return time.Since(t.begun)
		}
		time.Sleep(time.Until(next))
	}
}

// doubling is a schedule from a second to 20, with the first attempt at once.
func doubling(step int, u float64) time.Duration {
	if step == 0 {
		return 0
	}
	return time.Duration(float64(min(time.Second<<min(step-1, 5), 20*time.Second)) * (0.8 + 0.2*u))
}

func everySecond(step int, _ float64) time.Duration { return min(time.Duration(step), 1) * time.Second }

func healthy() bool { return false }

// waits has n processes wait for a thing that is done after a time. It returns the thing, and
// when the first and the last knew.
func waits(t *testing.T, e *fake, n int, within, done time.Duration, schedule func(int, float64) time.Duration, fails func(i int) bool) (it *thing, first, last time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		it = &thing{begun: time.Now(), done: time.Now().Add(done), took: 20 * time.Millisecond}
		first = time.Hour
		var mu sync.Mutex
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() {
				time.Sleep(time.Duration(float64(within) * float64(i) / float64(n)))
				f := newFleet(e, "here", Options{})
				knew := waitFor(it, Answers{f}, schedule, func() bool { return fails(i) })
				mu.Lock()
				defer mu.Unlock()
				first, last = min(first, knew), max(last, knew)
			})
		}
		all.Wait()
	})
	return it, first, last
}

func none(int) bool { return false }

// Many who wait for one thing ask as often as one would, and know within a second or so.
func TestAnswers_crowd(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		n            int
		within, done time.Duration
		schedule     func(int, float64) time.Duration
		most         int
	}{
		{1, 0, time.Minute, doubling, 9},
		{100, time.Second, time.Minute, doubling, 9},
		{1000, time.Second, time.Minute, doubling, 10},
		{1000, 20 * time.Second, 43 * time.Second, doubling, 14},
		{100, time.Second, 20 * time.Second, everySecond, 25},
	} {
		t.Run(fmt.Sprintf("%d within %s", test.n, test.within), func(t *testing.T) {
			t.Parallel()
			e := newFake()
			it, first, last := waits(t, e, test.n, test.within, test.done, test.schedule, none)
			t.Logf("%d requests at %v, first %s, last %s, %d calls of each", len(it.asked), it.asked, first, last, e.calls/test.n)
			if len(it.asked) > test.most || last-first > 1500*time.Millisecond {
				t.Error("that is too much, or too late")
			}
		})
	}
}

var _ = errors.New
var _ = rand.N[int]
