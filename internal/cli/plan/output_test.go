package plan

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/internal/ui/term"
)

func TestMeter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		change     func(*term.Streams)
		after      time.Duration
		want, gone string
	}{
		{"long work", func(*term.Streams) {}, time.Second, "\rsimulating: 25% (50 of 200)", "\r\x1b[K"},
		{"short work", func(*term.Streams) {}, 999 * time.Millisecond, "", ""},
		{"no terminal", func(s *term.Streams) { s.ErrIsTerminal = false }, time.Minute, "", ""},
		{"nothing can be redrawn", func(s *term.Streams) { s.Dumb = true }, time.Minute, "", ""},
		{"in the background", func(s *term.Streams) { s.Foreground = func() bool { return false } }, time.Minute, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				streams, _, said := term.Buffers("")
				streams.ErrIsTerminal = true
				tt.change(streams)

				show, clear := newMeter(streams, "simulating")
				time.Sleep(tt.after)
				show(50, 200)
				if have := said.String(); have != tt.want {
					t.Errorf("have %q, want %q", have, tt.want)
				}
				said.Reset()
				clear()
				if have := said.String(); have != tt.gone {
					t.Errorf("cleared by %q, want %q", have, tt.gone)
				}
			})
		})
	}
}
