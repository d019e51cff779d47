package chart

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHistogram(t *testing.T) {
	t.Parallel()
	seconds := func(from, to float64) string { return fmt.Sprintf("%vs to %vs", from, to) }
	const minute, hour, day = 60.0, 3600.0, 86400.0
	for _, tt := range []struct {
		name      string
		durations []float64
		rows      int
		first     string
	}{
		{"all equal", []float64{3, 3, 3}, 1, "3s to 3.001s  ### 3"},
		{"up to twelve seconds", []float64{0.5, 1, 1.2, 11.9}, 12, "0s to 1s  # 1"},
		{"minutes", []float64{70, 12 * minute}, 12, "60s to 120s  # 1"},
		{"a day", []float64{0, day}, 13, "0s to 7200s  # 1"},
		{"a month", []float64{0, 30 * day}, 7, "0s to 432000s  # 1"},
	} {
		have := strings.Split(strings.TrimSpace(Histogram(tt.durations, seconds, false)), "\n")
		if diff := cmp.Diff(tt.first, strings.TrimSpace(have[0])); diff != "" || len(have) != tt.rows {
			t.Errorf("%s: %d rows, want %d; the first (-want +have):\n%s", tt.name, len(have), tt.rows, diff)
		}
	}
}

// The longest bar fits, and a row without a value has no bar.
func TestHistogram_bars(t *testing.T) {
	t.Parallel()
	durations := make([]float64, 1000)
	durations[999] = 3
	text := Histogram(durations, func(from, to float64) string { return "" }, true)
	lines := strings.Split(text, "\n")
	if have := strings.Count(lines[0], "█"); have != histogramWidth {
		t.Errorf("999 of 1000 have a bar of %d, want %d", have, histogramWidth)
	}
	if lines[1] != "" || !strings.HasSuffix(text, "  █ 1\n") {
		t.Errorf("rows of none and one:\n%s", text)
	}
}
