package poll

import (
	"time"

	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A member is an element that is waited for.
type member struct {
	*run            // nil once it has ended
	name     string // its key
	own      *judged
	kept     *status.Observation // own's between two looks
	now      *element            // in the last complete answer, nil if it is not there
	sum      uint64              // of the element by which own was judged, 0 for none
	seen     int                 // the number of the complete answer that held it last, 0 for none
	page     int                 // of that answer
	absent   int                 // how many complete answers in a row have not held it
	presence status.Presence
}

// appear notes whether the complete answer with that number holds the member.
func (m *member) appear(answer int) status.Presence {
	if m.seen == answer {
		m.absent = 0
		return status.Present
	}
	m.now = nil
	if m.absent++; m.shown && m.absent > 1 {
		return status.Gone
	}
	return status.Missing
}

// sameAs reports whether the member is as it was when it was judged last.
func (m *member) sameAs(presence status.Presence) bool {
	if presence != m.presence {
		return false
	}
	return presence != status.Present || m.sum == m.now.sum
}

// observe returns what an answer, to an attempt that began at a time, says of the member.
// page is where it would be if it is absent.
func (m *member) observe(answer *status.Observation, began time.Time, presence status.Presence, page *expr.Doc) *status.Observation {
	o := *answer
	o.Attempt, o.Elapsed, o.Target = m.attempts, max(0, began.Sub(m.Start)), m.name
	o.Hint, o.Quota, o.Pages, o.Remarks = nil, nil, nil, nil
	o.Body, o.Within, o.Presence = nil, page, presence
	if m.now != nil {
		o.Body, o.Within = []byte(m.now.Raw), m.now.doc
	}
	o.Size = int64(len(o.Body))
	m.presence = presence
	m.noteChange(&o)
	return &o
}

// slim drops what the end of the member does not need of how it was judged last.
func (m *member) slim() {
	if m.run == nil {
		return
	}
	if m.kept == nil {
		m.kept = new(status.Observation)
	}
	*m.kept = slim(*m.own.observation)
	m.own.observation, m.own.verdict.Answers = m.kept, nil
}
