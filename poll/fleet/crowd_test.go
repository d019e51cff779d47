package fleet

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/poll"
)

// An api allows 20 requests a second, and a burst of 20. What it says of the others is a
// hint, which may be prolonged by asking on.
type api struct {
	mu       sync.Mutex
	hint     time.Duration
	extends  bool
	level    float64
	at       time.Time
	closed   time.Time
	answered []time.Duration // since begun
	refused  []time.Duration
	begun    time.Time
}

const apiRate, apiBurst = 20, 20

func (a *api) ask() (good bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	a.level = max(0, a.level-apiRate*now.Sub(a.at).Seconds())
	a.at = now
	if good = a.level+1 <= apiBurst && !now.Before(a.closed); good {
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

// since counts those that are not before a time.
func since(moments []time.Duration, begin time.Duration) (n int) {
	for _, at := range moments {
		if at >= begin {
			n++
		}
	}
	return n
}

// A hundred processes with one target each, which they would look at once a second, are
// polite together to an API that allows a fifth of that.
func TestCrowd(t *testing.T) {
	t.Parallel()
	for _, server := range []struct {
		name    string
		hint    time.Duration
		extends bool
	}{
		{"429 without hint", 0, false},
		{"Retry-After 5", 5 * time.Second, false},
		{"Retry-After 5, extended by asking", 5 * time.Second, true},
	} {
		for _, known := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, known %v", server.name, known), func(t *testing.T) {
				t.Parallel()
				const total = time.Minute
				a := &api{hint: server.hint, extends: server.extends}
				perSecond := 50.0
				if known {
					perSecond = apiRate
				}
				looks := crowd(t, a, &fake{delay: time.Millisecond}, perSecond, known, total)
				used := float64(len(a.answered)) / (apiRate * total.Seconds())
				refused := float64(len(a.refused)) / float64(len(a.refused)+len(a.answered))
				t.Logf("refused %.2f%% (%d), used %.1f%%, looks %d to %d", 100*refused, len(a.refused), 100*used, looks[0], looks[1])
				switch {
				case known && (since(a.refused, time.Second) > 0 || used < 0.949): // it is spaced for 95%
				case !known && (refused > 0.01 || used < 0.7):
				case looks[0]*3 < looks[1]: // nobody is left out
				default:
					return
				}
				t.Error("that is not polite, or too little")
			})
		}
	}
}

// faults are what may befall an engine that comes back.
func faults() map[string]func(*fake) {
	return map[string]func(*fake){
		"paused": func(e *fake) {
			e.set(func() { e.delay = time.Hour })
			time.Sleep(10 * time.Second)
			e.set(func() { e.delay = time.Millisecond })
		},
		"broken": func(e *fake) {
			e.set(func() { e.away = errors.New("broken") })
			time.Sleep(10 * time.Second)
			e.set(func() { e.away = nil })
		},
		"restarted empty": func(e *fake) {
			e.set(func() { e.away, e.states, e.sheets = errors.New("broken"), nil, nil })
			time.Sleep(time.Second)
			e.set(func() { e.away = nil })
		},
	}
}

// While what they share stands still for ten seconds, or was lost, a hundred processes go on
// as fast as they did, and no faster.
func TestCrowd_withoutEngine(t *testing.T) {
	t.Parallel()
	for name, fail := range faults() {
		for _, known := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, known %v", name, known), func(t *testing.T) {
				t.Parallel()
				a := &api{hint: 5 * time.Second}
				perSecond := 50.0
				if known {
					perSecond = apiRate
				}
				e := &fake{delay: time.Millisecond}
				e.script = func() {
					time.Sleep(20 * time.Second)
					fail(e)
				}
				crowd(t, a, e, perSecond, known, time.Minute)
				used := float64(len(a.answered)) / (apiRate * time.Minute.Seconds())
				t.Logf("refused %d, of them %d after 20 s, used %.1f%%", len(a.refused), since(a.refused, 20*time.Second), 100*used)
				isLost := name == "restarted empty" // who has not noticed takes a slot at once
				if known && !isLost && len(a.refused) > 0 || len(a.refused) > 12 || used < 0.6 {
					t.Error("that is not polite, or too little")
				}
			})
		}
	}
}

// crowd has 100 processes ask for some time. It returns the fewest and the most answers
// that one of them got.
func crowd(t *testing.T, a *api, e *fake, perSecond float64, known bool, total time.Duration) (looks [2]int) {
	rnd := rand.New(rand.NewPCG(1, 2))
	synctest.Test(t, func(t *testing.T) {
		a.begun = time.Now()
		var all sync.WaitGroup
		if e.script != nil {
			all.Go(e.script)
		}
		got := make([]int, 100)
		for i := range got {
			latency := 20*time.Millisecond + rand.N(20*time.Millisecond)
			f, err := start(e, "here", Options{})
			if err != nil {
				t.Fatal(err)
			}
			limiter := &Limiter{Fleet: f, PerSecond: perSecond, Known: known, Rand: rand.New(rand.NewPCG(3, uint64(i)))}
			phase := rnd.Float64()
			all.Go(func() {
				defer f.Close()
				time.Sleep(time.Duration(phase * float64(100*time.Millisecond)))
				for a.begun.Add(total).After(time.Now()) {
					if look(a, limiter, latency, a.begun.Add(total)) {
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

// look makes an attempt, unless the slot does not hold or is after the end.
func look(a *api, limiter poll.Limiter, latency time.Duration, end time.Time) (good bool) {
	slot := limiter.Reserve("api")
	time.Sleep(min(time.Until(slot.At), time.Until(end)))
	if slot.At.After(end) || !limiter.Confirm(slot) {
		return false
	}
	time.Sleep(latency / 2)
	good = a.ask()
	time.Sleep(latency / 2)
	if !good {
		limiter.Throttled(slot, a.hint)
	}
	return good
}
