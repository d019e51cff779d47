package poll

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A bucket is a server that allows a rate and, beyond it, a burst, as nginx does with
// "limit_req burst=N nodelay".
type bucket struct {
	rate, burst    float64
	level          float64
	at             time.Time
	asked, refused float64
}

func (b *bucket) ask() bool {
	b.asked++
	level := max(0, b.level-b.rate*time.Since(b.at).Seconds()) + 1
	if b.at.IsZero() {
		level = 0
	}
	if level > b.burst {
		b.refused++
		return false
	}
	b.level, b.at = level, time.Now()
	return true
}

// 500 targets that ask again a second after each answer, at once if it was a refusal,
// find the limit of their server, which is a quarter of the rate that they are given.
func TestPacerFindsTheLimit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		limit, burst float64
		hint         time.Duration
	}{
		{5, 5, 0}, {5, 5, 5 * time.Second},
		{20, 5, 0}, {20, 5, 5 * time.Second},
		{50, 50, 0}, {50, 50, 5 * time.Second},
		{50, 200, 0}, {50, 200, 5 * time.Second},
		{100, 5, 0}, {100, 5, time.Second},
	} {
		t.Run(fmt.Sprintf("%g/s, burst %g, hint %s", test.limit, test.burst, test.hint), func(t *testing.T) {
			t.Parallel()
			server := &bucket{rate: test.limit, burst: test.burst}
			used, refused := crowd(t, &Pacer{PerSecond: 4 * test.limit}, server, test.hint)
			allowed := 0.01
			if test.limit < 10 {
				allowed = 0.02
			}
			t.Logf("refused %.2f%%, used %.0f%%", 100*refused, 100*used)
			if refused > allowed || used < 0.68 {
				t.Error("that is not polite, or too little")
			}
		})
	}
}

// A known limit without any burst, where one request in a hundred is refused because it came
// early, is used all the same.
func TestPacerKnowsTheLimitWithoutBurst(t *testing.T) {
	t.Parallel()
	used, refused := crowd(t, &Pacer{PerSecond: 20, Known: true}, &bucket{rate: 20, burst: 1}, 0)
	t.Logf("refused %.2f%%, used %.0f%%", 100*refused, 100*used)
	if refused > 0.01 || used < 0.85 {
		t.Errorf("refused %.2f%%, used %.0f%%", 100*refused, 100*used)
	}
}

// crowd has 500 targets ask for five minutes. It returns the share that was refused, and
// how much of what the server allows was used after the first minute.
func crowd(t *testing.T, limiter *Pacer, server *bucket, hint time.Duration) (used, refused float64) {
	limiter.Rand = rand.New(rand.NewPCG(1, 2))
	rnd := rand.New(rand.NewPCG(3, 4))
	synctest.Test(t, func(t *testing.T) {
		const total, settled, latency = 5 * time.Minute, time.Minute, 50 * time.Millisecond
		end := time.Now().Add(total)
		var before float64
		var one sync.Mutex
		time.AfterFunc(settled, func() {
			one.Lock()
			defer one.Unlock()
			before = server.asked - server.refused
		})
		ask := func() bool {
			one.Lock()
			defer one.Unlock()
			return server.ask()
		}
		turn := make(chan struct{}, 1) // one request at a time waits for its slot
		target := func() {
			for {
				turn <- struct{}{}
				sent := slotAt(limiter, "server", end)
				<-turn
				if sent.After(end) {
					return
				}
				time.Sleep(latency / 2)
				good := ask()
				time.Sleep(latency / 2)
				limiter.Done("server", Result{Sent: sent, Refused: !good, Wait: hint})
				if good {
					time.Sleep(time.Second)
				}
			}
		}
		var all sync.WaitGroup
		for range 500 {
			time.Sleep(time.Duration(rnd.Float64() * float64(4*time.Millisecond)))
			all.Go(target)
		}
		all.Wait()
		used = (server.asked - server.refused - before) / (server.rate * (total - settled).Seconds())
	})
	return used, server.refused / server.asked
}

// slot waits for the time at which a request may go, if that is before the end.
func slotAt(l Limiter, place string, end time.Time) time.Time {
	var had time.Time
	for {
		at, _ := l.Next(place, had)
		if now := time.Now(); !at.After(now) {
			return now
		}
		if at.After(end) {
			return at
		}
		time.Sleep(time.Until(at))
		had = at
	}
}
