package fleet

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"
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
func waitFor(t *thing, f *Fleet, schedule func(int, float64) time.Duration, fails func() bool) time.Duration {
	q := f.Question("place", []byte("thing"), schedule, 0)
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
				f := newFleet(swapping{e}, "here", Options{})
				knew := waitFor(it, f, schedule, func() bool { return fails(i) })
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

// Processes whose attempts always fail keep nobody from an answer.
func TestAnswers_failing(t *testing.T) {
	t.Parallel()
	for _, broken := range []int{1, 25, 45} {
		it, first, last := waits(t, newFake(), 50, time.Second, 20*time.Second, everySecond, func(i int) bool { return i < broken })
		if len(it.asked) > 25 || first > 26*time.Second || last-first > 1500*time.Millisecond {
			t.Errorf("%d broken: %d requests, first %s, last %s", broken, len(it.asked), first, last)
		}
	}
}

// Who hangs while it asks is not waited for longer than twice a lease, and more than a few times
// as long as the wait.
func TestAnswers_hanging(t *testing.T) {
	bubble(t, func(t *testing.T) {
		e := newFake()
		hung := newFleet(swapping{e}, "here", Options{}).Question("place", []byte("thing"), everySecond, 0)
		if turn := hung.Claim(time.Now()); !turn.Ask {
			t.Fatalf("%+v", turn)
		}
		it := &thing{begun: time.Now(), took: time.Millisecond}
		if knew := waitFor(it, newFleet(swapping{e}, "here", Options{}), everySecond, healthy); knew > 14*time.Second || knew < 9*time.Second {
			t.Errorf("the other knows after %s", knew)
		}
		hung.Answered([]byte("late"))
		hung.Close()
	})
}

// Only what was asked for after a wait began counts, whatever happens to the store or its clock.
func TestAnswers_since(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func(e *fake, old map[string]string){
		"nothing":            func(*fake, map[string]string) {},
		"half a minute back": func(e *fake, _ map[string]string) { e.set(func() { e.clock = -30 * time.Second }) },
		"an old copy, half a minute back": func(e *fake, old map[string]string) {
			e.become(old)
			e.set(func() { e.clock = -30 * time.Second })
		},
		"an old copy": func(e *fake, old map[string]string) { e.become(old) },
		"lost, and an old copy": func(e *fake, old map[string]string) {
			e.become(map[string]string{})
			time.AfterFunc(2500*time.Millisecond, func() { e.become(old) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				e := newFake()
				if got := waitFor(&thing{begun: time.Now()}, newFleet(swapping{e}, "here", Options{}), everySecond, healthy); got > time.Second {
					t.Fatal(got)
				}
				old := maps.Clone(e.records) // it has "done"
				time.Sleep(time.Minute)
				it := &thing{begun: time.Now(), done: time.Now().Add(10 * time.Second), took: time.Millisecond}
				time.AfterFunc(time.Second, func() { fail(e, old) })
				if knew := waitFor(it, newFleet(swapping{e}, "here", Options{}), everySecond, healthy); knew < 10*time.Second || knew > 12*time.Second {
					t.Errorf("knew after %s", knew)
				}
			})
		})
	}
}

// slot waits until a request may go.
func slot(f *Fleet) {
	at, _ := f.Next(testPlace, time.Time{})
	for at.After(time.Now()) {
		time.Sleep(time.Until(at))
		at, _ = f.Next(testPlace, at)
	}
}

// Once the store is lost, those who shared answers ask no more together than the limit allows.
func TestAnswers_lostStore(t *testing.T) {
	for _, things := range []int{1, 10} {
		t.Run(fmt.Sprint(things, " things"), func(t *testing.T) { bubble(t, func(t *testing.T) { testLostStore(t, things) }) })
	}
}

// testLostStore has 50 processes wait for things at a place with a limit, for 20 s.
func testLostStore(t *testing.T, things int) {
	e, it := newFake(), &thing{begun: time.Now(), done: time.Now().Add(time.Hour), took: 5 * time.Millisecond}
	time.AfterFunc(8*time.Second, func() { e.set(func() { e.away = errors.New("killed") }) })
	every := func(step int, _ float64) time.Duration { return time.Duration(min(step, 1)) * 100 * time.Millisecond }
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			time.Sleep(time.Second * time.Duration(i) / 50)
			f := newFleet(swapping{e}, "here", Options{PerSecond: 10, Known: true})
			q := f.Question(testPlace, fmt.Append(nil, "thing ", i%things), every, 0)
			defer q.Close()
			for time.Since(it.begun) < 20*time.Second {
				turn := q.Claim(time.Now())
				if turn.Ask {
					slot(f)
					turn.Next = q.Answered(it.ask())
				}
				time.Sleep(time.Until(turn.Next))
			}
		})
	}
	all.Wait()
	sum, seconds := 0, map[int]int{}
	for _, at := range it.asked {
		second := int(at.Seconds())
		if seconds[second]++; seconds[second] > 20 && second < 20 {
			t.Errorf("%d requests in second %d", seconds[second], second)
		}
		if second >= 9 && second < 20 {
			sum++
		}
	}
	if sum > 11*12 || sum < 11*4 {
		t.Errorf("%d requests in 11 s", sum)
	}
}
