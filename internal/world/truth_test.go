package world

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// An operation is the subject of a wait: alone, or as an element of a list. Its state at each moment
// follows from the time of its start, and from its phases.
type operation struct {
	ID     int     `json:",omitzero"`
	Method string  `json:",omitzero"` // of the request that starts it; "" if it runs from the beginning
	Answer string  `json:",omitzero"` // how a server answers that request: see answers
	Style  int     `json:",omitzero"` // how its documents look
	API    string  `json:",omitzero"` // whose documents they are: see apis
	Phases []phase `json:",omitzero"`
}

// A phase begins so long after the start.
type phase struct {
	At    time.Duration `json:",omitzero"`
	State string        `json:",omitzero"`
}

// The states of which no document tells: a server says 404, and a list has no such element.
const (
	absent = "absent"
	gone   = "gone"
)

// life is the history of an operation.
type life struct {
	*operation
	starts  int  // processed
	again   int  // starts that were allowed, after the end of the start before
	told    bool // an answer has told of the end
	over    bool // a run has reported that end: another start is allowed
	loops   int  // redirects of the start to itself, in one run
	started time.Time
	flying  int    // starts that were sent and not answered
	excuse  string // why the wait for it may end in ERROR, "" if nothing says so
	seen    []sighting
	kept    int // of seen, what a later run of a command line knows
}

// running returns the life of an operation of the same ID that runs for ever.
func (w *world) running(l *life) *life {
	o := *l.operation
	o.Phases = []phase{{0, "running"}}
	return &life{operation: &o, started: w.began}
}

// A sighting is an answer about an operation.
type sighting struct {
	doc     string // the true state; "" if the operation was not there
	honest  bool   // and the answer said so, and was delivered whole
	at      time.Time
	told    time.Time // when it was delivered
	message bool      // of a stream
	cached  bool
}

// news returns the sightings without copies of a cache that are not newer than the sighting before.
func (l *life) news() []sighting {
	last := time.Time{}
	return slices.DeleteFunc(slices.Clone(l.seen), func(s sighting) bool {
		isOld := s.cached && !s.at.After(last)
		if !isOld {
			last = s.at
		}
		return isOld
	})
}

// state returns the state of the operation at a moment.
func (l *life) state(at time.Time) string {
	switch {
	case !l.started.IsZero():
	case l.Method == "DELETE":
		return "active"
	default:
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

// hasEnded reports whether the operation is done, failed or gone at a moment, so that the same line may start another.
func (l *life) hasEnded(at time.Time) bool {
	return slices.Contains([]string{"done", "failed", gone}, l.state(at))
}

// docAt returns the document about an operation at a moment, "" if there is none.
func (l *life) docAt(at time.Time) string {
	state := l.state(at)
	if state == absent || state == gone {
		return ""
	}
	return l.doc(state, max(0, at.Sub(l.started)))
}

// Styles of a document: no object is inside another, and no member is there for the state alone.
const (
	bare  = 16
	terse = 32
)

var terseStates = map[string]string{
	"queued": `"message":"queued"`, "running": `"result":"running"`, "done": `"done":true,"result":"rID"`, "failed": `"result":"failed"`,
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
	if o.API != "" {
		return fmt.Sprintf(`{"id":%d,%s,"result":"r%d","age":%d}`, o.ID, apis[o.API][state], o.ID, progress)
	}
	fields := []string{
		fmt.Sprintf(`"id":%d`, o.ID), fmt.Sprintf(`"state":%q`, state), fmt.Sprintf(`"result":"r%d"`, o.ID),
		`"conclusion":` + conclusion, `"finished_at":` + finished, `"error":` + failure,
		fmt.Sprintf(`"progress":%d`, progress), `"meta":{"state":"done"}`,
		fmt.Sprintf(`"steps":[{"name":"a","state":"done"},{"name":"b","state":%q}]`, state),
	}
	if o.Style&terse != 0 {
		return strings.ReplaceAll(`{"id":ID,`+terseStates[state]+"}", "ID", fmt.Sprint(o.ID))
	}
	if o.Style&bare != 0 {
		fields = fields[:7]
	}
	if o.Style&1 != 0 { // a field that is null may be absent as well
		fields = slices.DeleteFunc(fields, func(f string) bool { return strings.HasSuffix(f, ":null") })
	}
	if o.Style&2 != 0 {
		slices.Reverse(fields)
	}
	return "{" + strings.Join(fields, []string{",", ",\n "}[o.Style>>2&1]) + "}"
}
