package fleet

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/poll/internal/share"
)

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
		if e.script != nil {
			all.Go(e.script)
		}
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

// In whatever way the store fails, many ask no more than each of them would alone, all know
// soon, and none fails.
func TestAnswers_faults(t *testing.T) {
	t.Parallel()
	for name, fail := range faults() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newFake()
			e.script = func() {
				time.Sleep(8 * time.Second)
				fail(e)
			}
			it, first, last := waits(t, e, 50, time.Second, 40*time.Second, everySecond, none)
			t.Logf("%d requests, first %s, last %s", len(it.asked), first, last)
			if len(it.asked) > 50*42 || last-first > 1500*time.Millisecond || first > 42*time.Second {
				t.Errorf("%d requests, first %s, last %s", len(it.asked), first, last)
			}
		})
	}
}

// A process whose attempts always fail keeps nobody from an answer, and neither do most of them.
func TestAnswers_failing(t *testing.T) {
	t.Parallel()
	for _, broken := range []int{1, 25, 45} {
		it, first, last := waits(t, newFake(), 50, time.Second, 20*time.Second, everySecond, func(i int) bool { return i < broken })
		_, _, _ = it, first, last
		t.Logf("%d broken: %d requests, first %s, last %s", broken, len(it.asked), first, last)
	}
}
