package words

import (
	"math"
	"testing"
	"time"
)

// table checks that f returns the value of each key of want.
func table[T comparable](t *testing.T, f func(T) string, want map[T]string) {
	t.Helper()
	for key, want := range want {
		if have := f(key); have != want {
			t.Errorf("%#v: have %q, want %q", key, have, want)
		}
	}
}

func TestDuration(t *testing.T) {
	table(t, Duration, map[time.Duration]string{
		0:                          "0s",
		5:                          "5ns",
		1500 * time.Nanosecond:     "1.5µs",
		100 * time.Millisecond:     "100ms",
		123_456_789:                "123.457ms",
		999_999_999:                "1s",
		3075 * time.Millisecond:    "3.075s",
		59_999_999_999:             "1m",
		time.Minute:                "1m",
		10 * time.Hour:             "10h",
		4698 * time.Second:         "1h18m18s",
		time.Hour + 5*time.Second:  "1h5s",
		585_500 * time.Millisecond: "9m46s",
		390_627 * time.Second:      "4d12h30m27s",
		math.MaxInt64:              "over 292 years",
	})
}

func TestShort(t *testing.T) {
	table(t, Short, map[time.Duration]string{
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
	})
}

func TestCount(t *testing.T) {
	table(t, func(n int) string { return Count(n, "wait") }, map[int]string{0: "0 waits", 1: "1 wait", 2: "2 waits"})
}

func TestOneLine(t *testing.T) {
	table(t, OneLine, map[string]string{"": "", "a\tb\r\nc": "a b  c", "a\x1b[2J\x00": "a\ufffd[2J\ufffd", "äé\u202e": "äé\ufffd"})
}

func TestShorten(t *testing.T) {
	table(t, func(s string) string { return Shorten(s, 3) }, map[string]string{"": "", "äöü": "äöü", "äöüx": "äöü...", "\xff\xff\xff\xff": "\xff\xff\xff..."})
}

func TestNearest(t *testing.T) {
	table(t, func(word string) string { return Nearest(word, []string{"until", "interval"}) }, map[string]string{"interva": "interval", "intreval": "interval", "intervall": "interval", "imteral": "interval", "untervals": "", "utnil": "until", "unt": "until", "un": "", "x": ""})
}

func TestCounts(t *testing.T) {
	if have, want := Counts(map[string]int{"b": 1, "a": 4, "c": 0}, "a", "b", "c", "d"), "4 a, 1 b"; have != want {
		t.Errorf("have %q, want %q", have, want)
	}
}

func TestSum(t *testing.T) {
	for _, tt := range []struct{ a, b, want time.Duration }{
		{0, 0, 0},
		{time.Second, time.Millisecond, 1001 * time.Millisecond},
		{Longest - 1, 1, Longest},
		{Longest, 1, Longest},
		{1, Longest, Longest},
		{Longest, Longest, Longest},
		{-1, 1, 1},
		{1, math.MinInt64, 1},
	} {
		if got := Sum(tt.a, tt.b); got != tt.want {
			t.Errorf("Sum(%d, %d) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestNanoseconds(t *testing.T) {
	for ns, want := range map[float64]time.Duration{
		math.Inf(-1): 0, -1: 0, 0.5: 0, 1.5: 2, 2.5: 2, 1e9: time.Second, math.MaxInt64: Longest, math.Inf(1): Longest, math.NaN(): Longest,
	} {
		if got := Nanoseconds(ns); got != want {
			t.Errorf("Nanoseconds(%v) = %d, want %d", ns, got, want)
		}
	}
}
