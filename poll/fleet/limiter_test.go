package fleet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/internal/pace"
	"github.com/pollcli/poll/poll"
)

// A fake is an engine in memory, in which things go wrong.
type fake struct {
	mu     sync.Mutex
	states map[string]*pace.State
	ahead  time.Duration // of its clock
	delay  time.Duration // of each answer
	fault  error         // of each step
	away   error         // why it cannot be reached
	slow   bool          // to be reached
	steps  int
	script func() // what happens meanwhile, nil for nothing
	sheets map[string]sheet
	swaps  int  // round trips
	mute   bool // it tells nobody
	heard  []*watched
}

func (e *fake) connect(ctx context.Context) error {
	if e.slow {
		<-ctx.Done()
		return ctx.Err()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.away
}

// begin begins a call, which holds the lock then, unless it fails.
func (e *fake) begin(ctx context.Context) error {
	e.mu.Lock()
	delay := e.delay
	e.mu.Unlock()
	if delay > 0 {
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	e.mu.Lock()
	err := errors.Join(e.away, e.fault)
	if err != nil {
		e.mu.Unlock()
	}
	return err
}

func (e *fake) step(ctx context.Context, key string, r pace.Rules, c pace.Call) (pace.Reply, error) {
	if err := e.begin(ctx); err != nil {
		return pace.Reply{}, err
	}
	defer e.mu.Unlock()
	e.steps++
	if e.states == nil {
		e.states = map[string]*pace.State{}
	}
	if e.states[key] == nil {
		e.states[key] = new(pace.State)
	}
	return e.states[key].Step(r, time.Now().Add(e.ahead).UnixMicro(), c), nil
}

func (e *fake) swap(ctx context.Context, name string, g guess, change func(sheet) *edit) (at int64, err error) {
	if err := e.begin(ctx); err != nil {
		return 0, err
	}
	e.swaps++
	s := e.sheets[name]
	s.now = time.Now().Add(e.ahead).UnixMicro()
	var made *edit
	if g.sheet != nil {
		if made = change(*g.sheet); g.sheet.state != s.state {
			made = nil
		}
	}
	if made == nil {
		if made = change(s); made != nil {
			e.swaps++
		}
	}
	if made != nil {
		if s.state = made.state; made.sealed != nil {
			s.sealed = made.sealed
		}
		if e.sheets == nil {
			e.sheets = map[string]sheet{}
		}
		e.sheets[name] = s
		if made.tell && !e.mute {
			for _, w := range e.heard {
				go w.tell(name, s)
			}
		}
	}
	e.mu.Unlock()
	return s.now, nil
}

func (e *fake) watch(ctx context.Context, w *watched) {
	e.set(func() { e.heard = append(e.heard, w) })
	seen := map[string]bool{}
	for {
		names := w.names()
		for name := range names {
			if !seen[name] {
				w.look(name)
			}
		}
		seen = names
		select {
		case <-w.changed:
		case <-ctx.Done():
			return
		}
	}
}

func (e *fake) list(context.Context) ([]record, error) { return nil, nil }

func (e *fake) close() {}

// set changes the engine.
func (e *fake) set(change func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	change()
}

// A ledger writes down what limiters say, with the time at which they do.
type ledger struct {
	writing sync.Mutex // notes come at any time
	strings.Builder
	t     *testing.T
	begun time.Time
}

// Write writes to the ledger.
func (l *ledger) Write(text []byte) (int, error) {
	l.writing.Lock()
	defer l.writing.Unlock()
	return l.Builder.Write(text)
}

func inLedger(t *testing.T, f func(*ledger, *fake)) string {
	t.Helper()
	l := &ledger{t: t}
	synctest.Test(t, func(t *testing.T) {
		l.t, l.begun = t, time.Now()
		f(l, &fake{})
	})
	return l.String()
}

func (l *ledger) write(format string, args ...any) {
	fmt.Fprintf(l, "%-6s "+format+"\n", append([]any{l.since(time.Now())}, args...)...)
}

func (l *ledger) since(t time.Time) time.Duration { return t.Sub(l.begun).Round(time.Millisecond) }

// process returns the limiter of a process that shares an engine. Its notes are written.
func (l *ledger) process(e *fake, perSecond float64) *Limiter {
	f, err := start(e, "here", Options{Note: func(note string) { fmt.Fprintln(l, "note:", note) }})
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(f.Close)
	<-f.reached
	l.begun = time.Now() // what comes before is jitter
	return &Limiter{Fleet: f, PerSecond: perSecond / 0.95, Known: true, Rand: rand.New(zeros{})}
}

type zeros struct{}

func (zeros) Uint64() uint64 { return 0 }

func (l *ledger) reserve(limiter *Limiter) poll.Slot {
	slot := limiter.Reserve("place")
	l.write("slot at %s", l.since(slot.At))
	return slot
}

// use takes the next n slots.
func (l *ledger) use(limiter *Limiter, n int) (slot poll.Slot) {
	for range n {
		slot = limiter.Reserve("place")
		time.Sleep(time.Until(slot.At))
		if !limiter.Confirm(slot) {
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

func wantLedger(t *testing.T, have, want string) {
	t.Helper()
	if diff := cmp.Diff(strings.TrimLeft(want, "\n"), have); diff != "" {
		t.Errorf("want(-) have(+):\n%s", diff)
	}
}

// What one process takes or is told holds for the others, whatever their clocks say.
func TestLimiterShares(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{0, 1000 * time.Hour, -1000 * time.Hour} {
		have := inLedger(t, func(l *ledger, e *fake) {
			e.ahead = ahead
			a, b := l.process(e, 10), l.process(e, 10)
			refused := l.use(a, 1)
			l.reserve(b)
			l.reserve(a)
			held := l.reserve(b)
			b.Release(held)
			held = l.reserve(a)
			l.place(a.Throttled(refused, 5*time.Second))
			l.write("holds: %v", b.Confirm(held))
			l.place(b.Throttled(held, 3*time.Second)) // neither cut nor closed for less
			l.write("%.3g/s", b.Rate("place"))
			l.use(b, 1)
			l.reserve(a)
			l.place(a.Remaining(refused, 2, 10*time.Second))
			l.reserve(b)
			l.reserve(b)
		})
		wantLedger(t, have, `
0s     1 sent
0s     slot at 100ms
0s     slot at 200ms
0s     slot at 300ms
0s     slot at 300ms
0s     closed until 5s, 0.5/s
0s     holds: false
0s     closed until 5s, 0.5/s
0s     0.5/s
5s     1 sent
5s     slot at 7s
5s     open, 0.2/s
5s     slot at 12s
5s     slot at 15s
`)
	}
}

// A rate that is not known begins with a quarter, and grows by 3% a second.
func TestLimiterStart(t *testing.T) {
	t.Parallel()
	have := inLedger(t, func(l *ledger, e *fake) {
		a := l.process(e, 0)
		a.PerSecond, a.Known = 40, false
		l.write("%g/s", a.Rate("place"))
		l.use(a, 11)
		l.write("%.3g/s", a.Rate("place"))
		time.Sleep(time.Minute)
		l.place(a.Remaining(poll.Slot{Place: "place"}, 0, 0))
		time.Sleep(time.Minute)
		l.place(a.Remaining(poll.Slot{Place: "place"}, 0, 0))
	})
	wantLedger(t, have, `
0s     10/s
987ms  11 sent
987ms  10.3/s
1m0.987s open, 36.6/s
2m0.987s open, 40/s
`)
}

// Places with one key have one limit, others have their own.
func TestLimiterKey(t *testing.T) {
	t.Parallel()
	have := inLedger(t, func(l *ledger, e *fake) {
		a := l.process(e, 10)
		a.Key = func(place string) string { return place[:1] }
		for _, place := range []string{"a1", "a2", "b"} {
			l.write("%s: slot at %s", place, l.since(a.Reserve(place).At))
		}
	})
	wantLedger(t, have, `
0s     a1: slot at 0s
0s     a2: slot at 100ms
0s     b: slot at 0s
`)
}

// Who cannot share goes on alone, and shares once that can be.
func TestLimiterAlone(t *testing.T) {
	t.Parallel()
	have := inLedger(t, func(l *ledger, e *fake) {
		e.away = errors.New("no route")
		a := l.process(e, 10)
		l.write("%g/s", a.Rate("place"))
		refused := l.use(a, 3)
		l.place(a.Throttled(refused, time.Second))
		own := l.reserve(a)
		e.set(func() { e.away = nil })
		time.Sleep(2 * time.Second)
		l.write("holds: %v", a.Confirm(own))
		l.use(a, 2)
		l.place(a.Throttled(own, 0)) // it says nothing of the rate that all share
		l.write("%d steps", e.steps)
	})
	wantLedger(t, have, `
note: here cannot be shared for now, and this process goes on alone: no route
0s     10/s
200ms  3 sent
200ms  closed until 1.2s, 5/s
200ms  slot at 1.2s
2.2s   holds: false
2.394s 2 sent
2.394s open, 10/s
2.394s 5 steps
`)
}

// Alone, a process keeps its slots, its pace and what it knew of the place.
func TestLimiterAloneAtItsPace(t *testing.T) {
	t.Parallel()
	have := inLedger(t, func(l *ledger, e *fake) {
		a, b := l.process(e, 10), l.process(e, 10)
		for range 10 {
			l.use(a, 1)
			b.Confirm(b.Reserve("place")) // so that a gets every second slot
		}
		l.Reset()
		held := a.Reserve("place")
		e.set(func() { e.fault = errors.New("broken") })
		time.Sleep(time.Until(held.At))
		l.write("holds: %v", a.Confirm(held))
		l.use(a, 5)
		held = a.Reserve("place")
		e.set(func() { e.fault = nil })
		time.Sleep(30 * time.Second)
		l.write("holds: %v", a.Confirm(held))
		l.place(b.Throttled(b.Reserve("place"), 10*time.Second))
		l.place(a.Throttled(held, 0))
		e.set(func() { e.fault = errors.New("broken") })
		l.reserve(a)
		l.write("%.3g/s", a.Rate("place"))
	})
	wantLedger(t, have, `
note: here cannot be shared for now, and this process goes on alone: broken
2s     holds: true
3s     5 sent
33s    holds: false
33s    closed until 43s, 0.5/s
33s    closed until 43s, 0.5/s
33s    slot at 43s
33s    0.5/s
`)
}

// Who shares again keeps to its own pace for half a minute.
func TestLimiterRejoins(t *testing.T) {
	t.Parallel()
	have := inLedger(t, func(l *ledger, e *fake) {
		a, b := l.process(e, 10), l.process(e, 10)
		l.use(a, 1)
		for range 9 {
			b.Confirm(b.Reserve("place"))
		}
		l.use(a, 1)
		e.set(func() { e.away = errors.New("broken") })
		l.use(a, 2)
		e.set(func() { e.away = nil })
		time.Sleep(10 * time.Second)
		l.use(a, 25)
		time.Sleep(10 * time.Second)
		l.use(a, 11)
	})
	wantLedger(t, have, `
0s     1 sent
1s     1 sent
note: here cannot be shared for now, and this process goes on alone: broken
3s     2 sent
37s    25 sent
48s    11 sent
`)
}

// A new engine, which knows nothing, begins with the rate that was learned.
func TestLimiterRestartedEmpty(t *testing.T) {
	t.Parallel()
	have := inLedger(t, func(l *ledger, e *fake) {
		a := l.process(e, 0)
		a.Known = false
		l.place(a.Throttled(l.use(a, 4), 0))
		held := l.reserve(a)
		e.set(func() { e.states = nil })
		l.write("holds: %v", a.Confirm(held))
		l.reserve(a)
		l.reserve(a)
	})
	wantLedger(t, have, `
0s     4 sent
0s     open, 30/s
0s     slot at 33ms
0s     holds: false
0s     slot at 0s
0s     slot at 33ms
`)
}

// After the beginning no call takes longer than the bound, however many there are at once, and
// once the engine is known to be slow, none takes any time.
func TestLimiterBound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := &fake{delay: time.Hour}
		l := &ledger{t: t}
		a := l.process(e, 0)
		time.Sleep(patience)
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() {
				begun := time.Now()
				a.Confirm(a.Reserve(fmt.Sprint(i % 3)))
				if took := time.Since(begun); took > bound {
					t.Errorf("two calls took %s", took)
				}
			})
		}
		all.Wait()
		if !strings.Contains(l.String(), "it does not answer in time") {
			t.Errorf("the notes are %q", l)
		}
		begun := time.Now()
		for range 100 {
			a.Throttled(a.Reserve("0"), 0)
		}
		if time.Since(begun) != 0 {
			t.Errorf("alone, the calls took %s", time.Since(begun))
		}
	})
}

// Who cannot be reached at first keeps all calls together waiting for patience. That is told
// then, since nothing may come after it.
func TestLimiterBound_first(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var notes []string
		f, err := start(&fake{slow: true}, "here", Options{Note: func(note string) { notes = append(notes, note) }})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		begun := time.Now()
		l := &Limiter{Fleet: f}
		for range 10 {
			l.Confirm(l.Reserve("place"))
		}
		if took := time.Since(begun); took < patience || took >= patience+firstJitter {
			t.Errorf("the calls took %s", took)
		}
		if len(notes) != 1 || !strings.HasSuffix(notes[0], "goes on alone: it does not answer in time") {
			t.Errorf("told %q", notes)
		}
	})
}

// However long the engine was away before, it is soon reached again.
func TestFleetReconnects(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := &fake{}
		l := &ledger{t: t}
		a := l.process(e, 0)
		for _, away := range []time.Duration{time.Second, time.Hour, time.Second, time.Second} {
			a.Reserve("place")
			e.set(func() { e.away = errors.New("broken") })
			a.Reserve("place")
			time.Sleep(away)
			e.set(func() { e.away = nil })
			time.Sleep(min(mostPause*3/2, 3*away))
			before := e.steps
			if a.Reserve("place"); e.steps == before {
				t.Errorf("after %s it is not reached again", away)
			}
		}
	})
}

// Where there was no limit, the pace that a process had is one while it is alone.
func TestLimiterAloneWithoutLimit(t *testing.T) {
	t.Parallel()
	have := inLedger(t, func(l *ledger, e *fake) {
		a := l.process(e, 0)
		for range 5 {
			l.use(a, 1)
			time.Sleep(2 * time.Second)
		}
		l.Reset()
		e.set(func() { e.fault = errors.New("broken") })
		l.use(a, 2)
	})
	wantLedger(t, have, `
note: here cannot be shared for now, and this process goes on alone: broken
12s    2 sent
`)
}

// Whoever closes a place, or takes its slots, for longer than an hour is not believed.
func TestLimiterHorizon(t *testing.T) {
	t.Parallel()
	have := inLedger(t, func(l *ledger, e *fake) {
		a := l.process(e, 10)
		a.Rand = nil
		l.place(a.Throttled(l.use(a, 1), math.MaxInt64))
		state := e.states[a.Fleet.Key("place")]
		state.Closed, state.Last = pace.Forever, pace.Forever
		slot := l.reserve(a)
		time.Sleep(time.Hour)
		l.write("holds: %v", a.Confirm(slot))
		l.use(a, 2)
	})
	wantLedger(t, have, `
0s     1 sent
0s     closed until 1h0m0s, 0.5/s
0s     slot at 1h0m0s
1h0m0s holds: false
1h0m3s 2 sent
`)
}

// A clock that is set back, or forward, keeps nobody waiting.
func TestLimiterClock(t *testing.T) {
	t.Parallel()
	have := inLedger(t, func(l *ledger, e *fake) {
		a := l.process(e, 10)
		l.place(a.Throttled(l.use(a, 20), 5*time.Second))
		e.set(func() { e.ahead = -time.Hour })
		l.reserve(a)
		l.reserve(a)
		e.set(func() { e.ahead = time.Hour })
		l.use(a, 2)
	})
	wantLedger(t, have, `
1.9s   20 sent
1.9s   closed until 6.9s, 5/s
1.9s   slot at 6.9s
1.9s   slot at 7.1s
2s     2 sent
`)
}

// A closed fleet shares nothing, and says nothing.
func TestFleetClose(t *testing.T) {
	t.Parallel()
	have := inLedger(t, func(l *ledger, e *fake) {
		a := l.process(e, 10)
		l.use(a, 1)
		a.Fleet.Close()
		a.Fleet.Close()
		l.use(a, 2)
		l.write("%d steps", e.steps)
	})
	wantLedger(t, have, `
0s     1 sent
2s     2 sent
2s     1 steps
`)
}

// A slot that is free at once needs no confirmation, unless it is not used for a while.
func TestLimiterUsesAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := &fake{}
		l := (&ledger{t: t}).process(e, 1)
		slot := l.Reserve("place")
		before := e.steps
		if !l.Confirm(slot) || e.steps != before {
			t.Errorf("a slot that was free at once took %d more steps", e.steps-before)
		}
		later := l.Reserve("place")
		time.Sleep(time.Until(later.At))
		before = e.steps
		if !l.Confirm(later) || e.steps != before+1 {
			t.Errorf("a slot that was waited for took %d more steps", e.steps-before)
		}
		time.Sleep(time.Second + 80*time.Millisecond)
		before = e.steps + 1
		if slot = l.Reserve("place"); !l.Confirm(slot) || e.steps != before {
			t.Errorf("a slot that had been free for 80 ms took %d more steps", e.steps-before)
		}
		if l.Release(slot); e.steps != before {
			t.Errorf("a slot that is used was given back")
		}
		time.Sleep(10 * time.Second)
		slot = l.Reserve("place")
		time.Sleep(fresh)
		before = e.steps
		if !l.Confirm(slot) || e.steps != before+1 {
			t.Errorf("a slot that was kept took %d more steps", e.steps-before)
		}
		if slot = l.Reserve("place"); !slot.At.After(time.Now()) {
			t.Fatalf("the slot is at %v", slot.At)
		}
		l.Throttled(slot, 0)
		if l.Confirm(slot) {
			t.Error("a slot holds after a refusal")
		}
	})
}
