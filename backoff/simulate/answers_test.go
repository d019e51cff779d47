package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pollcli/poll/backoff"
)

// every has clients of ModelAnswers look every 10 seconds.
func every(t Together) []Algorithm {
	return []Algorithm{{Name: "10s", Schedule: backoff.Fixed(10 * time.Second), Together: t}}
}

// Three clients that come together look after 10 s and again after 20 s and a little, and
// see at their next look that the end was after 25 s.
func TestAnswers_operations(t *testing.T) {
	t.Parallel()
	c := Defaults(ModelAnswers)
	c.Clients, c.Trials, c.Arrival, c.Until = []int{3}, 1, 0, 25*time.Second
	for together, want := range map[Together]struct{ calls, operations float64 }{
		Alone: {9, 0},
		// Each is noted as it comes. At 10 s one takes the turn, and shares the answer that
		// two wait for and take, and so at 20 s.
		TogetherNewer: {3, 3 + 1 + 3 + 1 + 3},
		// At 10 s all claim; one takes the turn, and changes what is shared twice; two are
		// told. Then they are a crowd, in which all three are told.
		TogetherShared: {3, 3 + 1 + 2 + 2 + 3 + 1 + 2 + 3},
		TogetherDue:    {3, 3 + 1 + 2 + 2 + 3 + 1 + 2 + 3},
	} {
		c.Algorithms = every(together)
		got := run(t, c)[0]
		if got.Calls != want.calls || got.Cost != want.calls/3 || math.Abs(got.Operations*25-want.operations) > 1e-9 {
			t.Errorf("%q: %g requests, cost %g, %g operations, want %+v", together, got.Calls, got.Cost, got.Operations*25, want)
		}
		if got.First < 5000 || got.First > 5200 || got.Time < got.First || got.Time > got.First+50 {
			t.Errorf("%q: seen from %g to %g ms after the end", together, got.First, got.Time)
		}
	}
}

// Those who share an answer cost as much as one of them, however many they are, and see
// the end together; whoever asks as soon as it comes, or looks at answers only now and
// then, costs more.
func TestAnswers_crowd(t *testing.T) {
	t.Parallel()
	for _, within := range []time.Duration{time.Second, 20 * time.Second} {
		c := Defaults(ModelAnswers)
		c.Clients, c.Trials, c.Arrival = []int{1000}, 5, within
		cost := map[Together]float64{}
		for _, a := range c.Algorithms {
			c.Algorithms = []Algorithm{a}
			got := run(t, c)[0]
			cost[a.Together] = got.Cost
			name := fmt.Sprintf("%s within %s", a.Name, within)
			spread := got.Time - got.First
			switch a.Together {
			case Alone:
				figure{100_000, 10_000}.check(t, name+": cost", got.Cost)
				if a.Name == "full" && spread < 15_000 {
					t.Errorf("%s: all have seen the end within %g ms", name, spread)
				}
			default:
				if math.Abs(spread-9.99) > 0.001 { // the last one is told after 999 others
					t.Errorf("%s: all have seen the end within %g ms", name, spread)
				}
			}
		}
		if one := cost[TogetherShared]; one < 1 || one > 1.1 {
			t.Errorf("within %s: shared, %g times the cost of one", within, one)
		}
		if cost[TogetherDue] < 1.15*cost[TogetherShared] || cost[TogetherNewer] < 10 {
			t.Errorf("within %s: the costs are %v times that of one", within, cost)
		}
	}
}

// Where everybody asks at the end of a wait of their own unless there is anything newer,
// ten times as many requests are made for a hundred times as many clients: 1,098 for 1,000
// and 10,674 for 100,000 were found elsewhere.
func TestAnswers_newer(t *testing.T) {
	t.Parallel()
	c := Defaults(ModelAnswers)
	c.Clients, c.Trials, c.Algorithms = []int{100, 10_000}, 1, named(ModelAnswers.Algorithms(0, 0), "newer")
	got := run(t, c)
	if ratio := got[1].Calls / got[0].Calls; ratio < 8 || ratio > 12 {
		t.Errorf("%g requests for 100 clients, %g for 10,000", got[0].Calls, got[1].Calls)
	}
}

// A client that comes while the others look every 10 s waits 5 s at most for its first
// answer, unless it asks at once; the others then wait 10 s from that on.
func TestAnswers_newcomer(t *testing.T) {
	t.Parallel()
	for together, want := range map[Together]string{
		TogetherShared: "0.0 10.0 17.0 27.0 37.0 47.1",
		TogetherDue:    "0.0 10.0 12.0 22.0 32.0 42.1",
	} {
		a := Algorithm{Together: together, Schedule: backoff.ScheduleFunc(func(s backoff.Step, _ *rand.Rand) time.Duration {
			return time.Duration(min(s.N, 1)) * 10 * time.Second
		})}
		w := newWorker(t.Context(), Defaults(ModelAnswers))
		w.config.Until = 40 * time.Second
		g := newGroup(w.newAnswers(a, []float64{0, 12_000}), a, 0)
		got, asked := "", -1.0
		for !g.events.empty() {
			if g.happen(g.events.next()); g.asked.sent > asked {
				asked = g.asked.sent
				got += fmt.Sprintf(" %.1f", asked/1000)
			}
		}
		if got != " "+want {
			t.Errorf("%s: they ask at%s, want %s", together, got, want)
		}
	}
}
