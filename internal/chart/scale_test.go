package chart

import (
	"strings"
	"testing"
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
