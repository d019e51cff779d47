package cli

import (
	"math"
	"testing"
	"time"
)

func TestSpell(t *testing.T) {
	t.Parallel()
	tests := []struct {
		d                          time.Duration
		people, number, both, flag string
	}{
		{0, "0s", "0", "0s", "0s"},
		{5, "5ns", "0.000000005", "5ns (0.000000005s)", "5ns"},
		{1500 * time.Nanosecond, "1.5µs", "0.0000015", "1.5µs (0.0000015s)", "1.5µs"},
		{100 * time.Millisecond, "100ms", "0.1", "100ms (0.1s)", "100ms"},
		{123_456_789, "123.457ms", "0.123", "123.457ms (0.123s)", "123.456789ms"},
		{999_999_999, "1s", "1", "1s", "999.999999ms"},
		{3075 * time.Millisecond, "3.075s", "3.075", "3.075s", "3.075s"},
		{59_999_999_999, "1m", "60", "1m (60s)", "59.999999999s"},
		{time.Minute, "1m", "60", "1m (60s)", "1m"},
		{10 * time.Hour, "10h", "36000", "10h (36000s)", "10h"},
		{4698 * time.Second, "1h 18m 18s", "4698", "1h 18m 18s (4698s)", "1h18m18s"},
		{time.Hour + 5*time.Second, "1h 5s", "3605", "1h 5s (3605s)", "1h0m5s"},
		{585_500 * time.Millisecond, "9m 46s", "585.5", "9m 46s (585.5s)", "9m45.5s"},
		{390_627 * time.Second, "4d 12h 30m 27s", "390627", "4d 12h 30m 27s (390627s)", "108h30m27s"},
		{math.MaxInt64, "over 292 years", "9223372036.854776", "over 292 years", "2562047h47m16.854775807s"},
	}
	for _, tt := range tests {
		if have := spellTime(tt.d); have != tt.people {
			t.Errorf("for people %d ns are %q, want %q", tt.d, have, tt.people)
		}
		if have := spellSeconds(tt.d); have != tt.number {
			t.Errorf("in seconds %d ns are %q, want %q", tt.d, have, tt.number)
		}
		if have := spellBoth(tt.d); have != tt.both {
			t.Errorf("both ways %d ns are %q, want %q", tt.d, have, tt.both)
		}
		if have := spellFlag(tt.d); have != tt.flag {
			t.Errorf("for a flag %d ns are %q, want %q", tt.d, have, tt.flag)
		}
		if have, err := parseDuration(spellFlag(tt.d)); have != tt.d || err != nil {
			t.Errorf("%q is read as %v, %v; want %v", spellFlag(tt.d), have, err, tt.d)
		}
	}
}
