package learn

import (
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
	t.Parallel()
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
		r := l.record(t.Context(), poll.Outcome{Ending: poll.Succeeded})
		if r == nil || r.Lo != test.lo || r.Hi != test.hi {
			t.Errorf("%s: %+v, want between %v and %v", test.name, r, test.lo, test.hi)
		}
		l.Age = time.Minute
		switch r := l.record(t.Context(), poll.Outcome{Ending: poll.Succeeded}); {
		case (r != nil) != (test.lo > 0):
			t.Errorf("%s, a minute old: remembered: %+v; it was seen unfinished: %v", test.name, r, test.lo > 0)
		case r != nil && (r.Lo != time.Minute+test.lo || r.Hi != time.Minute+test.hi):
			t.Errorf("%s, a minute old: between %v and %v", test.name, r.Lo, r.Hi)
		}
	}
	if r := new(Recorder).record(t.Context(), poll.Outcome{Ending: poll.Succeeded, Resumed: true}); r != nil {
		t.Errorf("%+v, of an end that an earlier process has seen", r)
	}
}

func TestRemembered(t *testing.T) {
	t.Parallel()
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
		"hint too long":      {poll.Outcome{Ending: poll.HintTooLong, State: poll.State{Attempts: 3}}, Timeout},
		"interrupted":        {poll.Outcome{Ending: poll.Interrupted, State: poll.State{Attempts: 3}}, Interrupted},
	} {
		if have := remembered(test.outcome); have != test.want {
			t.Errorf("%s: have %q, want %q", name, have, test.want)
		}
	}
}

func TestInstant(t *testing.T) {
	t.Parallel()
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
