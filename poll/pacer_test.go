package poll_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/poll"
)

// A ledger writes down what a Limiter says, with the time at which it did.
type ledger struct {
	strings.Builder
	limiter *poll.Pacer
	begun   time.Time
}

// inLedger runs f in a bubble, and returns what it wrote.
func inLedger(t *testing.T, limiter *poll.Pacer, f func(*ledger)) string {
	t.Helper()
	l := &ledger{limiter: limiter}
	synctest.Test(t, func(*testing.T) {
		l.begun = time.Now()
		f(l)
	})
	return l.String()
}

func (l *ledger) write(format string, args ...any) {
	fmt.Fprintf(l, "%-6s "+format+"\n", append([]any{l.since(time.Now())}, args...)...)
}

func (l *ledger) since(t time.Time) time.Duration { return t.Sub(l.begun).Round(time.Millisecond) }

func (l *ledger) reserve() poll.Slot {
	slot := l.limiter.Reserve("here")
	l.write("slot at %s", l.since(slot.At))
	return slot
}

// take uses the next n slots, and returns the last one.
func (l *ledger) take(n int) (slot poll.Slot) {
	for range n {
		slot = l.limiter.Reserve("here")
		time.Sleep(time.Until(slot.At))
		if !l.limiter.Confirm(slot) {
			l.write("does not hold")
		}
	}
	l.write("%d sent", n)
	return slot
}

func (l *ledger) place(p poll.Place) {
	state := "open"
	if !p.ClosedUntil.IsZero() {
		state = "closed until " + l.since(p.ClosedUntil).String()
	}
	l.write("%s, %.3g/s", state, p.Rate)
}

func TestPacerSpaces(t *testing.T) {
	t.Parallel()
	have := inLedger(t, &poll.Pacer{PerSecond: 4}, func(l *ledger) {
		l.reserve()
		l.reserve()
		l.reserve()
		time.Sleep(10 * time.Second) // nothing is saved up
		l.reserve()
		late := l.reserve()
		time.Sleep(10 * time.Second) // what comes after a late attempt moves, too
		l.write("holds: %v", l.limiter.Confirm(late))
		l.reserve()
		fmt.Fprintln(l, "elsewhere", l.since(l.limiter.Reserve("there").At))
	})
	wantTimeline(t, have, `
0s     slot at 0s
0s     slot at 250ms
0s     slot at 500ms
10s    slot at 10s
10s    slot at 10.25s
20s    holds: true
20s    slot at 20.15s
elsewhere 20s
`)
}

func TestPacerKnown(t *testing.T) {
	t.Parallel()
	have := inLedger(t, &poll.Pacer{PerSecond: 1, Known: true}, func(l *ledger) {
		l.reserve()
		l.reserve()
	})
	wantTimeline(t, have, `
0s     slot at 0s
0s     slot at 1.053s
`)
}

func TestPacerWithoutLimit(t *testing.T) {
	t.Parallel()
	have := inLedger(t, &poll.Pacer{}, func(l *ledger) {
		slot := l.take(100)
		l.place(l.limiter.Remaining(slot, 0, 0)) // says nothing
		l.place(l.limiter.Throttled(slot, 0))
		l.take(26)
	})
	wantTimeline(t, have, `
0s     100 sent
0s     open, 0/s
0s     open, 990/s
26ms   26 sent
`)
}

// A place that has seen little begins again with half of that, and doubles it in each second, or
// with each attempt if they are further apart, up to half of what was allowed.
func TestPacerDoublesAfterAnEarlyRefusal(t *testing.T) {
	t.Parallel()
	have := inLedger(t, &poll.Pacer{PerSecond: 50, Rand: rand.New(zeros{})}, func(l *ledger) {
		l.place(l.limiter.Throttled(l.take(1), 2*time.Second))
		for range 9 {
			l.write("%.3g/s", l.limiter.Rate("here"))
			time.Sleep(time.Second)
		}
		time.Sleep(91 * time.Second)
		l.write("%.3g/s", l.limiter.Rate("here"))
	})
	wantTimeline(t, have, `
0s     1 sent
0s     closed until 2s, 0.5/s
0s     0.5/s
1s     0.5/s
2s     0.5/s
3s     0.5/s
4s     1/s
5s     2/s
6s     4/s
7s     8/s
8s     16/s
1m40s  50/s
`)
	have = inLedger(t, &poll.Pacer{PerSecond: 50, Rand: rand.New(zeros{})}, func(l *ledger) {
		l.limiter.Throttled(l.take(1), 2*time.Second)
		for range 6 {
			l.take(10)
		}
		l.place(l.limiter.Throttled(l.take(1), 0)) // it is where it was refused again
		l.take(10)
	})
	wantTimeline(t, have, `
0s     1 sent
7.125s 10 sent
8.188s 10 sent
8.813s 10 sent
9.279s 10 sent
9.674s 10 sent
10.064s 10 sent
10.102s 1 sent
10.102s open, 12.9/s
10.869s 10 sent
`)
}

// The cut is to half of what was sent, the growth even until the rate has doubled.
func TestPacerIsCutAndGrows(t *testing.T) {
	t.Parallel()
	have := inLedger(t, &poll.Pacer{PerSecond: 10}, func(l *ledger) {
		earlier := l.take(1)
		refused := l.take(20)
		queued := l.reserve()
		l.place(l.limiter.Throttled(refused, 0))
		l.write("holds: %v", l.limiter.Confirm(queued))
		l.place(l.limiter.Throttled(earlier, 0)) // sent before the cut
		l.reserve()
		l.reserve()
		for _, until := range []int{10, 33, 34, 60, 1000} {
			time.Sleep(time.Duration(until)*time.Second - time.Since(l.begun))
			l.place(l.limiter.Throttled(earlier, 0))
		}
	})
	wantTimeline(t, have, `
0s     1 sent
2s     20 sent
2s     slot at 2.1s
2s     open, 5/s
2s     holds: false
2s     open, 5/s
2s     slot at 2.2s
2s     slot at 2.399s
10s    open, 6.2/s
33s    open, 9.65/s
34s    open, 9.8/s
1m0s   open, 10/s
16m40s open, 10/s
`)
}

// Of a second that ended 0.5 s ago, half counts.
func TestPacerIsCutToWhatWasSent(t *testing.T) {
	t.Parallel()
	have := inLedger(t, &poll.Pacer{PerSecond: 10}, func(l *ledger) {
		refused := l.take(10)
		time.Sleep(600 * time.Millisecond)
		l.place(l.limiter.Throttled(refused, 0))
	})
	wantTimeline(t, have, `
900ms  10 sent
1.5s   open, 2.5/s
`)
}

// The attempts of a first second that is not over are counted by the time that they took,
// or a limit far below the given rate would leave far less than it allows.
func TestPacerIsCutSoon(t *testing.T) {
	t.Parallel()
	have := inLedger(t, &poll.Pacer{PerSecond: 1000}, func(l *ledger) {
		refused := l.take(11)
		l.place(l.limiter.Throttled(refused, 0))
		time.Sleep(5 * time.Second)
		l.place(l.limiter.Throttled(l.take(1), 0))
	})
	wantTimeline(t, have, `
10ms   11 sent
10ms   open, 100/s
5.01s  1 sent
5.01s  open, 0.5/s
`)
}

// What is refused right after a place has opened halves the rate: that little was sent is
// no measure of what it allows.
func TestPacerIsCutAfterItOpened(t *testing.T) {
	t.Parallel()
	have := inLedger(t, &poll.Pacer{PerSecond: 100, Rand: rand.New(rand.NewPCG(1, 2))}, func(l *ledger) {
		l.place(l.limiter.Throttled(l.take(100), time.Second))
		l.place(l.limiter.Throttled(l.take(1), time.Second))
		l.place(l.limiter.Throttled(l.take(3), 0))
	})
	wantTimeline(t, have, `
990ms  100 sent
990ms  closed until 2.058s, 50/s
2.058s 1 sent
2.058s closed until 3.104s, 25/s
3.184s 3 sent
3.184s open, 12.5/s
`)
}

// Attempts that begin late, since a timer was, do not make fewer.
func TestPacerCatchesUp(t *testing.T) {
	t.Parallel()
	have := inLedger(t, &poll.Pacer{PerSecond: 1000}, func(l *ledger) {
		slot := l.take(1)
		for range 3 {
			slot = l.limiter.Reserve("here")
			time.Sleep(time.Until(slot.At) + 10*time.Millisecond)
			l.limiter.Confirm(slot)
		}
		l.take(28) // those that were due meanwhile
		l.reserve()
		time.Sleep(110 * time.Millisecond) // nothing is saved up
		l.reserve()
	})
	wantTimeline(t, have, `
0s     1 sent
31ms   28 sent
31ms   slot at 32ms
141ms  slot at 141ms
`)
}

// However often it is cut, the rate is never below one attempt a minute, or the given one.
func TestPacerFloor(t *testing.T) {
	t.Parallel()
	for given, want := range map[float64]float64{1000: 1.0 / 60, 0.001: 0.001} {
		l := &poll.Pacer{PerSecond: given}
		var place poll.Place
		for range 20 {
			place = l.Throttled(l.Reserve("here"), 0)
		}
		if place.Rate != want {
			t.Errorf("of %g/s, %g/s are left, want %g/s", given, place.Rate, want)
		}
	}
}

// A hint closes the place for up to a tenth more. Slots given out before do not hold, and
// after the opening they are spaced by the rate, which does not grow while it is closed.
func TestPacerCloses(t *testing.T) {
	t.Parallel()
	have := inLedger(t, &poll.Pacer{PerSecond: 10, Rand: rand.New(rand.NewPCG(1, 2))}, func(l *ledger) {
		earlier, refused := l.take(1), l.take(9)
		queued := l.reserve()
		l.place(l.limiter.Throttled(refused, time.Minute))
		l.place(l.limiter.Throttled(earlier, 10*time.Second)) // closing only extends
		l.place(l.limiter.Throttled(earlier, time.Minute))
		l.place(l.limiter.Throttled(earlier, 70*time.Second))
		l.write("holds: %v", l.limiter.Confirm(queued))
		first := l.reserve()
		l.reserve()
		time.Sleep(time.Until(first.At))
		l.write("holds: %v", l.limiter.Confirm(first))
		l.place(l.limiter.Throttled(earlier, 0))
		time.Sleep(10 * time.Second)
		l.place(l.limiter.Throttled(earlier, 0))
	})
	wantTimeline(t, have, `
0s     1 sent
900ms  9 sent
900ms  slot at 1s
900ms  closed until 1m4.959s, 5/s
900ms  closed until 1m4.959s, 5/s
900ms  closed until 1m4.959s, 5/s
900ms  closed until 1m13.909s, 5/s
900ms  holds: false
900ms  slot at 1m13.909s
900ms  slot at 1m14.109s
1m13.909s holds: true
1m13.909s open, 5/s
1m23.909s open, 6.5/s
`)
}

func TestPacerClosesForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &poll.Pacer{PerSecond: 1}
		for range 3 {
			slot := l.Reserve("here")
			closed := l.Throttled(slot, math.MaxInt64).ClosedUntil
			if next := l.Reserve("here").At; next.Before(closed) || time.Until(closed) < 100*365*24*time.Hour {
				t.Errorf("closed until %s, and the next slot is at %s", closed, next)
			}
		}
	})
}

// What remains is spread over the time until there is more, but no faster than the rate.
func TestPacerRemaining(t *testing.T) {
	t.Parallel()
	have := inLedger(t, &poll.Pacer{PerSecond: 10}, func(l *ledger) {
		slot := l.take(1)
		l.place(l.limiter.Remaining(slot, 5, 10*time.Second))
		l.write("%g/s", l.limiter.Rate("here"))
		for range 7 {
			slot = l.reserve()
		}
		time.Sleep(10 * time.Second)
		l.place(l.limiter.Remaining(slot, 1, 10*time.Second))
		time.Sleep(time.Second)
		l.reserve()
		l.reserve()
		l.place(l.limiter.Remaining(slot, 1000, time.Second)) // quota again
		l.place(l.limiter.Remaining(slot, 0, 30*time.Second))
		l.write("holds: %v", l.limiter.Confirm(slot))
		l.reserve()
		l.reserve()
		l.place(l.limiter.Remaining(slot, -1, 40*time.Second))
	})
	wantTimeline(t, have, `
0s     1 sent
0s     open, 0.5/s
0s     0.5/s
0s     slot at 2s
0s     slot at 4s
0s     slot at 6s
0s     slot at 8s
0s     slot at 10s
0s     slot at 10.1s
0s     slot at 10.2s
10s    open, 0.1/s
11s    slot at 20s
11s    slot at 20.1s
11s    open, 10/s
11s    closed until 41s, 10/s
11s    holds: false
11s    slot at 41s
11s    slot at 41.1s
11s    closed until 51s, 10/s
`)
}

// A slot that is given back goes to the next who asks, and one that is not is lost alone.
func TestPacerRelease(t *testing.T) {
	t.Parallel()
	have := inLedger(t, &poll.Pacer{PerSecond: 1}, func(l *ledger) {
		slots := []poll.Slot{l.reserve(), l.reserve(), l.reserve(), l.reserve()}
		for _, i := range []int{3, 1, 0} {
			l.limiter.Release(slots[i])
		}
		time.Sleep(500 * time.Millisecond)
		l.reserve()
		l.reserve()
		l.reserve()
		l.limiter.Release(slots[3])
		l.place(l.limiter.Throttled(slots[2], 0))
		l.limiter.Release(slots[1]) // both are void
		l.reserve()
		time.Sleep(time.Hour)
		l.reserve()
	})
	wantTimeline(t, have, `
0s     slot at 0s
0s     slot at 1s
0s     slot at 2s
0s     slot at 3s
500ms  slot at 1s
500ms  slot at 3s
500ms  slot at 4s
500ms  open, 0.5/s
500ms  slot at 2.5s
1h0m0.5s slot at 1h0m0.5s
`)
}

// Whatever happens, slots that hold are never closer than the highest rate allows and
// never while the place is closed, a closing is never shortened, the rate never exceeds
// the highest, and only a refusal of the current version lowers it.
func TestPacerProperties(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 0))
			most := []float64{0.01, 1, 7, 1000}[rnd.IntN(4)]
			h := history{rnd: rnd, unit: time.Duration(float64(time.Second) / most)}
			h.limiter = &poll.Pacer{PerSecond: most, Rand: rnd}
			h.known = poll.Place{Rate: most}
			for range 300 {
				h.step()
			}
			slices.SortFunc(h.sent, func(a, b poll.Slot) int { return a.At.Compare(b.At) })
			for i := 1; i < len(h.sent); i++ {
				if gap := h.sent[i].At.Sub(h.sent[i-1].At); gap < h.unit {
					h.fail("slots are %s apart at %g/s", gap, most)
				}
			}
			if len(h.wrong) > 0 {
				t.Errorf("seed %d: %s", seed, h.wrong)
			}
		})
	}
}

// A history is a random sequence of calls.
type history struct {
	limiter    *poll.Pacer
	rnd        *rand.Rand
	unit       time.Duration // between two slots at the highest rate
	held, sent []poll.Slot
	known      poll.Place
	wrong      []string
}

func (h *history) fail(format string, args ...any) {
	h.wrong = append(h.wrong, fmt.Sprintf(format, args...))
}

func (h *history) step() {
	switch h.rnd.IntN(7) {
	case 0, 1:
		h.held = append(h.held, h.limiter.Reserve("here"))
	case 2:
		time.Sleep(time.Duration(h.rnd.ExpFloat64() * float64(3*h.unit)))
	case 3:
		if len(h.held) > 0 {
			i := h.rnd.IntN(len(h.held))
			h.limiter.Release(h.held[i])
			h.held = slices.Delete(h.held, i, i+1)
		}
	case 4:
		h.held = slices.DeleteFunc(h.held, h.send)
	case 5:
		if len(h.sent) > 0 {
			s := h.sent[h.rnd.IntN(len(h.sent))]
			cuts := s.Version == h.limiter.Reserve("here").Version
			h.learn(h.limiter.Throttled(s, time.Duration(h.rnd.IntN(3))*h.unit), cuts)
		}
	case 6:
		if len(h.sent) > 0 && h.rnd.IntN(4) == 0 {
			n, reset := h.rnd.IntN(3), time.Duration(h.rnd.IntN(5))*h.unit
			h.learn(h.limiter.Remaining(h.sent[0], n, reset), true)
			h.known.Rate = 0 // it may be the pace's
		}
	}
}

// send uses a slot whose time has come.
func (h *history) send(s poll.Slot) (gone bool) {
	if s.At.After(time.Now()) {
		return false
	}
	if h.limiter.Confirm(s) {
		h.sent = append(h.sent, s)
		if h.known.ClosedUntil.After(time.Now()) {
			h.fail("a slot at %s holds while closed until %s", s.At, h.known.ClosedUntil)
		}
	}
	return true
}

func (h *history) learn(p poll.Place, cuts bool) {
	if p.ClosedUntil.Before(h.known.ClosedUntil) && h.known.ClosedUntil.After(time.Now()) {
		h.fail("closed until %s, then until %s", h.known.ClosedUntil, p.ClosedUntil)
	}
	if p.Rate > float64(time.Second)/float64(h.unit) || !cuts && p.Rate < h.known.Rate {
		h.fail("the rate is %g after %g", p.Rate, h.known.Rate)
	}
	h.known = p
}

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
	} {
		t.Run(fmt.Sprintf("%g/s, burst %g, hint %s", test.limit, test.burst, test.hint), func(t *testing.T) {
			t.Parallel()
			server := &bucket{rate: test.limit, burst: test.burst}
			used, refused := crowd(t, &poll.Pacer{PerSecond: 4 * test.limit}, server, test.hint)
			if refused > 0.01 || used < 0.68 {
				t.Errorf("refused %.2f%%, used %.0f%%", 100*refused, 100*used)
			}
		})
	}
}

// Who knows the limit is never refused, and uses all but the reserve.
func TestPacerKnowsTheLimit(t *testing.T) {
	t.Parallel()
	used, refused := crowd(t, &poll.Pacer{PerSecond: 20, Known: true}, &bucket{rate: 20, burst: 2}, 0)
	if refused > 0 || used < 0.94 {
		t.Errorf("refused %.2f%%, used %.0f%%", 100*refused, 100*used)
	}
}

// crowd has 500 targets ask for five minutes. It returns the share that was refused, and
// how much of what the server allows was used after the first minute.
func crowd(t *testing.T, limiter *poll.Pacer, server *bucket, hint time.Duration) (used, refused float64) {
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
		target := func() {
			for {
				slot := limiter.Reserve("server")
				time.Sleep(time.Until(slot.At))
				switch {
				case time.Now().After(end):
					return
				case !limiter.Confirm(slot):
					continue
				}
				time.Sleep(latency / 2)
				good := ask()
				time.Sleep(latency / 2)
				if good {
					time.Sleep(time.Second)
				} else {
					limiter.Throttled(slot, hint)
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
