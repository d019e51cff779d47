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

	"github.com/pollcli/poll/poll"
)

const testPlace = "https://api.example.com:443"

// An api allows rate requests per second, with bursts. It rejects other requests with the wait hint. If
// extends is true, each rejected request prolongs the wait.
type api struct {
	rate, burst float64
	hint        time.Duration
	extends     bool

	mu       sync.Mutex
	level    float64
	at       time.Time
	closed   time.Time
	answered []time.Duration // times since begun
	refused  []time.Duration
	begun    time.Time
}

func (a *api) ask() (good bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	a.level = max(0, a.level-a.rate*now.Sub(a.at).Seconds())
	a.at = now
	if good = a.level+1 <= a.burst && !now.Before(a.closed); good {
		a.level++
		a.answered = append(a.answered, now.Sub(a.begun))
		return true
	}
	a.refused = append(a.refused, now.Sub(a.begun))
	if a.hint > 0 && (a.extends || !now.Before(a.closed)) {
		a.closed = now.Add(a.hint)
	}
	return false
}

// send waits for the limiter and sends a request. It returns false without a request if the slot is after end.
func send(a *api, limiter *Fleet, latency time.Duration, end time.Time) (good bool) {
	var had time.Time
	for {
		at, _ := limiter.Next(testPlace, had)
		if !at.After(time.Now()) {
			break
		}
		if time.Sleep(min(time.Until(at), time.Until(end))); at.After(end) {
			return false
		}
		had = at
	}
	sent := time.Now()
	time.Sleep(latency / 2)
	good = a.ask()
	time.Sleep(latency / 2)
	limiter.Done(testPlace, poll.Feedback{Sent: sent, Refused: !good, Wait: a.hint})
	return good
}

// crowdOf runs n processes for total. Each process makes at most one request per second. It returns the
// smallest and the largest number of successful responses per process.
func crowdOf(t *testing.T, n int, a *api, e *fake, perSecond float64, known bool, total time.Duration) (looks [2]int) {
	rnd := rand.New(rand.NewPCG(1, 2))
	synctest.Test(t, func(t *testing.T) {
		a.begun = time.Now()
		end := a.begun.Add(total)
		var all sync.WaitGroup
		if e.script != nil {
			all.Go(e.script)
		}
		got := make([]int, n)
		for i := range got {
			latency := 20*time.Millisecond + rand.N(20*time.Millisecond)
			limiter := newFleet(swapping{e}, "here", Options{PerSecond: perSecond, Known: known})
			phase := rnd.Float64()
			all.Go(func() {
				time.Sleep(time.Duration(phase * float64(100*time.Millisecond)))
				for end.After(time.Now()) {
					if send(a, limiter, latency, end) {
						got[i]++
						time.Sleep(time.Second)
					}
				}
			})
		}
		all.Wait()
		looks = [2]int{got[0], got[0]}
		for _, n := range got {
			looks = [2]int{min(looks[0], n), max(looks[1], n)}
		}
	})
	return looks
}

// A hundred processes with one target each keep the limit of an API that allows a fifth of their requests.
func TestLimiter_crowd(t *testing.T) {
	t.Parallel()
	for _, server := range []struct {
		name string
		*api
	}{
		{"Retry-After 5, extended by asking", &api{rate: 20, burst: 20, hint: 5 * time.Second, extends: true}},
		{"burst 3", &api{rate: 20, burst: 3, hint: time.Second}},
		{"burst 5 at 100 a second, as nginx's", &api{rate: 100, burst: 5}},
		{"50 a second", &api{rate: 50, burst: 50}},
		{"5 a second", &api{rate: 5, burst: 5, hint: 5 * time.Second}},
	} {
		for _, known := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, known %v", server.name, known), func(t *testing.T) {
				t.Parallel()
				const total = 90 * time.Second
				a := &api{rate: server.rate, burst: server.burst, hint: server.hint, extends: server.extends}
				perSecond := 2.5 * max(20, a.rate)
				if known {
					perSecond = a.rate
				}
				looks := crowdOf(t, 100, a, newFake(), perSecond, known, total)
				used := float64(len(a.answered)) / (a.rate * total.Seconds())
				refused := float64(len(a.refused)) / float64(len(a.refused)+len(a.answered))
				t.Logf("refused %.2f%% (%d), used %.1f%%, looks %d to %d", 100*refused, len(a.refused), 100*used, looks[0], looks[1])
				allowed := 0.01
				if a.rate < 10 {
					allowed = 0.02
				}
				switch {
				case known && a.burst > 1 && (len(a.refused) > 0 || used < 0.9):
				case refused > allowed || used < 0.7:
				case looks[0]*3 < looks[1]-3: // some process got much less than the other processes
				default:
					return
				}
				t.Error("that is not polite, or too little")
			})
		}
	}
}

// If the store fails in any way, a hundred processes continue almost at the same rate, and about 1% of the
// requests are rejected. Processes that return to the store one by one may still have a slot of their own. The
// API sends no wait: without the store, only one process would learn of the wait, and the requests of all
// other processes would be rejected meanwhile.
func TestLimiter_faults(t *testing.T) {
	t.Parallel()
	for name, fail := range faults() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &api{rate: 20, burst: 20}
			e := newFake()
			e.script = func() {
				time.Sleep(20 * time.Second)
				fail(e)
			}
			crowdOf(t, 100, a, e, 20, true, time.Minute)
			used := float64(len(a.answered)) / (a.rate * time.Minute.Seconds())
			if len(a.refused) > 12 || used < 0.6 {
				t.Errorf("that is not polite, or too little: refused %d, used %.1f%%", len(a.refused), 100*used)
			}
		})
	}
}

// Without the store, a single process sends its next request immediately, and each of several processes at a
// random time. Each process obeys the waits of its own responses.
func TestLimiter_withoutStore(t *testing.T) {
	t.Parallel()
	for _, processes := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			e := newFake()
			var limiter *Fleet
			for range processes {
				limiter = newFleet(swapping{e}, "here", Options{PerSecond: 0.1, Known: true})
				limiter.Next(testPlace, time.Time{})
			}
			e.set(func() { e.away = errors.New("killed") })
			if at, closed := limiter.Next(testPlace, time.Time{}); closed != "" || at.After(time.Now()) != (processes > 1) {
				t.Errorf("of %d processes: the first slot is in %s, %q", processes, time.Until(at), closed)
			}
			limiter.Done(testPlace, poll.Feedback{Sent: time.Now(), Refused: true, Wait: time.Hour, Reason: "HTTP 429"})
			if at, closed := limiter.Next(testPlace, time.Time{}); time.Until(at) < time.Hour || closed != "HTTP 429" {
				t.Errorf("of %d processes: the slot after a refusal is in %s, %q", processes, time.Until(at), closed)
			}
		})
	}
}

// A process that knows a limit restores the limit in a store that has lost its records.
func TestLimiter_flushed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		e := newFake()
		limiter := newFleet(swapping{e}, "here", Options{PerSecond: 10, Known: true})
		limiter.Next(testPlace, time.Time{})
		limiter.Done(testPlace, poll.Feedback{Sent: time.Now(), Refused: true, Wait: time.Hour, Reason: "HTTP 429"})
		e.become(map[string]string{})
		if at, closed := limiter.Next(testPlace, time.Time{}); time.Until(at) < 59*time.Minute || closed != "HTTP 429" {
			t.Errorf("the slot is in %s, %q", time.Until(at), closed)
		}
	})
}

// rivals is a store whose records other processes always change first.
type rivals struct{ memory }

func (*rivals) swap(context.Context, string, string, string) (string, int64, bool, error) {
	return "", time.Now().UnixMicro(), false, nil
}

// A change gives up after some seconds if other processes always change the record first.
func TestFleet_rivals(t *testing.T) {
	bubble(t, func(t *testing.T) {
		began := time.Now()
		err := swapping{&rivals{}}.change(time.Second, "key", func(string, int64) string { return "next" })
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took < time.Second || took > 6*time.Second {
			t.Errorf("%v after %s", err, took)
		}
	})
}

// A process that polls many hosts forgets the hosts that were unused for longer than a record lives.
func TestFleetForgetsUnusedOrigins(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFleet(swapping{&memory{records: map[string]string{}}}, "here", Options{})
		used := f.origin("used")
		for n := range 2000 {
			f.Next(fmt.Sprint(n), time.Time{})
			f.Next("used", time.Time{})
			time.Sleep(time.Minute)
		}
		if len(f.origins) > 300 || f.origins["used"] != used {
			t.Errorf("%d origins", len(f.origins))
		}
	})
}
