package learn_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/backoff/learn"
	"github.com/pollcli/poll/internal/words"
)

// known returns runs with exactly the given durations.
func known(seconds ...float64) []learn.Run {
	var runs []learn.Run
	for _, s := range seconds {
		d := time.Duration(min(s*1e9, math.MaxInt64/2))
		runs = append(runs, learn.Run{Lo: d, Hi: d})
	}
	return runs
}

// around returns n durations in seconds. median is their median, and spread is the spread of their logarithms.
func around(seed uint64, n int, median, spread float64) []float64 {
	r := rand.New(rand.NewPCG(seed, 1))
	var list []float64
	for range n {
		list = append(list, median*math.Exp(spread*r.NormFloat64()))
	}
	return list
}

func fit(t testing.TB, runs []learn.Run, o learn.Options) *learn.Model {
	t.Helper()
	m, err := learn.Fit(runs, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// ages returns the ages of the first n attempts by m. The attempts take no time.
func ages(m *learn.Model, n int) []time.Duration {
	var list []time.Duration
	elapsed := time.Duration(0)
	for wait := range backoff.Waits(m, nil) {
		elapsed = words.Sum(elapsed, wait)
		list = append(list, m.Age(elapsed))
		if len(list) == n || elapsed == math.MaxInt64 {
			break
		}
	}
	return list
}

func TestWaitIsPure(t *testing.T) {
	m := fit(t, known(around(1, 40, 60, 0.2)...), learn.Options{})
	want := ages(m, 12)
	for i, age := range want[:11] {
		// The run is resumed at the age of an attempt, or just before the next attempt.
		for _, at := range []time.Duration{age, want[i+1] - time.Millisecond} {
			have := at + m.Wait(backoff.Step{N: 3, Elapsed: at, Previous: time.Hour}, nil)
			if have != want[i+1] {
				t.Errorf("from %v the next attempt is at %v, want %v", at, have, want[i+1])
			}
		}
	}
}

func TestAge(t *testing.T) {
	runs := known(around(1, 40, 60, 0.2)...)
	whole := fit(t, runs, learn.Options{})
	late := fit(t, runs, learn.Options{Age: 45 * time.Second})
	for _, elapsed := range []time.Duration{0, 7 * time.Second, time.Minute, time.Hour} {
		want := whole.Wait(backoff.Step{Elapsed: elapsed + 45*time.Second}, nil)
		if have := late.Wait(backoff.Step{Elapsed: elapsed}, nil); have != want {
			t.Errorf("wait %v after a start at 45s = %v, want %v", elapsed, have, want)
		}
	}
	if have := late.Age(math.MaxInt64); have != math.MaxInt64 {
		t.Errorf("age after the longest wait = %v", have)
	}
	if have := late.Age(-time.Second); have != 45*time.Second {
		t.Errorf("age before the wait = %v, want that of its start", have)
	}
}

func TestOnlyTheLastHundredRunsCount(t *testing.T) {
	newest := around(1, 100, 60, 0.2)
	want := ages(fit(t, known(newest...), learn.Options{}), 10)
	m := fit(t, known(append(around(2, 50, 5, 0.2), newest...)...), learn.Options{})
	if have := ages(m, 10); !slices.Equal(have, want) || m.Runs() != 100 {
		t.Errorf("attempts learned from %d runs at %v, want %v", m.Runs(), have, want)
	}
}

// A spread schedule makes as many attempts as the model. Each attempt is between the attempt of the model and
// the next attempt of the model.
func TestSpread(t *testing.T) {
	m := fit(t, known(around(1, 30, 60, 0.2)...), learn.Options{Base: 100 * time.Millisecond})
	plain := ages(m, 20)
	r := rand.New(rand.NewPCG(1, 2))
	first := map[time.Duration]bool{}
	for range 50 {
		var have []time.Duration
		var at time.Duration
		for wait := range backoff.Waits(m.Spread(1), r) {
			if at += wait; len(have) == 19 {
				break
			}
			have = append(have, at)
		}
		first[have[0]] = true
		for i, age := range have {
			// An attempt that nearly coincides with the next attempt counts as the next attempt.
			j, _ := slices.BinarySearch(plain, age+time.Microsecond)
			if j-1 < i || i == 0 && j != 1 {
				t.Fatalf("attempt %d comes at %v, those of the model are at %v", i+1, age, plain)
			}
		}
	}
	if len(first) < 50 {
		t.Errorf("50 runs begin in %d ways", len(first))
	}
}

func TestSpread_limits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const most = 3 * time.Second
	bounded := fit(t, known(60, 61), learn.Options{Base: time.Second, MaxWait: most})
	if wait := bounded.Spread(1).Wait(backoff.Step{}, r); wait != most {
		t.Errorf("a wait of %v, want %v", wait, most)
	}
	m := fit(t, known(1), learn.Options{})
	for _, elapsed := range []time.Duration{math.MinInt64, 0, time.Hour, math.MaxInt64} {
		step := backoff.Step{Elapsed: elapsed}
		if have, least := m.Spread(1).Wait(step, r), m.Wait(step, r); have < least {
			t.Errorf("after %v: a wait of %v, the model's is %v", elapsed, have, least)
		}
		if have, want := m.Spread(-1).Wait(step, r), m.Wait(step, r); have != want {
			t.Errorf("after %v, not spread: a wait of %v, want %v", elapsed, have, want)
		}
	}
}

func TestForecast(t *testing.T) {
	m := fit(t, known(around(1, 100, 480, 0.25)...), learn.Options{})
	for _, c := range []struct {
		what       string
		have, want float64
		within     float64
	}{
		{"median", m.Quantile(0.5).Seconds(), 480, 30},
		{"10% quantile", m.Quantile(0.1).Seconds(), 480 * math.Exp(-1.28*0.25), 30},
		{"90% quantile", m.Quantile(0.9).Seconds(), 480 * math.Exp(1.28*0.25), 50},
		{"done at the median", m.Done(480 * time.Second), 0.5, 0.1},
		{"done at a tenth", m.Done(48 * time.Second), 0, 0.01},
	} {
		if math.Abs(c.have-c.want) > c.within {
			t.Errorf("%s = %.3f, want %.3f within %v", c.what, c.have, c.want, c.within)
		}
	}
}

// brackets returns n runs around median, in seconds. Each run was seen between two attempts. Some runs ended by
// the first attempt, and some were given up.
func brackets(seed uint64, n int, median float64) []learn.Run {
	r := rand.New(rand.NewPCG(seed, 3))
	var runs []learn.Run
	for _, s := range around(seed, n, median, 0.05+0.4*r.Float64()) {
		run := learn.Run{Lo: seconds(s * (1 - 0.2*r.Float64())), Hi: seconds(s * (1 + 0.2*r.Float64()))}
		switch r.IntN(8) {
		case 0:
			run.Lo = 0
		case 1:
			run = learn.Run{Lo: seconds(s * r.Float64()), Unfinished: true}
		}
		runs = append(runs, run)
	}
	return append(runs, learn.Run{Lo: seconds(median), Hi: seconds(median)}) // one that finished
}

func seconds(s float64) time.Duration { return time.Duration(s * 1e9) }

// If runs take eight times as long, attempts are at eight times the ages.
func TestLaw_scale(t *testing.T) {
	for seed := range uint64(20) {
		short := brackets(seed, 1+int(seed)*3, 100)
		var long []learn.Run
		for _, r := range short {
			long = append(long, learn.Run{Lo: 8 * r.Lo, Hi: 8 * r.Hi, Unfinished: r.Unfinished})
		}
		have, want := ages(fit(t, long, learn.Options{}), 20), ages(fit(t, short, learn.Options{}), 20)
		for i := range want {
			if ratio := have[i].Seconds() / want[i].Seconds() / 8; math.Abs(ratio-1) > 0.02 {
				t.Errorf("seed %d: attempt %d at %v and, of runs eight times as long, at %v", seed, i+1, want[i], have[i])
				break
			}
		}
	}
}

// Runs that take longer or less than earlier runs move the schedule in that direction.
func TestLaw_towardTheNewest(t *testing.T) {
	for seed := range uint64(3) {
		for _, factor := range []float64{0.25, 0.5, 2, 4} {
			past := known(around(seed, 30, 60, 0.1)...)
			before := fit(t, past, learn.Options{})
			first, expected := ages(before, 1)[0], before.Quantile(0.5)
			for i, s := range around(seed+50, 8, 60*factor, 0.1) {
				past = append(past, known(s)...)
				if i < 2 {
					continue
				}
				m := fit(t, past, learn.Options{})
				if have := m.Quantile(0.5); have > expected != (factor > 1) {
					t.Errorf("seed %d: after %d runs of %v times the length half end by %v, before by %v", seed, i+1, factor, have, expected)
				}
				if have := ages(m, 1)[0]; i == 7 && have > first != (factor > 1) {
					t.Errorf("seed %d: after runs of %v times the length the first attempt is at %v, before at %v", seed, factor, have, first)
				}
			}
		}
	}
}

// A run that was given up has taken longer than its Lo. The model learns this fact, whether or not other runs
// took longer, too. A run that was given up before any other run ended shows nothing.
func TestLaw_unfinished(t *testing.T) {
	for seed := range uint64(10) {
		past := known(around(seed, 20, 60, 0.3)...)
		before := fit(t, past, learn.Options{})
		for _, p := range []float64{0.5, 0.9, 0.999} {
			age := before.Quantile(p)
			given := past
			for range 4 {
				given = append(given, learn.Run{Lo: age, Unfinished: true})
			}
			m := fit(t, given, learn.Options{})
			if have, want := m.Done(age), before.Done(age); have >= want {
				t.Errorf("seed %d: a run is over by %v with chance %.3f, and %.3f after some that were not", seed, age, want, have)
			}
			if m.Runs() != len(past) {
				t.Errorf("learned from %d runs, want the %d that finished", m.Runs(), len(past))
			}
		}
		early := append(past, learn.Run{Lo: before.Quantile(0.001) / 4, Unfinished: true})
		if have, want := fit(t, early, learn.Options{}).Quantile(0.5), before.Quantile(0.5); math.Abs(float64(have)/float64(want)-1) > 0.05 {
			t.Errorf("seed %d: half of the runs end by %v, and by %v after one that was given up early", seed, want, have)
		}
	}
}

func TestFit_nothingFinished(t *testing.T) {
	if _, err := learn.Fit(nil, learn.Options{}); err == nil {
		t.Errorf("no runs: %v, want an error", err)
	}
	given := []learn.Run{{Lo: time.Minute, Unfinished: true}}
	if _, err := learn.Fit(given, learn.Options{}); err == nil {
		t.Errorf("a run that was given up: %v, want an error", err)
	}
	// Unfinished runs of a service that was down do not displace earlier runs.
	past := known(around(1, 40, 60, 0.1)...)
	for range 500 {
		past = append(past, given...)
	}
	if m := fit(t, past, learn.Options{}); m.Runs() != 40 {
		t.Errorf("learned from %d runs, want 40", m.Runs())
	}
}

// The less an attempt costs, the more attempts there are.
func TestLaw_cost(t *testing.T) {
	for seed := range uint64(4) {
		runs := brackets(seed, 40, 100)
		previous := math.MaxInt
		for _, share := range []float64{0.0001, 0.001, 0.01, 0.1, 1} {
			n := 0
			for _, age := range ages(fit(t, runs, learn.Options{CostShare: share}), 500) {
				if age < 200*time.Second {
					n++
				}
			}
			if n > previous || n == previous && n > 3 {
				t.Errorf("seed %d: %d attempts at a cost of %v, and %d at less", seed, n, share, previous)
			}
			previous = n
		}
	}
}

// If many runs ended by their first attempts, they may have ended at any earlier age. The past shows nothing
// about such runs any more, and attempts come sooner and sooner.
func TestLaw_endedByTheFirst(t *testing.T) {
	past := known(around(1, 20, 60, 0.1)...)
	for range 10 {
		past = append(past, learn.Run{Hi: ages(fit(t, past, learn.Options{}), 1)[0]})
	}
	if first := ages(fit(t, past, learn.Options{}), 1)[0]; first > 2*time.Second {
		t.Errorf("the first attempt is at %v, want within 2s of runs that took a minute", first)
	}
}
