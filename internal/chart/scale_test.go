package chart

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func labels(s scale) string {
	var words []string
	for _, t := range s.ticks {
		words = append(words, t.label)
	}
	return strings.Join(words, " ")
}

func TestLinearScale(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		low  float64
		high float64
		unit Unit
		want string
	}{
		{"from 0", 3, 41, Number, "0 10 20 30 40 50"},
		{"ends at a tick", 10, 40, Number, "0 10 20 30 40"},
		{"below 0", -3, 7, Number, "-4 -2 0 2 4 6 8"},
		{"time", 0.1, 600, Seconds, "0s 2m 4m 6m 8m 10m"},
		{"nothing but 0", 0, 0, Number, "0 0.2 0.4 0.6 0.8 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := linearScale(extent{low: tt.low, high: tt.high}, tt.unit, 5)
			if got := labels(s); got != tt.want {
				t.Errorf("ticks %s, want %s", got, tt.want)
			}
			if first, last := s.ticks[0].at, s.ticks[len(s.ticks)-1].at; first != 0 || last != 1 {
				t.Errorf("ticks from %v to %v, want from 0 to 1", first, last)
			}
		})
	}
}

func TestLogScale(t *testing.T) {
	t.Parallel()
	s := logScale(extent{low: 0.1, high: 1000}, Number, 10)
	if got, want := labels(s), "0.1 1 10 100 1000"; got != want {
		t.Errorf("ticks %s, want %s", got, want)
	}
	if got := s.position(10); got != 0.5 {
		t.Errorf("10 is at %v, want 0.5", got)
	}
	s = logScale(extent{low: 1, high: 1e6}, Number, 4)
	if got, want := labels(s), "1 100 10k 1M"; got != want {
		t.Errorf("thinned ticks %s, want %s", got, want)
	}
}

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

func TestUnit_logTicks(t *testing.T) {
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
		if diff := cmp.Diff(tt.want, tt.unit.logTicks(tt.low, tt.high)); diff != "" {
			t.Errorf("from %v to %v (-want +got):\n%s", tt.low, tt.high, diff)
		}
	}
}
