package chart

import (
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
