package status

import "time"

// A Stage is a part of an attempt at a server.
type Stage uint8

// The stages, in their order.
const (
	StageName    Stage = iota // the name of the host is looked up
	StageConnect              // a connection is opened
	StageProxy                // the proxy at its other end connects to the server
	StageTLS                  // the TLS handshake
	StageAnswer               // the request, until the header of its answer has come
	StageBody                 // the rest of the answer; only where that did not come
)

// Stages say how far the last request of an attempt got, or the last connection. The zero
// value says nothing.
type Stages struct {
	// Took is how long each stage took; 0 if it was not reached or there was none, as where
	// a host is given by its address.
	Took [StageBody + 1]time.Duration
	// Unfinished is true if the last stage that was reached did not end, or failed.
	Unfinished bool
	// Reused is true if the request went over a connection that was there.
	Reused bool
}

// Last returns the last stage that was reached, and whether there is one.
func (s Stages) Last() (Stage, bool) {
	for stage := StageBody; ; stage-- {
		if s.Took[stage] > 0 {
			return stage, true
		}
		if stage == 0 {
			return 0, false
		}
	}
}

// Note sets how long a stage took from one moment to another, which is more than 0.
func (s *Stages) Note(stage Stage, from, to time.Time) {
	s.Took[stage] = max(to.Sub(from), 1)
}
