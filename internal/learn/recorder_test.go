package learn

import (
	"context"
	"testing"
	"time"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// attempts returns the events of attempts with the given statuses. The target is the third of several targets.
// The attempts ended 1, 2, 3 ... s after the start and took 100 ms each.
func attempts(statuses ...status.Status) []poll.Event {
	var list []poll.Event
	began := time.Unix(0, 0)
	for i, s := range statuses {
		code := 1
		list = append(list, poll.Event{
			Kind: poll.EventAttempt, N: 3, State: poll.State{Began: began, Status: s}, At: began.Add(time.Duration(i+1) * time.Second), Took: 100 * time.Millisecond,
			Verdict: status.Verdict{Status: s}, Observation: new(poll.Recorded(status.Observation{Exit: &code})),
		})
	}
	return list
}

// lookingFor returns events after changing events from the index from on: their attempts request the result.
func lookingFor(events []poll.Event, from int) []poll.Event {
	for _, ev := range events[from:] {
		ev.Observation.Result = true
	}
	return events
}

// cutShort returns events after changing event i: its attempt was ended from outside.
func cutShort(events []poll.Event, i int) []poll.Event {
	events[i].Observation.Failure = &status.Failure{Kind: status.FailureStopped}
	return events
}

func TestCompletion(t *testing.T) {
	const (
		notReady, throttled = status.NotReady, status.Throttled
		success, failure    = status.Success, status.Error
	)
	for _, test := range []struct {
		name   string
		events []poll.Event
		lo, hi time.Duration
	}{
		{"after a while", attempts(notReady, notReady, success), 1900 * time.Millisecond, 3 * time.Second},
		{"a failure", attempts(notReady, failure), 900 * time.Millisecond, 2 * time.Second},
		{"throttled says nothing", attempts(notReady, throttled, throttled, success), 900 * time.Millisecond, 4 * time.Second},
		{"the first of those a threshold asks for", attempts(notReady, success, success, success), 900 * time.Millisecond, 2 * time.Second},
		{"one that was no end", attempts(success, notReady, success, success), 1900 * time.Millisecond, 3 * time.Second},
		{"a result that is late", lookingFor(attempts(notReady, notReady, throttled, failure, success), 1), 900 * time.Millisecond, 2 * time.Second},
		{"an attempt that was stopped", cutShort(attempts(notReady, notReady, success), 1), 900 * time.Millisecond, 3 * time.Second},
		{"an error that passed", attempts(notReady, failure, success), 900 * time.Millisecond, 3 * time.Second},
	} {
		l := Recorder{}
		for _, ev := range test.events {
			l.Observe(ev)
		}
		r := recordOf(&l, poll.Outcome{Ending: poll.Succeeded})
		if r == nil || r.Lo != test.lo || r.Hi != test.hi {
			t.Errorf("%s: %+v, want between %v and %v", test.name, r, test.lo, test.hi)
		}
		l.age = time.Minute
		switch r := recordOf(&l, poll.Outcome{Ending: poll.Succeeded}); {
		case (r != nil) != (test.lo > 0):
			t.Errorf("%s, a minute old: remembered: %+v; it was seen unfinished: %v", test.name, r, test.lo > 0)
		case r != nil && (r.Lo != time.Minute+test.lo || r.Hi != time.Minute+test.hi):
			t.Errorf("%s, a minute old: between %v and %v", test.name, r.Lo, r.Hi)
		}
	}
	if r := recordOf(new(Recorder), poll.Outcome{Ending: poll.Succeeded, Resumed: true}); r != nil {
		t.Errorf("%+v, of an end that an earlier process has seen", r)
	}
}

func TestRemembered(t *testing.T) {
	code := func(exit int) *status.Observation {
		return new(poll.Recorded(status.Observation{Exit: &exit}))
	}
	start := code(0)
	start.Start = true
	result := &status.Observation{Result: true}
	verdict := func(s status.Status, rule string) status.Verdict { return status.Verdict{Status: s, Rule: rule} }
	for name, test := range map[string]struct {
		outcome poll.Outcome
		want    Outcome
	}{
		"succeeded":          {poll.Outcome{Ending: poll.Succeeded}, Success},
		"a rule says failed": {poll.Outcome{Ending: poll.Failed, Observation: code(1), Verdict: verdict(status.Error, "--error-if .x")}, Failure},
		"probe is wrong":     {poll.Outcome{Ending: poll.Failed, Observation: code(126), Verdict: verdict(status.Error, "")}, ""},
		"result is lost":     {poll.Outcome{Ending: poll.Failed, Observation: result, Verdict: verdict(status.Error, "")}, Success},
		"ended from outside": {poll.Outcome{Ending: poll.Failed, Observation: code(0), Verdict: verdict(status.NotReady, "")}, ""},
		"cannot begin":       {poll.Outcome{Ending: poll.Failed}, ""},
		"cannot run":         {poll.Outcome{Ending: poll.CannotRun, Observation: code(127)}, ""},
		"timed out":          {poll.Outcome{Ending: poll.TimedOut, State: poll.State{Attempts: 3}}, Timeout},
		"nothing was seen":   {poll.Outcome{Ending: poll.TimedOut}, ""},
		"hint too long":      {poll.Outcome{Ending: poll.ThrottledTooLong, State: poll.State{Attempts: 3}}, Timeout},
		"interrupted":        {poll.Outcome{Ending: poll.Interrupted, State: poll.State{Attempts: 3}}, Interrupted},
	} {
		if have := remembered(test.outcome); have != test.want {
			t.Errorf("%s: have %q, want %q", name, have, test.want)
		}
	}
}

func TestInstant(t *testing.T) {
	want := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2026-01-02T03:04:05Z":    want,
		"2026-01-02T03:04:05.25Z": want.Add(250 * time.Millisecond),
		"1767323045.25":           want.Add(250 * time.Millisecond),
		"1767323045250":           want.Add(250 * time.Millisecond),
		"0":                       time.Unix(0, 0),
	} {
		if have, err := instant(text); err != nil || !have.Equal(want) {
			t.Errorf("%s: have %v, %v, want %v", text, have, err, want)
		}
	}
	for _, text := range []string{"-1", "1e99", "1767323045000000000", "2026-01-02", "0x1p30", "", "null", "true", "[1767323045]"} {
		if have, err := instant(text); err == nil {
			t.Errorf("%s: have %v, want an error", text, have)
		}
	}
}

// A look is one attempt at a list. It has the verdict on the list and the verdicts on its elements, numbered
// from 1. The verdict of an element that had no verdict in this attempt is NONE.
type look struct {
	list     status.Status
	elements []status.Status
}

// recordOf returns the record of a run that ended with o, or nil if nothing is remembered.
func recordOf(r *Recorder, o poll.Outcome) *Record {
	r.run = nil
	r.End(context.Background(), o)
	return r.run
}

// endOf returns the record of a list that ended with s. It is the zero Record if nothing is remembered.
func endOf(r *Recorder, s poll.Summary) Record {
	r.Observe(poll.Event{Kind: poll.EventGoal, Summary: &s})
	if r.run == nil {
		return Record{}
	}
	return *r.run
}

// observeLooks returns a Recorder that has observed looks. They ended 1, 2, 3 ... s after the start and took 100
// ms each.
func observeLooks(looks ...look) *Recorder {
	r := &Recorder{isList: true}
	began := time.Unix(0, 0)
	streaks := make(map[int]int)
	before := make(map[int]status.Status)
	for i, l := range looks {
		ev := poll.Event{Kind: poll.EventAttempt, State: poll.State{Began: began, Status: l.list}, At: began.Add(time.Duration(i+1) * time.Second),
			Took: 100 * time.Millisecond, Observation: new(status.Observation)}
		r.Observe(ev)
		for n, s := range l.elements {
			if s == status.None {
				continue
			}
			if before[n] != s {
				streaks[n] = 0
			}
			before[n] = s
			streaks[n]++
			ev.N, ev.State.Status, ev.State.Streak = n+1, s, streaks[n]
			ev.State.Began = ev.At // the element joined at this attempt
			r.Observe(ev)
		}
	}
	return r
}

func TestListCompletion(t *testing.T) {
	const (
		none, notReady, throttled = status.None, status.NotReady, status.Throttled
		success, failure          = status.Success, status.Error
	)
	of := func(list status.Status, elements ...status.Status) look { return look{list, elements} }
	for _, test := range []struct {
		name   string
		looks  []look
		lo, hi time.Duration
	}{
		{"not when the end was confirmed", []look{of(notReady, notReady), of(notReady, success), of(notReady), of(notReady)}, 900 * time.Millisecond, 2 * time.Second},
		{"when the last one ended", []look{of(notReady, notReady, notReady), of(notReady, none, success), of(notReady), of(notReady, success)},
			2900 * time.Millisecond, 4 * time.Second},
		{"one that joined later", []look{of(notReady, success), of(notReady), of(notReady, none, success)}, 1900 * time.Millisecond, 3 * time.Second},
		{"throttled says nothing", []look{of(notReady, notReady), of(throttled), of(throttled), of(notReady, success)}, 900 * time.Millisecond, 4 * time.Second},
		{"one that throttles another", []look{of(notReady, notReady, notReady), of(throttled, throttled, success), of(notReady, success)},
			900 * time.Millisecond, 3 * time.Second},
		{"refused once", []look{of(notReady, notReady), of(failure), of(notReady, success)}, 900 * time.Millisecond, 3 * time.Second},
		{"the first of those a threshold asks for", []look{of(notReady, notReady), of(notReady, success), of(notReady, success)}, 900 * time.Millisecond, 2 * time.Second},
	} {
		run := endOf(observeLooks(test.looks...), poll.Summary{Ending: poll.Succeeded})
		if run.Outcome != Success || run.Lo != test.lo || run.Hi != test.hi {
			t.Errorf("%s: %s between %v and %v, want %v and %v", test.name, run.Outcome, run.Lo, run.Hi, test.lo, test.hi)
		}
	}
}

// An attempt that was stopped has not seen the list.
func TestListCompletion_stopped(t *testing.T) {
	r := observeLooks(look{list: status.NotReady})
	r.Observe(poll.Event{Kind: poll.EventAttempt, State: poll.State{Began: time.Unix(0, 0)}, At: time.Unix(5, 0), Verdict: status.Verdict{Status: status.NotReady},
		Observation: &status.Observation{Failure: &status.Failure{Kind: status.FailureStopped}}})
	if run := endOf(r, poll.Summary{Ending: poll.TimedOut, Attempts: 2}); run.Lo != 900*time.Millisecond {
		t.Errorf("%+v, want one that was unfinished at 900ms", run)
	}
}

func TestListCompletion_outcome(t *testing.T) {
	failed := func(n int, by status.Status) poll.Event {
		o := poll.Outcome{Ending: poll.Failed, Verdict: status.Verdict{Status: by, Rule: "--error-if .x"}, Observation: new(status.Observation)}
		return poll.Event{Kind: poll.EventEnd, N: n, Outcome: &o}
	}
	both := []look{{status.NotReady, []status.Status{status.Error, status.NotReady}}, {status.NotReady, []status.Status{status.None, status.Success}}}
	open := both[:1:1]
	for name, test := range map[string]struct {
		looks  []look
		ends   []poll.Event
		ending poll.Ending
		others map[poll.Ending]int
		want   Outcome // "" if nothing is remembered
		lo, hi time.Duration
	}{
		"succeeded":             {looks: both, ending: poll.Succeeded, want: Success, lo: 900 * time.Millisecond, hi: 2 * time.Second},
		"only confirmed":        {looks: []look{{list: status.NotReady}, {list: status.NotReady}}, ending: poll.Succeeded},
		"one failed":            {looks: both, ends: []poll.Event{failed(1, status.Error)}, ending: poll.Failed, want: Failure, lo: 900 * time.Millisecond, hi: 2 * time.Second},
		"the list is wrong":     {looks: both, ends: []poll.Event{failed(0, status.Error), failed(1, status.Error)}, ending: poll.Failed},
		"ended from outside":    {looks: both, ends: []poll.Event{failed(1, status.NotReady)}, ending: poll.Failed},
		"one failed, one is on": {looks: open, ends: []poll.Event{failed(1, status.Error)}, ending: poll.Failed, others: map[poll.Ending]int{poll.TimedOut: 1}, want: Timeout, lo: 900 * time.Millisecond},
		"interrupted":           {looks: open, ending: poll.Interrupted, want: Interrupted, lo: 900 * time.Millisecond},
		"cannot run":            {ending: poll.CannotRun},
	} {
		r := observeLooks(test.looks...)
		for _, ev := range test.ends {
			r.Observe(ev)
		}
		run := endOf(r, poll.Summary{Ending: test.ending, Attempts: len(test.looks), Endings: test.others})
		if run.Outcome != test.want || run.Lo != test.lo || run.Hi != test.hi {
			t.Errorf("%s: %q between %v and %v, want %q, %v and %v", name, run.Outcome, run.Lo, run.Hi, test.want, test.lo, test.hi)
		}
	}
}

func TestParseCost(t *testing.T) {
	for text, want := range map[string]cost{
		"1%":      {share: 0.01},
		"0.5%":    {share: 0.005},
		"0.0001%": {share: 1e-6},
		"100%":    {share: 1},
		"2s":      {delay: 2 * time.Second},
		"500ms":   {delay: 500 * time.Millisecond},
	} {
		have, err := parseCost(text)
		if err != nil || have != want {
			t.Errorf("parseCost(%q) = %+v, %v, want %+v", text, have, err, want)
		}
	}
	for _, text := range []string{"", "%", "0%", "-1%", "101%", "1e-300%", "0.00009%", "NaN%", "Inf%", "5", "0s", "0", "-2s", "1%%", "one"} {
		if have, err := parseCost(text); err == nil {
			t.Errorf("parseCost(%q) = %+v, want an error", text, have)
		}
	}
}
