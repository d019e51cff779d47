package report

import (
	"time"

	"github.com/pollcli/poll/poll"
)

// silent says nothing but how a wait failed.
type silent struct{ r *Reporter }

func (s *silent) event(_ *run, ev poll.Event) {
	if ev.Kind == poll.EventEnd && ev.Outcome.Ending != poll.Succeeded {
		s.r.con.say(s.r.closing(ev.Outcome, ""))
	}
}

func (s *silent) due() time.Time { return time.Time{} }
func (s *silent) beat(time.Time) {}
