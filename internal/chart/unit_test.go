package chart

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnit_format(t *testing.T) {
	t.Parallel()
	tests := []struct {
		unit Unit
		v    float64
		want string
	}{
		{Number, 0, "0"},
		{Number, 0.30000000000000004, "0.3"},
		{Number, 9500, "9500"},
		{Number, 12000, "12k"},
		{Number, 2.5e6, "2.5M"},
		{Number, 3e9, "3G"},
		{Number, 1e15, "1e+15"},
		{Seconds, 0, "0s"},
		{Seconds, 5e-9, "5ns"},
		{Seconds, 20e-6, "20µs"},
		{Seconds, 0.1, "100ms"},
		{Seconds, 2.5, "2.5s"},
		{Seconds, 60, "1m"},
		{Seconds, 90, "1m30s"},
		{Seconds, 5400, "1h30m"},
		{Seconds, 86400, "1d"},
		{Seconds, 1.5 * 86400, "1d12h"},
		{Seconds, 100 * 86400, "100d"},
		{Seconds, 365 * 86400, "1y"},
		{Seconds, 31_000 * 365 * 86400, "31ky"},
	}
	for _, tt := range tests {
		if got := tt.unit.format(tt.v); got != tt.want {
			t.Errorf("%v is written %q, want %q", tt.v, got, tt.want)
		}
	}
}

func TestUnit_step(t *testing.T) {
	t.Parallel()
	tests := []struct {
		unit        Unit
		least, want float64
	}{
		{Number, 0.03, 0.05},
		{Number, 1, 1},
		{Number, 11, 20},
		{Number, 70, 100},
		{Seconds, 0.03, 0.05},
		{Seconds, 0.4, 0.5},
		{Seconds, 0.6, 1},
		{Seconds, 11, 15},
		{Seconds, 61, 120},
		{Seconds, 4000, 7200},
		{Seconds, 101 * day, year},
		{Seconds, 3 * year, 5 * year},
	}
	for _, tt := range tests {
		if got := tt.unit.step(tt.least); got != tt.want {
			t.Errorf("step of at least %v is %v, want %v", tt.least, got, tt.want)
		}
	}
}

func TestUnit_landmarks(t *testing.T) {
	t.Parallel()
	tests := []struct {
		unit      Unit
		low, high float64
		want      []float64
	}{
		{Number, 3, 1500, []float64{1, 10, 100, 1000, 10000}},
		{Number, 0.01, 0.02, []float64{0.01, 0.1}},
		{Number, 10, 10, []float64{10, 100}},
		{Seconds, 0.05, 100, []float64{0.01, 0.1, 1, 10, 60, 600}},
		{Seconds, 700, 2 * year, []float64{600, hour, day, 10 * day, 100 * day, year, 10 * year}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, tt.unit.landmarks(tt.low, tt.high)); diff != "" {
			t.Errorf("from %v to %v (-want +got):\n%s", tt.low, tt.high, diff)
		}
	}
}
