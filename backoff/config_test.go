package backoff

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestConfig_Validate(t *testing.T) {
	t.Parallel()
	with := func(change func(*Config)) Config {
		c := DefaultConfig()
		change(&c)
		return c
	}
	tests := []struct {
		name   string
		config Config
		want   string
	}{
		{"default", DefaultConfig(), ""},
		{"no cap", with(func(c *Config) { c.MaxWait = 0 }), ""},
		{"factor 1", with(func(c *Config) { c.Factor = 1 }), ""},
		{"fixed ignores the factor", Config{Strategy: StrategyFixed, Base: s}, ""},
		{"fixed at nothing", Config{Strategy: StrategyFixed}, ""},
		{"no such strategy", with(func(c *Config) { c.Strategy = "expo" }),
			`strategy: "expo" is none of exponential, fixed, linear, fibonacci, polynomial`},
		{"no such jitter", with(func(c *Config) { c.Jitter = "some" }),
			`jitter: "some" is none of auto, none, full, equal, decorrelated`},
		{"base 0", with(func(c *Config) { c.Base = 0 }),
			"base: 0 never grows; only the fixed strategy may wait 0"},
		{"base 0 and decorrelated", Config{Strategy: StrategyFixed, Jitter: JitterDecorrelated},
			"base: 0 leaves decorrelated jitter nothing to grow from"},
		{"negative base", with(func(c *Config) { c.Base = -s }), "base: -1s is negative"},
		{"negative cap", with(func(c *Config) { c.MaxWait = -s }), "max-wait: -1s is negative"},
		{"small factor", with(func(c *Config) { c.Factor = 0.5 }), "factor: 0.5 is below 1, the waits would shrink"},
		{"factor NaN", with(func(c *Config) { c.Factor = math.NaN() }), "factor: NaN is not a finite number"},
		{"factor infinite", with(func(c *Config) { c.Factor = math.Inf(1) }), "factor: +Inf is not a finite number"},
		{"power 0", with(func(c *Config) { c.Strategy, c.Power = StrategyPolynomial, 0 }), "power: 0 is not above 0"},
		{"power NaN", with(func(c *Config) { c.Strategy, c.Power = StrategyPolynomial, math.NaN() }), "power: NaN is not a finite number"},
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

func TestParse_names(t *testing.T) {
	t.Parallel()
	for _, want := range Strategies() {
		if got, err := ParseStrategy(string(want)); err != nil || got != want {
			t.Errorf("ParseStrategy(%q) = %q, %v", want, got, err)
		}
	}
	for _, want := range Jitters() {
		if got, err := ParseJitter(string(want)); err != nil || got != want {
			t.Errorf("ParseJitter(%q) = %q, %v", want, got, err)
		}
	}
	_, err := ParseStrategy("")
	checkParameter(t, err, "strategy")
	_, err = ParseJitter("FULL")
	checkParameter(t, err, "jitter")
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
		{"", 0, span{800 * ms, 800 * ms}, span{800 * ms, 1600 * ms}},
		{JitterNone, 20 * s, span{800 * ms, 800 * ms}, span{800 * ms, 800 * ms}},
		{JitterFull, 20 * s, span{0, 800 * ms}, span{0, 800 * ms}},
		{JitterFull, 300 * ms, span{0, 300 * ms}, span{0, 300 * ms}},
		{JitterEqual, 300 * ms, span{150 * ms, 300 * ms}, span{150 * ms, 300 * ms}},
		{JitterDecorrelated, 20 * s, span{100 * ms, 8100 * ms}, span{100 * ms, 8100 * ms}},
		{JitterDecorrelated, 300 * ms, span{100 * ms, 300 * ms}, span{100 * ms, 300 * ms}},
	}
	for _, tt := range tests {
		c := DefaultConfig()
		c.Jitter, c.MaxWait = tt.jitter, tt.max
		own, throttled, err := c.Schedules()
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
		own, _, err := Config{Strategy: StrategyPolynomial, Base: s, Power: 4, Jitter: jitter}.Schedules()
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
