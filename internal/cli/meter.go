package cli

import (
	"fmt"
	"time"
)

// A meter is a line on a terminal that says how far long work is.
type meter struct {
	in      *invocation
	what    string
	since   time.Time
	visible bool
}

// meterPatience is how long work takes before it is worth a line.
const meterPatience = time.Second

func (in *invocation) newMeter(what string) *meter {
	return &meter{in: in, what: what, since: time.Now()}
}

// show redraws the line.
func (m *meter) show(done, total int) {
	s := m.in.Streams
	if !s.ErrIsTerminal || s.Dumb || !s.Foreground() || time.Since(m.since) < meterPatience {
		return
	}
	fmt.Fprintf(s.Err, "\r%s: %d%% (%d of %d)", m.what, 100*done/total, done, total)
	m.visible = true
}

// clear takes the line away.
func (m *meter) clear() {
	if m.visible {
		fmt.Fprint(m.in.Streams.Err, "\r\x1b[K")
	}
}
