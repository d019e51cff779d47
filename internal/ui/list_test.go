package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A listing records the events of a list that never was.
type listing struct {
	*recording
	elements map[string]*recording
	order    []string
}

func newListing(names ...string) *listing {
	l := &listing{newRecording("https://api.example.com/jobs", 10*time.Second, 0), map[string]*recording{}, names}
	for _, name := range names {
		l.elements[name] = newRecording(name, 10*time.Second, 0)
	}
	return l
}

// look records an attempt at the list.
func (l *listing) look(v status.Verdict, o *status.Observation) {
	l.wait(time.Second, nil).attempt(v, o)
}

// element records what the last attempt said of an element.
func (l *listing) element(name string, v status.Verdict, presence status.Presence) {
	e := l.elements[name]
	e.now, e.made = l.now, e.made+1
	o := httpAnswer(200, `{"id":"`+name+`"}`)
	o.Within, o.Presence = expr.NewDoc([]byte(`{}`)), presence
	e.shown = e.shown || presence == status.Present
	e.last = poll.Event{Kind: poll.EventAttempt, N: l.number(name), Observation: o, Verdict: v, Took: 50 * time.Millisecond, State: poll.State{Attempts: e.made, Streak: 1}, Threshold: poll.Threshold{Times: 1}}
	e.event(e.last)
	l.events = append(l.events, e.events[len(e.events)-1])
}

// ended records how an element ended.
func (l *listing) ended(name string, o poll.Outcome) {
	e := l.elements[name]
	e.now = l.now
	o.State.Shown = e.shown
	events := e.end(o)
	ev := events[len(events)-1]
	ev.N = l.number(name)
	l.events = append(l.events, ev)
}

func (l *listing) number(name string) int {
	for i, other := range l.order {
		if other == name {
			return i + 1
		}
	}
	return 0
}

// goal records how it all ended.
func (l *listing) goal(ending poll.Ending) []poll.Event {
	s := &poll.Summary{Ending: ending, Targets: len(l.order), Need: len(l.order), Attempts: l.made, Elapsed: l.now}
	return append(l.events, poll.Event{Kind: poll.EventGoal, At: l.began.Add(l.now), Elapsed: l.now, Summary: s})
}

// aList is a list of which an element is done, one is not, one joins, and one is never seen.
func aList() []poll.Event {
	l := newListing("41", "42", "43", "44")
	isDone := verdict(status.Success, until, `.state is "done"`)
	l.look(notReady("3 elements"), httpAnswer(200, `{"jobs":[]}`))
	l.element("41", notReady(queued[0]), status.Present)
	l.element("42", notReady(queued[0]), status.Present)
	l.element("43", notReady("it is not in the answer"), status.Missing)
	l.look(notReady("3 elements"), httpAnswer(200, `{"jobs":[1]}`))
	l.element("41", isDone, status.Present)
	l.ended("41", succeeded)
	l.look(notReady("HTTP 503"), httpAnswer(503, "busy"))
	l.look(notReady("4 elements"), httpAnswer(200, `{"jobs":[2]}`))
	l.element("44", isDone, status.Present)
	l.ended("44", succeeded)
	l.wait(time.Second, nil)
	for _, name := range []string{"42", "43"} {
		o := timedOut
		o.Reason = "timed out after 10s; last: " + l.elements[name].last.Verdict.Reason
		l.ended(name, o)
	}
	return l.goal(poll.TimedOut)
}

// aFailedList is a list that cannot be waited for any more, and so neither can its elements.
func aFailedList() []poll.Event {
	l := newListing("41", "42")
	l.look(notReady("2 elements"), httpAnswer(200, `{"jobs":[]}`))
	l.element("41", notReady(queued[0]), status.Present)
	l.element("42", notReady(queued[0]), status.Present)
	twice := verdict(status.Error, "", "two elements are named 41")
	twice.Advice = status.Advice{Code: status.AdviceKey}
	l.look(twice, httpAnswer(200, `{"jobs":[{"id":41},{"id":41}]}`))
	l.end(failed)
	for _, name := range l.order {
		o := failed
		o.Verdict, o.Observation, o.State.Attempts = twice, l.last.Observation, 2
		l.ended(name, o)
	}
	return l.goal(poll.Failed)
}

// Lists that could not be waited for are named by reason, with the response of the first list.
func TestList_manyFail(t *testing.T) {
	t.Parallel()
	var events []poll.Event
	for i := range 5 {
		l := newRecording(jobName(i), time.Minute, 0)
		l.wait(time.Second, nil).attempt(verdict(status.Error, "", "HTTP 401"), httpAnswer(401, "no"))
		events = append(events, l.end(failed)...)
	}
	events = append(events, poll.Event{Kind: poll.EventGoal, At: events[0].At, Summary: &poll.Summary{Ending: poll.Failed}})
	have := show(events, Config{Face: None, Goal: "all elements of .jobs"})
	if want := "poll: 5 failed, HTTP 401: https://api.example.com/jobs/0, "; !strings.Contains(have, want) || !strings.Contains(have, "| no\n") {
		t.Errorf("have\n%s\nwant %q in it, and the response of a list", have, want)
	}
}

// A list has a forecast.
func TestList_forecast(t *testing.T) {
	t.Parallel()
	events := aList()
	config := Config{Goal: "all elements of .jobs", Forecast: evenly{longest: 16 * time.Minute}}
	s, _, _ := term.Buffers("")
	config.Streams, config.Face = s, Lines
	r := New(config)
	r.Event(events[0])
	if have, want := r.outlookOn(r.board.lists[0], events[0].State.Began.Add(8*time.Minute)), "; about 4m left"; !strings.HasSuffix(have, want) {
		t.Errorf("have %q, want it to end with %q", have, want)
	}
	r.Close()
}

// A list whose elements are all done, but which is not complete, lacks no element.
func TestList_notComplete(t *testing.T) {
	t.Parallel()
	l := newListing("41")
	l.look(notReady("1 element"), httpAnswer(200, ""))
	l.element("41", verdict(status.Success, until, `.state is "done"`), status.Present)
	l.ended("41", succeeded)
	o := timedOut
	o.Reason = "timed out after 10s; last: 1 element"
	l.end(o)
	have := show(l.goal(poll.TimedOut), Config{Face: None, Goal: "all elements of .jobs"})
	if strings.Contains(have, "did not succeed") || !strings.Contains(have, "1 not done, 1 element: https://api.example.com/jobs\n") {
		t.Errorf("have\n%s", have)
	}
}
