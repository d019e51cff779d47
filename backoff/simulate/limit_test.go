package simulate

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/pollcli/poll/backoff"
)

// The servers of the measurements.
var (
	noHint   = Limit{}
	hinting  = Limit{RetryAfter: 5 * time.Second}
	extended = Limit{RetryAfter: 5 * time.Second, Extends: true}
)

// A figure is a share in percent, and how far a simulation may be from it.
type figure struct{ percent, within float64 }

func (f figure) check(t *testing.T, what string, got float64) {
	t.Helper()
	if math.Abs(100*got-f.percent) > f.within {
		t.Errorf("%s: %.1f%%, want %g%% within %g", what, 100*got, f.percent, f.within)
	}
}

// 100 clients, 20 a second with a burst of 20, for 40 seconds, as it was measured with
// processes and a server. There the requests of a gate that opens were spread a little
// more, so that fewer were refused.
func TestLimit_measured(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		limit         Limit
		algorithm     string
		refused, used figure
	}{
		{noHint, "exponential", figure{65, 4}, figure{99.6, 3}},
		{hinting, "exponential", figure{45, 4}, figure{89, 4}},
		{extended, "exponential", figure{97, 1}, figure{3, 1}},
		{noHint, "gate", figure{59, 6}, figure{98, 3}},
		{hinting, "gate", figure{62, 18}, figure{20, 2}},
		{extended, "gate", figure{63, 18}, figure{20, 2}},
		{noHint, "learned", figure{0.3, 0.3}, figure{78, 7}},
		{hinting, "learned", figure{0.3, 0.3}, figure{72, 7}},
		{extended, "learned", figure{0.5, 0.5}, figure{72, 7}},
		{noHint, "known", figure{}, figure{95, 3}},
		{hinting, "known", figure{}, figure{95, 3}},
		{extended, "known", figure{}, figure{95, 3}},
	} {
		c := Defaults(ModelLimit)
		c.Limit = row.limit
		c.Limit.PerSecond, c.Limit.Burst, c.Limit.Guess = 20, 20, 50
		c.Clients, c.Until = []int{100}, 40*time.Second
		c.Algorithms = named(ModelLimit.Algorithms(0, 2*time.Second), row.algorithm)
		got := run(t, c)[0]
		name := fmt.Sprintf("%s, Retry-After %v, extended %v", row.algorithm, row.limit.RetryAfter, row.limit.Extends)
		row.refused.check(t, name+": refused", got.TurnedAway/got.Calls)
		row.used.check(t, name+": used", got.Used)
	}
}

// The proportions of 100,000 clients and 1,000 a second, for ten minutes, with a tenth of
// both: a gate alone leaves nearly all unanswered, and a rate nobody.
func TestLimit_crowd(t *testing.T) {
	t.Parallel()
	c := Defaults(ModelLimit)
	c.Clients, c.Trials = []int{10_000}, 1
	c.Limit = Limit{PerSecond: 100, Burst: 100, Guess: 250, RetryAfter: 30 * time.Second}
	for _, row := range []struct {
		algorithm            string
		extends              bool
		refused, used, never figure
	}{
		{"exponential", false, figure{76, 3}, figure{85, 5}, figure{10, 5}},
		{"exponential", true, figure{99.9, 0.1}, figure{0.1, 0.3}, figure{98.9, 0.5}},
		{"gate", false, figure{98.5, 1}, figure{3.3, 0.5}, figure{83, 5}},
		{"learned", false, figure{0.1, 0.1}, figure{52, 10}, figure{0, 1}},
		{"known", false, figure{}, figure{95, 0.5}, figure{}},
	} {
		c.Limit.Extends = row.extends
		c.Algorithms = named(ModelLimit.Algorithms(0, 0), row.algorithm)
		got := run(t, c)[0]
		name := fmt.Sprintf("%s, extended %v", row.algorithm, row.extends)
		row.refused.check(t, name+": refused", got.TurnedAway/got.Calls)
		row.used.check(t, name+": used", got.Used)
		row.never.check(t, name+": never answered", got.Never)
		if isLate := got.FirstP95 > 110_000; isLate != (row.algorithm != "known") {
			t.Errorf("%s: 95%% were answered by %g ms", name, got.FirstP95)
		}
	}
}

// Clients that are spaced take two calls for a request, one to reserve its slot and one to
// confirm it; those that still wait at the end took one.
func TestLimit_operations(t *testing.T) {
	t.Parallel()
	c := Defaults(ModelLimit)
	c.Clients, c.Trials, c.Arrival = []int{500}, 1, 0
	c.Limit = Limit{PerSecond: 1, Burst: 1}
	c.Algorithms = []Algorithm{{Name: "known", Schedule: backoff.Fixed(time.Second), Together: TogetherKnown}}
	c.Until = 100 * time.Second
	got := run(t, c)[0]
	slots := 0.95*99 + 1 // from the end of the first wait on
	if math.Abs(got.Calls-slots) > 2 || got.TurnedAway != 0 {
		t.Errorf("%g requests, %g refused, want about %g", got.Calls, got.TurnedAway, slots)
	}
	if want := (500 + 2*got.Calls) / 100; math.Abs(got.Operations-want) > 0.03 {
		t.Errorf("%g operations a second, want %g", got.Operations, want)
	}
	if want := 501.0; got.OperationsPeak != want {
		t.Errorf("%g operations in a second, want %g", got.OperationsPeak, want)
	}
	if want := 1 - got.Calls/500; got.Never != want || !math.IsInf(got.FirstP95, 1) {
		t.Errorf("%g were never answered, 95%% by %g, want %g", got.Never, got.FirstP95, want)
	}
}

// A refusal that asks for a wait makes the schedule's longer, and one that does not has a
// schedule of its own.
func TestLimit_waits(t *testing.T) {
	t.Parallel()
	for hint, want := range map[time.Duration]float64{
		0:                      6, // at 1 s, and from 2 s on every 4 s
		500 * time.Millisecond: 19,
		5 * time.Second:        5, // at 1 s, and from 2 s on every 5 to 5.5 s
	} {
		c := Defaults(ModelLimit)
		c.Clients, c.Trials, c.Arrival, c.Until = []int{1}, 1, 0, 20500*time.Millisecond
		c.Limit = Limit{PerSecond: 0.001, Burst: 1, RetryAfter: hint}
		c.Algorithms = []Algorithm{{Schedule: backoff.Fixed(time.Second), Throttled: backoff.Fixed(4 * time.Second)}}
		if got := run(t, c)[0]; got.Calls != want || got.TurnedAway != want-1 {
			t.Errorf("Retry-After %v: %g requests, %g refused, want %g", hint, got.Calls, got.TurnedAway, want)
		}
	}
}

// The nineteenth of twenty has its first answer in the nineteenth slot.
func TestLimit_first(t *testing.T) {
	t.Parallel()
	c := Defaults(ModelLimit)
	c.Clients, c.Trials, c.Arrival = []int{20}, 1, 0
	c.Limit = Limit{PerSecond: 1, Burst: 1}
	c.Algorithms = []Algorithm{{Schedule: backoff.Fixed(time.Second), Together: TogetherKnown}}
	got := run(t, c)[0]
	first := func(slots float64) float64 { return 1020 + slots*1000/0.95 }
	if math.Abs(got.FirstP95-first(18)) > 20 || math.Abs(got.First-first(9.5)) > 20 {
		t.Errorf("first answered after %g, 95%% by %g, want about %g and %g", got.First, got.FirstP95, first(9.5), first(18))
	}
}

// Two a second and three at once; who asks before 10 s are over begins them anew.
func TestBucket(t *testing.T) {
	t.Parallel()
	for _, extends := range []bool{false, true} {
		b := bucket{Limit: Limit{PerSecond: 2, Burst: 3, RetryAfter: 10 * time.Second, Extends: extends}}
		got := ""
		for _, at := range []float64{0, 0, 0, 0, 499, 500, 9_000, 18_998, 29_000} {
			got += map[bool]string{true: "+", false: "-"}[b.take(at)]
		}
		if want := map[bool]string{false: "+++--++++", true: "+++-----+"}[extends]; got != want {
			t.Errorf("extended %v: %s, want %s", extends, got, want)
		}
	}
}

// named returns those of a list that have the name.
func named(list []Algorithm, name string) []Algorithm {
	for _, a := range list {
		if a.Name == name {
			return []Algorithm{a}
		}
	}
	return nil
}
