package backoff

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestConfig_Schedules_validates(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		config Config
		want   string
	}{
		{"default", Config{}, ""},
		{"no cap", Config{MaxWait: NoCap}, ""},
		{"factor 1", Config{Factor: 1}, ""},
		{"fixed ignores the factor", Config{Strategy: StrategyFixed, Factor: -1}, ""},
		{"fixed without a wait", Config{Strategy: StrategyFixed, Base: NoWait}, ""},
		{"no such strategy", Config{Strategy: "expo"},
			`strategy: "expo" is none of exponential, fixed, linear, fibonacci, polynomial`},
		{"no such jitter", Config{Jitter: "some"},
			`jitter: "some" is none of auto, none, full, equal, decorrelated`},
		{"no wait", Config{Base: NoWait},
			"base: 0 never grows; only the fixed strategy may wait 0"},
		{"no wait and decorrelated", Config{Strategy: StrategyFixed, Base: NoWait, Jitter: JitterDecorrelated},
			"base: 0 leaves decorrelated jitter nothing to grow from"},
		{"negative base", Config{Base: -s}, "base: -1s is negative"},
		{"negative fixed wait", Config{Strategy: StrategyFixed, Base: -s}, "base: -1s is negative"},
		{"negative cap", Config{MaxWait: -s}, "max wait: -1s is negative"},
		{"small factor", Config{Factor: 0.5}, "factor: 0.5 is below 1, the waits would shrink"},
		{"factor NaN", Config{Factor: math.NaN()}, "factor: NaN is not a finite number"},
		{"factor infinite", Config{Factor: math.Inf(1)}, "factor: +Inf is not a finite number"},
		{"negative power", Config{Strategy: StrategyPolynomial, Power: -1}, "power: -1 is not above 0"},
		{"power NaN", Config{Strategy: StrategyPolynomial, Power: math.NaN()}, "power: NaN is not a finite number"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := ""
			own, throttled, err := tt.config.Schedules()
			if err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("error %q, want %q", got, tt.want)
			}
			if have := own != nil && throttled != nil; have != (err == nil) {
				t.Errorf("schedules %v and %v with error %v", own, throttled, err)
			}
		})
	}
}

// The zero value of a number is its default, under each strategy.
func TestConfig_Schedules_zeroMeansDefault(t *testing.T) {
	t.Parallel()
	for strategy, want := range map[Strategy][]time.Duration{
		"":                  times(ms, 100, 200, 400, 800, 1600, 3200, 6400, 12800, 20000),
		StrategyExponential: times(ms, 100, 200, 400),
		StrategyFixed:       times(ms, 100, 100, 100),
		StrategyLinear:      times(ms, 100, 200, 300),
		StrategyFibonacci:   times(ms, 100, 100, 200),
		StrategyPolynomial:  times(ms, 300, 1800, 8300, 20000),
	} {
		own, _, err := Config{Strategy: strategy, Jitter: JitterNone}.Schedules()
		if err != nil {
			t.Fatal(err)
		}
		checkWaits(t, own, want)
	}
	own, _, err := Config{Strategy: StrategyFixed, Base: NoWait}.Schedules()
	if err != nil {
		t.Fatal(err)
	}
	checkWaits(t, own, times(s, 0, 0, 0))
}

// The bounds of the fourth wait, 800ms without jitter, after NOT_READY and after
// THROTTLED.
func TestConfig_Schedules(t *testing.T) {
	t.Parallel()
	type span struct{ low, high time.Duration }
	tests := []struct {
		jitter         Jitter
		max            time.Duration
		own, throttled span
	}{
		{JitterAuto, 20 * s, span{800 * ms, 800 * ms}, span{800 * ms, 1600 * ms}},
		{JitterAuto, 1000 * ms, span{800 * ms, 800 * ms}, span{800 * ms, 1000 * ms}},
		{JitterAuto, 300 * ms, span{300 * ms, 300 * ms}, span{300 * ms, 300 * ms}},
		{"", NoCap, span{800 * ms, 800 * ms}, span{800 * ms, 1600 * ms}},
		{JitterNone, 20 * s, span{800 * ms, 800 * ms}, span{800 * ms, 800 * ms}},
		{JitterFull, 20 * s, span{0, 800 * ms}, span{0, 800 * ms}},
		{JitterFull, 300 * ms, span{0, 300 * ms}, span{0, 300 * ms}},
		{JitterEqual, 300 * ms, span{150 * ms, 300 * ms}, span{150 * ms, 300 * ms}},
		{JitterDecorrelated, 20 * s, span{100 * ms, 8100 * ms}, span{100 * ms, 8100 * ms}},
		{JitterDecorrelated, 300 * ms, span{100 * ms, 300 * ms}, span{100 * ms, 300 * ms}},
	}
	for _, tt := range tests {
		own, throttled, err := Config{Jitter: tt.jitter, MaxWait: tt.max}.Schedules()
		if err != nil {
			t.Fatal(err)
		}
		fourth := func(schedule Schedule) (got span) {
			for row := range (Table{Schedule: schedule, Attempts: 4}).Rows() {
				got = span{row.Min, row.Max}
			}
			return got
		}
		if got := fourth(own); got != tt.own {
			t.Errorf("jitter %q, cap %v: waits %v, want %v", tt.jitter, tt.max, got, tt.own)
		}
		if got := fourth(throttled); got != tt.throttled {
			t.Errorf("jitter %q, cap %v: throttled waits %v, want %v", tt.jitter, tt.max, got, tt.throttled)
		}
	}
}

func TestConfig_Schedules_polynomialSpread(t *testing.T) {
	t.Parallel()
	for jitter, want := range map[Jitter]Row{
		JitterAuto: {Wait: 19200 * ms, Min: 18 * s, Max: 20400 * ms},
		JitterNone: {Wait: 18 * s, Min: 18 * s, Max: 18 * s},
		JitterFull: {Wait: 9 * s, Min: 0, Max: 18 * s},
	} {
		own, _, err := Config{Strategy: StrategyPolynomial, Base: s, MaxWait: NoCap, Jitter: jitter}.Schedules()
		if err != nil {
			t.Fatal(err)
		}
		var got Row
		for row := range (Table{Schedule: own, Attempts: 2}).Rows() {
			got = Row{Wait: row.Wait, Min: row.Min, Max: row.Max}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("jitter %s (-want +got):\n%s", jitter, diff)
		}
	}
}
