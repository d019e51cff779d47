package words

import (
	"math"
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
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
		{4698 * time.Second, "1h18m18s", "4698", "1h18m18s (4698s)", "1h18m18s"},
		{time.Hour + 5*time.Second, "1h5s", "3605", "1h5s (3605s)", "1h0m5s"},
		{585_500 * time.Millisecond, "9m46s", "585.5", "9m46s (585.5s)", "9m45.5s"},
		{390_627 * time.Second, "4d12h30m27s", "390627", "4d12h30m27s (390627s)", "108h30m27s"},
		{math.MaxInt64, "over 292 years", "9223372036.854776", "over 292 years", "2562047h47m16.854775807s"},
	}
	for _, tt := range tests {
		if have := Duration(tt.d); have != tt.people {
			t.Errorf("for people %d ns are %q, want %q", tt.d, have, tt.people)
		}
		if have := Seconds(tt.d); have != tt.number {
			t.Errorf("in seconds %d ns are %q, want %q", tt.d, have, tt.number)
		}
		if have := WithSeconds(tt.d); have != tt.both {
			t.Errorf("both ways %d ns are %q, want %q", tt.d, have, tt.both)
		}
		if have := Flag(tt.d); have != tt.flag {
			t.Errorf("for a flag %d ns are %q, want %q", tt.d, have, tt.flag)
		}
		if have, err := time.ParseDuration(Flag(tt.d)); have != tt.d || err != nil {
			t.Errorf("%q is read as %v, %v; want %v", Flag(tt.d), have, err, tt.d)
		}
	}
}

func TestShort(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0:                         "0s",
		99 * time.Millisecond:     "99ms",
		2460 * time.Millisecond:   "2.5s",
		59960 * time.Millisecond:  "1m",
		119900 * time.Millisecond: "2m",
		10 * time.Minute:          "10m",
		90 * time.Minute:          "1h30m",
		time.Hour + 5*time.Second: "1h5s",
		26 * time.Hour:            "1d2h",
		math.MaxInt64:             "over 292 years",
	} {
		if have := Short(d); have != want {
			t.Errorf("%v: have %q, want %q", d, have, want)
		}
	}
}

// A timeout that was measured reads as the one that was given.
func TestShort_givesBackTheTimeout(t *testing.T) {
	t.Parallel()
	for _, want := range []string{"100ms", "1.5s", "30s", "1m30s"} {
		d, err := time.ParseDuration(want)
		if err != nil {
			t.Fatal(err)
		}
		if have := Short(d - 20*time.Microsecond); have != want {
			t.Errorf("have %s, want %s", have, want)
		}
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0 waits", 1: "1 wait", 2: "2 waits"} {
		if have := Count(n, "wait"); have != want {
			t.Errorf("have %q, want %q", have, want)
		}
	}
}
