package simulate

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/backoff"
)

func run(t *testing.T, c Config) []Result {
	t.Helper()
	results, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// published returns the published algorithms of m with the given names.
func published(m Model, names ...string) []Algorithm {
	var list []Algorithm
	for _, a := range m.Algorithms(0, 0) {
		if slices.Contains(names, a.Name) {
			list = append(list, a)
		}
	}
	return list
}

// by returns a table of results, by the number of clients and the name of the algorithm.
func by(results []Result) map[int]map[string]Result {
	table := map[int]map[string]Result{}
	for _, r := range results {
		if table[r.Clients] == nil {
			table[r.Clients] = map[string]Result{}
		}
		table[r.Clients][r.Algorithm] = r
	}
	return table
}

// Without jitter, all clients collide again each time. The last of n clients is turned away n-1 times. Its waits
// are base * (2^(n-1) - 1) in all.
func TestQueue_exponentialLaws(t *testing.T) {
	c := Defaults(ModelQueue)
	c.Algorithms = []Algorithm{{Name: "exponential"}} // of 100 ms
	c.ServiceMin, c.ServiceMax = 8*time.Millisecond, 8*time.Millisecond
	c.Trials = 1
	c.Clients = []int{1, 2, 5, 10, 12, 14, 15, 20, 30}
	for _, got := range run(t, c) {
		n := got.Clients
		turnedAway := float64(n * (n - 1) / 2)
		time := 100*(math.Pow(2, float64(n-1))-1) + 8
		want := Result{
			Algorithm: "exponential", Clients: n, Trials: 1,
			Time: time, TimeP95: time,
			Calls: turnedAway + float64(n), TurnedAway: turnedAway,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d clients (-want +got):\n%s", n, diff)
		}
	}
}

// off returns the difference of got and want, as a part of want.
func off(got, want float64) float64 { return math.Abs(got-want) / want }

// Waits double without a limit. When the virtual time passes the horizon, the trial stops.
func TestQueue_overflow(t *testing.T) {
	c := Defaults(ModelQueue)
	c.Algorithms, c.Clients, c.Trials = published(ModelQueue, "exponential"), []int{40, 60}, 3
	got := run(t, c)
	if !(got[0].Time > 5e12 && got[0].Time < 2e13) {
		t.Errorf("40 clients need %g ms, want near 1e13", got[0].Time)
	}
	if !math.IsInf(got[1].Time, 1) || !math.IsInf(got[1].TimeP95, 1) {
		t.Errorf("60 clients need %g ms, p95 %g, want +Inf", got[1].Time, got[1].TimeP95)
	}
	if got[1].Calls < 60 || got[1].TurnedAway < 60 {
		t.Errorf("60 clients were stopped after %g calls, %g turned away", got[1].Calls, got[1].TurnedAway)
	}
	c.Algorithms = ModelQueue.Algorithms(0, time.Second)[:1]
	if got := run(t, c)[1]; !(got.Time < 1e6) {
		t.Errorf("capped, 60 clients need %g ms, want less than 1e6", got.Time)
	}
}

// The wanted values are the means of 100 trials of the published simulator, with seed 1 and 10, 50, 100 and 190
// clients. They vary from seed to seed as much as the tolerances allow.
func TestOCC_published(t *testing.T) {
	type figures struct{ time, calls float64 }
	published := map[int]map[string]figures{
		10: {"exponential": {3590, 51}, "decorrelated": {445, 38}, "equal": {725, 42},
			"full": {453, 38}, "none": {377, 50}},
		50: {"exponential": {36583, 622}, "decorrelated": {2251, 375}, "equal": {4341, 347},
			"full": {2896, 332}, "none": {1141, 690}},
		100: {"exponential": {63166, 1843}, "decorrelated": {4505, 1002}, "equal": {6665, 812},
			"full": {5060, 795}, "none": {2036, 2427}},
		190: {"exponential": {101114, 5154}, "decorrelated": {7950, 2439}, "equal": {9516, 1762},
			"full": {7363, 1772}, "none": {3546, 8011}},
	}
	c := Defaults(ModelOCC)
	c.Clients = []int{10, 50, 100, 190}
	for _, got := range run(t, c) {
		want, tolerance := published[got.Clients][got.Algorithm], 0.06
		switch {
		case got.Algorithm == "exponential":
			tolerance = 0.3
		case got.Clients == 10:
			tolerance = 0.1
		}
		if off(got.Time, want.time) > tolerance || off(got.Calls, want.calls) > tolerance {
			t.Errorf("have %+v, want %+v within %.0f%%", got, want, 100*tolerance)
		}
		if away := got.Calls - float64(got.Clients); off(got.TurnedAway, away) > 1e-9 {
			t.Errorf("%+v: %g are turned away", got, away)
		}
	}
}

// This test is not parallel: it changes the number of processors.
func TestRun_dependsOnTheSeedAlone(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, model := range []Model{ModelQueue, ModelOCC} {
		t.Run(string(model), func(t *testing.T) {
			c := Defaults(model)
			c.Clients, c.Trials, c.Seed = []int{5, 20, 33}, 7, 42
			runtime.GOMAXPROCS(1)
			want := run(t, c)
			runtime.GOMAXPROCS(5)
			if diff := cmp.Diff(want, run(t, c)); diff != "" {
				t.Errorf("on 5 processors (-1 processor +5):\n%s", diff)
			}
			c.Clients, c.Algorithms = []int{20}, published(model, "full")
			if diff := cmp.Diff(by(want)[20]["full"], run(t, c)[0]); diff != "" {
				t.Errorf("on its own (-among others +alone):\n%s", diff)
			}
			c.Seed++
			if got := run(t, c)[0]; got == by(want)[20]["full"] {
				t.Errorf("another seed, the same result %+v", got)
			}
		})
	}
}

// A schedule gets the same steps in a simulation as in a run.
func TestRun_steps(t *testing.T) {
	for model, first := range map[Model]int{ModelQueue: 0, ModelOCC: 1} {
		var steps []backoff.Step
		c := Defaults(model)
		c.Clients, c.Trials = []int{2}, 1
		c.ServiceMin, c.ServiceMax = 25*time.Millisecond, 25*time.Millisecond
		c.Algorithms = []Algorithm{{Name: "steady", Schedule: backoff.ScheduleFunc(func(s backoff.Step, _ *rand.Rand) time.Duration {
			steps = append(steps, s)
			return 10 * time.Millisecond
		})}}
		got := run(t, c)[0]
		steps = steps[len(steps)-int(got.TurnedAway):] // those before are validate's
		if len(steps) == 0 {
			t.Fatalf("%s: nobody was turned away", model)
		}
		for i, s := range steps {
			wantPrevious := min(i, 1) * 10
			if s.N != first+i || s.Previous != time.Duration(wantPrevious)*time.Millisecond {
				t.Errorf("%s: step %d is %+v", model, i, s)
			}
			if model == ModelQueue && s.Elapsed != time.Duration(10*i)*time.Millisecond {
				t.Errorf("%s: step %d is asked at %v", model, i, s.Elapsed)
			}
		}
	}
}

// A trial that would never end stops when the context is done.
func TestRun_canceledWithinATrial(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	c := Defaults(ModelQueue)
	c.Clients, c.Trials, c.Algorithms = []int{1000}, 1, []Algorithm{{Name: "busy", Schedule: backoff.Fixed(1)}}
	c.ServiceMin, c.ServiceMax = time.Hour, time.Hour
	if _, err := Run(ctx, c); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want the deadline", err)
	}
}

func TestConfig_validate(t *testing.T) {
	none := []Algorithm{{Name: "none", Schedule: backoff.Fixed(0)}}
	tests := []struct {
		name   string
		model  Model
		change func(*Config)
		want   string
	}{
		{"queue", ModelQueue, func(*Config) {}, ""},
		{"occ", ModelOCC, func(*Config) {}, ""},
		{"occ without waiting", ModelOCC, func(c *Config) { c.Algorithms = none }, ""},
		{"model", ModelQueue, func(c *Config) { c.Model = "lock" }, `model: "lock" is neither queue nor occ`},
		{"queue without waiting", ModelQueue, func(c *Config) { c.Algorithms = none },
			"algorithm: clients of model queue that do not wait would never end; choose from exponential, full, equal, decorrelated"},
		{"no algorithm", ModelQueue, func(c *Config) { c.Algorithms = nil },
			"algorithm: none given; choose from exponential, full, equal, decorrelated"},
		{"no clients", ModelQueue, func(c *Config) { c.Clients = nil }, "clients: no number given"},
		{"0 clients", ModelQueue, func(c *Config) { c.Clients = []int{5, 0} }, "clients: 0 is not from 1 to 1000000"},
		{"too many clients", ModelQueue, func(c *Config) { c.Clients = []int{2_000_000} },
			"clients: 2000000 is not from 1 to 1000000"},
		{"trials", ModelQueue, func(c *Config) { c.Trials = 0 }, "trials: 0 is below 1"},
		{"too many trials", ModelQueue, func(c *Config) { c.Trials = 1e9 }, "trials: 1000000000 of each are more than 10000000 in all"},
		{"service", ModelQueue, func(c *Config) { c.ServiceMin = -time.Second }, "service: -1s is negative"},
		{"service range", ModelQueue, func(c *Config) { c.ServiceMax = time.Millisecond }, "service: 8ms to 1ms ends before it begins"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := Defaults(tt.model)
			tt.change(&c)
			err := c.validate()
			if tt.want == "" {
				if err != nil {
					t.Errorf("error %v, want none", err)
				}
				return
			}
			if err == nil || err.Error() != tt.want {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}
