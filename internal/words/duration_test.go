package words

import (
	"math"
	"testing"
	"time"
)

func TestSum(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
	for ns, want := range map[float64]time.Duration{
		math.Inf(-1): 0, -1: 0, 0.5: 0, 1.5: 2, 2.5: 2, 1e9: time.Second, math.MaxInt64: Longest, math.Inf(1): Longest, math.NaN(): Longest,
	} {
		if got := Nanoseconds(ns); got != want {
			t.Errorf("Nanoseconds(%v) = %d, want %d", ns, got, want)
		}
	}
}
