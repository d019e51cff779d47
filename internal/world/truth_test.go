package world

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// An operation is what is waited for: alone, or as an element of a list. What it is at each moment
// follows from when it was started, and from its phases.
type operation struct {
	ID     int
	Method string // of the request that starts it; "" if it runs from the beginning
	Answer string // how a server answers that request: see answers
	Follow string // what --follow says of the answer
	Style  int    // how its documents look
	Phases []phase
}

// A phase begins so long after the start.
type phase struct {
	At    time.Duration
	State string
}

// The states of which no document tells: a server says 404, and a list has no such element.
const (
	absent = "absent"
	gone   = "gone"
)

// isThere reports whether a state is that of something that can be seen.
func isThere(state string) bool { return state != absent && state != gone }

// life is what has become of an operation.
type life struct {
	*operation
	starts  int // processed
	started time.Time
	seen    []sighting
	excuse  string // why the wait for it may end in ERROR, "" if nothing says so
	flying  int    // starts that are sent and not answered
}

// A sighting is an answer about an operation that was delivered whole.
type sighting struct {
	at     time.Time
	doc    string // what it truly was
	honest bool   // and the answer said so
	code   int
}

// state returns what the operation is at a moment.
func (l *life) state(at time.Time) string {
	if l.started.IsZero() {
		if l.Method == "DELETE" {
			return "active"
		}
		return absent
	}
	now := l.Phases[0].State
	for _, p := range l.Phases {
		if at.Sub(l.started) >= p.At {
			now = p.State
		}
	}
	return now
}

// settled returns the last state of an operation, and when it came to it, zero if it was not started.
func (l *life) settled() (state string, since time.Time) {
	last := l.Phases[len(l.Phases)-1]
	if l.started.IsZero() {
		return last.State, time.Time{}
	}
	return last.State, l.started.Add(last.At)
}

// doc returns the document about an operation in a state, of the age given.
func (o *operation) doc(state string, age time.Duration) string {
	conclusion, finished, failure, progress := "null", "null", "null", int(age/time.Second)%90
	switch state {
	case "done":
		conclusion, finished, progress = `"success"`, `"2026-01-01T00:00:00Z"`, 100
	case "failed":
		conclusion, finished, failure = `"failure"`, `"2026-01-01T00:00:00Z"`, `{"code":7}`
	}
	fields := []string{
		fmt.Sprintf(`"id":%d`, o.ID),
		fmt.Sprintf(`"state":%q`, state),
		`"conclusion":` + conclusion,
		`"finished_at":` + finished,
		`"error":` + failure,
		fmt.Sprintf(`"progress":%d`, progress),
		fmt.Sprintf(`"steps":[{"name":"a","state":"done"},{"name":"b","state":%q}]`, state),
		`"meta":{"state":"done"}`,
		fmt.Sprintf(`"result":"r%d"`, o.ID),
	}
	if o.Style&1 != 0 { // what is null may be missing as well
		fields = slices.DeleteFunc(fields, func(f string) bool { return strings.HasSuffix(f, ":null") })
	}
	if o.Style&2 != 0 {
		slices.Reverse(fields)
	}
	space := ""
	if o.Style&4 != 0 {
		space = "\n  "
	}
	return "{" + space + strings.Join(fields, ","+space) + strings.TrimSuffix(space, "  ") + "}"
}

// docAt returns the document about an operation at a moment, "" if it cannot be seen then.
func (l *life) docAt(at time.Time) string {
	state := l.state(at)
	if !isThere(state) {
		return ""
	}
	return l.doc(state, max(0, at.Sub(l.started)))
}
