package report

import (
	"time"

	"github.com/pollcli/poll/poll"
)

// redraw is the least time between two pictures.
const redraw = 100 * time.Millisecond

// live is the face of a terminal: one line, redrawn, and above it the verdicts
// that changed something. The size of the terminal and whether poll is in its
// foreground are asked before every picture, so that nothing has to be told of
// a resize or of a stop and its end.
type live struct {
	r     *Reporter
	above lines
	drew  time.Time
}

func (v *live) event(u *run, ev poll.Event) {
	v.r.yield()
	if ev.Kind == poll.EventEnd {
		v.r.con.finish(v.r.closing(ev.Outcome, summary(u, v.r.cfg.Palette)))
		return
	}
	v.above.event(u, ev)
	if now := time.Now(); now.Sub(v.drew) >= redraw {
		v.beat(now)
	}
}

func (v *live) due() time.Time {
	if v.above.idle() {
		return time.Time{}
	}
	return v.drew.Add(redraw)
}

// beat draws the line anew. In the background it leaves the terminal to whoever
// has it.
func (v *live) beat(now time.Time) {
	v.drew = now
	if v.r.yield() {
		return
	}
	for _, u := range v.r.runs {
		if !u.ended() {
			v.r.con.draw(v.picture(u, now))
			return
		}
	}
}

// yield reports whether the terminal is somebody else's now. What was drawn on
// it then is no longer poll's to erase.
func (r *Reporter) yield() bool {
	if r.cfg.Streams.Foreground() {
		return false
	}
	r.con.abandon()
	return true
}
