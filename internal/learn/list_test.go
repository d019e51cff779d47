package learn

import (
	"testing"
	"time"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// A look is one attempt at a list. It has the verdict on the list and the verdicts on its elements, numbered
// from 1. The verdict of an element that had no verdict in this attempt is NONE.
type look struct {
	list     status.Status
	elements []status.Status
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
	r := &Recorder{IsList: true}
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
	t.Parallel()
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
	t.Parallel()
	r := observeLooks(look{list: status.NotReady})
	r.Observe(poll.Event{Kind: poll.EventAttempt, State: poll.State{Began: time.Unix(0, 0)}, At: time.Unix(5, 0), Verdict: status.Verdict{Status: status.NotReady},
		Observation: &status.Observation{Failure: &status.Failure{Kind: status.FailureStopped}}})
	if run := endOf(r, poll.Summary{Ending: poll.TimedOut, Attempts: 2}); run.Lo != 900*time.Millisecond {
		t.Errorf("%+v, want one that was unfinished at 900ms", run)
	}
}

func TestListCompletion_outcome(t *testing.T) {
	t.Parallel()
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
