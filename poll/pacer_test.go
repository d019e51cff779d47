package poll

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A ledger records the results of a Limiter with their times.
type ledger struct {
	strings.Builder
	limiter Limiter
	begun   time.Time
	sent    time.Time // the last request
}

// timeline runs f in a bubble, and compares its record with a wanted record.
func timeline(t *testing.T, limiter Limiter, want string, f func(*ledger)) {
	t.Helper()
	l := &ledger{limiter: limiter}
	synctest.Test(t, func(*testing.T) {
		l.begun = time.Now()
		f(l)
	})
	if have := strings.TrimSpace(l.String()); have != strings.TrimSpace(want) {
		t.Errorf("have\n%s\nwant\n%s", have, want)
	}
}

func (l *ledger) write(format string, args ...any) {
	fmt.Fprintf(l, "%-5s "+format+"\n", append([]any{l.since(time.Now())}, args...)...)
}

func (l *ledger) since(t time.Time) time.Duration { return t.Sub(l.begun).Round(time.Millisecond) }

// next requests the next slot, and records the slot.
func (l *ledger) next(had time.Time) time.Time {
	at, closed := l.limiter.Next("here", had)
	if closed != "" {
		closed = " closed: " + closed
	}
	l.write("slot at %s%s", l.since(at), closed)
	return at
}

// send sends n requests.
func (l *ledger) send(n int) {
	for range n {
		l.sent = slotAt(l.limiter, "here", time.Now().Add(24*time.Hour))
	}
	l.write("%d sent", n)
}

// refused reports that the last request was refused.
func (l *ledger) refused(wait time.Duration) {
	l.limiter.Done("here", Feedback{Sent: l.sent, Refused: true, Wait: wait, Reason: "HTTP 429"})
}

func TestPacer_spaces(t *testing.T) {
	timeline(t, &Pacer{PerSecond: 4}, `
0s    slot at 0s
0s    slot at 250ms
0s    slot at 500ms
10s   slot at 10s
10s   slot at 10.25s
elsewhere 10s`, func(l *ledger) {
		for range 3 {
			l.next(time.Time{})
		}
		time.Sleep(10 * time.Second) // nothing is saved up
		l.next(time.Time{})
		l.next(time.Time{})
		at, _ := l.limiter.Next("there", time.Time{})
		fmt.Fprintln(l, "elsewhere", l.since(at))
	})
}

// Without a rate there is no limit until a request is rejected.
func TestPacer_withoutLimit(t *testing.T) {
	for _, rate := range []float64{0, -1, math.NaN()} {
		timeline(t, &Pacer{PerSecond: rate}, `
0s    100 sent
0s    slot at 20ms
1.991s 100 sent`, func(l *ledger) {
			l.send(100)
			l.limiter.Done("here", Feedback{Sent: l.sent}) // says nothing
			l.refused(0)
			l.next(time.Time{})
			l.send(100)
		})
	}
}

// A request keeps its slot until the rate is cut or the place closes.
func TestPacer_holds(t *testing.T) {
	timeline(t, &Pacer{PerSecond: 10, Rand: rand.New(rand.NewPCG(1, 2))}, `
0s    1 sent
0s    slot at 100ms
50ms  slot at 100ms
50ms  slot at 10.62s closed: HTTP 429
50ms  slot at 12.62s closed: HTTP 429
10.62s slot at 10.62s
10.62s slot at 13.12s`, func(l *ledger) {
		l.send(1)
		had := l.next(time.Time{})
		time.Sleep(50 * time.Millisecond)
		had = l.next(had)
		l.refused(9900 * time.Millisecond)
		had = l.next(had)
		l.next(time.Time{})
		time.Sleep(time.Until(had))
		l.next(had)
		l.next(time.Time{})
	})
}

// After few requests, a refusal halves the rate, and the rate doubles every second up to its former value. So 60
// targets, the first of which is refused, are seen within 12 s.
func TestPacer_earlyHTTP429(t *testing.T) {
	for _, pacer := range []*Pacer{{PerSecond: 50}, {PerSecond: 60, Known: true}, {PerSecond: 200}} {
		synctest.Test(t, func(t *testing.T) {
			l := &ledger{limiter: pacer, begun: time.Now()}
			l.send(1)
			l.refused(2 * time.Second)
			l.send(60)
			if took := time.Since(l.begun); took > 12*time.Second || took < 3*time.Second {
				t.Errorf("60 targets are seen after %s", took)
			}
		})
	}
}

// Refusals of requests that were sent before a cut cut nothing, and close all the same.
func TestPacer_cutsOnce(t *testing.T) {
	timeline(t, &Pacer{PerSecond: 20, Rand: rand.New(rand.NewPCG(1, 2))}, `
1.95s 40 sent
1.95s slot at 2.05s
1.95s slot at 2.143s
1.95s slot at 2.989s closed: HTTP 503`, func(l *ledger) {
		l.send(40)
		for range 5 {
			l.refused(0)
		}
		l.next(time.Time{})
		l.next(time.Time{})
		l.limiter.Done("here", Feedback{Sent: l.sent, Refused: true, Wait: time.Second, Reason: "HTTP 503"})
		l.next(time.Time{})
	})
}

// An origin that throttles every request gets fewer and fewer requests, down to one per minute.
func TestPacer_floor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{limiter: &Pacer{PerSecond: 1000}, begun: time.Now()}
		var last time.Time
		for n := range 20 {
			last = l.sent
			l.send(1)
			if n > 0 && l.sent.Sub(last) > time.Minute+time.Second {
				t.Errorf("%d: after %s", n, l.sent.Sub(last))
			}
			time.Sleep(50 * time.Millisecond)
			l.refused(0)
		}
		if gap := l.sent.Sub(last); gap < 50*time.Second {
			t.Errorf("at last one is sent after %s", gap)
		}
	})
}

// The remaining requests are spread over the time until the reset, but not faster than the rate.
func TestPacer_remaining(t *testing.T) {
	timeline(t, &Pacer{PerSecond: 10}, `
0s    1 sent
0s    slot at 2s
0s    slot at 4s
0s    slot at 6s
0s    slot at 8s
0s    slot at 10s
0s    slot at 10.1s
20s   1 sent
20s   slot at 20.1s
20s   slot at 30s closed: RateLimit
20s   slot at 30.1s closed: RateLimit`, func(l *ledger) {
		l.send(1)
		l.limiter.Done("here", Feedback{Sent: l.sent, Remaining: 5, Reset: 10 * time.Second, Reason: "RateLimit"})
		for range 6 {
			l.next(time.Time{})
		}
		time.Sleep(20*time.Second - time.Since(l.begun))
		l.send(1)
		l.limiter.Done("here", Feedback{Sent: l.sent, Remaining: 1000, Reset: time.Second, Reason: "RateLimit"})
		l.next(time.Time{})
		l.limiter.Done("here", Feedback{Sent: l.sent, Remaining: 0, Reset: 10 * time.Second, Reason: "RateLimit"})
		l.next(time.Time{})
		l.next(time.Time{})
	})
}

// After any events, requests are never closer than the highest rate allows, and no request is sent while the
// origin is closed.
func TestPacer_properties(t *testing.T) {
	for seed := range uint64(200) {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 0))
			most := []float64{0.01, 1, 7, 1000}[rnd.IntN(4)]
			unit := time.Duration(float64(time.Second) / most)
			l := &Pacer{PerSecond: most, Rand: rnd}
			var sent []time.Time
			var closed time.Time
			var had []time.Time
			for range 300 {
				switch rnd.IntN(4) {
				case 0:
					at, _ := l.Next("here", time.Time{})
					had = append(had, at)
				case 1:
					time.Sleep(time.Duration(rnd.ExpFloat64() * float64(3*unit)))
				case 2:
					for i, at := range had {
						if at.After(time.Now()) {
							continue
						}
						if had[i], _ = l.Next("here", at); !had[i].After(time.Now()) {
							sent = append(sent, had[i])
							if time.Now().Before(closed) {
								t.Errorf("seed %d: sent while closed", seed)
							}
						}
					}
					had = slices.DeleteFunc(had, func(at time.Time) bool { return !at.After(time.Now()) })
				case 3:
					if len(sent) > 0 && rnd.IntN(4) == 0 {
						wait := time.Duration(rnd.IntN(3)) * unit
						l.Done("here", Feedback{Sent: sent[rnd.IntN(len(sent))], Refused: true, Wait: wait})
						if until := time.Now().Add(wait); until.After(closed) {
							closed = until
						}
					}
				}
			}
			slices.SortFunc(sent, time.Time.Compare)
			for i := 1; i < len(sent); i++ {
				if gap := sent[i].Sub(sent[i-1]); gap < unit-time.Microsecond {
					t.Fatalf("seed %d: requests are %s apart at %g/s", seed, gap, most)
				}
			}
		})
	}
}

// A Pacer forgets idle origins, except closed origins.
func TestPacer_forgetsIdlePlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &Pacer{}
		l.Done("closed", Feedback{Sent: time.Now(), Refused: true, Wait: 48 * time.Hour, Reason: "busy"})
		for n := range 10_000 {
			l.Next(fmt.Sprint(n), time.Time{})
			time.Sleep(10 * time.Second)
		}
		if _, closed := l.Next("closed", time.Time{}); len(l.origins) > 4000 || closed != "busy" {
			t.Errorf("%d places, closed: %q", len(l.origins), closed)
		}
	})
}

// slotAt waits until a request may be sent, unless that is after the end.
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
