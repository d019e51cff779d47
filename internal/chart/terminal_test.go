package chart

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestPlot_Terminal(t *testing.T) {
	t.Parallel()
	one := growth()
	one.Series = one.Series[:1]
	log := growth()
	log.LogY = true
	tests := []struct {
		name string
		plot Plot
		want string
	}{
		{"two series", growth(), `
growth of waits

 20m ┤
     ┤                      oo
     ┤                   oooo
     ┤                oooo **
 10m ┤             oooo    *
     ┤          oooo      **
     ┤       oooo        **
     ┤    oooo         ***
     ┤ oooo        *****
  0s ┤ *************
     └┬───────────┬───────────┬
      0           5          10
      time (up) against attempt…
      * doubling   o steady
`},
		{"one series", one, `
growth of waits

 20m ┤
     ┤                      ╭╴
     ┤                      │
     ┤                     ╭╯
 10m ┤                     │
     ┤                    ╭╯
     ┤                   ╭╯
     ┤                 ╭─╯
     ┤             ╭───╯
  0s ┤ ╶───────────╯
     └┬───────────┬───────────┬
      0           5          10
      time (up) against attempt…
`},
		{"logarithmic", log, `
growth of waits

 1h ┤
    ┤                      ooo
    ┤        ooooooooooooooo*
    ┤   oooooo        ****
 1m ┤ ooo         *****
    ┤           ***
    ┤       *****
    ┤    ****
    ┤ ****
 1s ┤
    └┬────────────┬───────────┬
     0            5          10
     time (up) against attempt …
     * doubling   o steady
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := tt.plot.Terminal(32, 9, false)
			if diff := cmp.Diff(strings.TrimPrefix(tt.want, "\n"), got); diff != "" {
				t.Errorf("picture (-want +got):\n%s\n%s", diff, got)
			}
		})
	}
}

func TestPlot_Terminal_color(t *testing.T) {
	t.Parallel()
	const escape = "\x1b["
	if text := growth().Terminal(60, 12, true); !strings.Contains(text, escape) {
		t.Errorf("no colour in\n%s", text)
	}
	if text := growth().Terminal(60, 12, false); strings.Contains(text, escape) {
		t.Errorf("an escape sequence without colour in\n%q", text)
	}
}

func TestPlot_Terminal_fits(t *testing.T) {
	t.Parallel()
	plot := growth()
	plot.Title = strings.Repeat("long ", 40)
	plot.Series[0].Name = strings.Repeat("name", 10)
	for width := 30; width < 150; width += 7 {
		for line := range strings.Lines(plot.Terminal(width, 15, false)) {
			if got := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); got > width {
				t.Errorf("%d columns in %d: %s", got, width, line)
			}
		}
	}
}

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
