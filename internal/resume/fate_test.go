package resume

import (
	"fmt"
	"testing"
	"time"

	"github.com/pollcli/poll/poll"
)

// After a start, a failure ends the wait, and not the operation.
func TestFateOf(t *testing.T) {
	t.Parallel()
	open, ended := poll.State{}, poll.State{Ending: poll.Failed}
	for _, test := range []struct {
		how   poll.Ending
		of    poll.Outcome // of its worst target
		kept  poll.State
		lacks bool // the file lacks an entry
		want  Fate
	}{
		{how: poll.Succeeded, want: Over},
		{how: poll.Succeeded, of: poll.Outcome{Ending: poll.Cancelled, Unfinished: true}, want: Over},
		{how: poll.Succeeded, lacks: true, want: Over},
		{how: poll.Failed, of: poll.Outcome{Ending: poll.Failed}, kept: ended, want: Over},
		{how: poll.Failed, of: poll.Outcome{Ending: poll.Failed}, kept: open, want: Kept},
		{how: poll.Failed, of: poll.Outcome{Ending: poll.Failed, Unfinished: true}, kept: open, want: Warned},
		{how: poll.Failed, of: poll.Outcome{Ending: poll.Cancelled, Unfinished: true}, kept: open, want: Warned},
		{how: poll.Failed, of: poll.Outcome{Ending: poll.Failed, Unfinished: true}, kept: open, lacks: true, want: Kept},
		{how: poll.Failed, of: poll.Outcome{Ending: poll.Failed}, kept: ended, lacks: true, want: Kept},
		{how: poll.CannotRun, of: poll.Outcome{Ending: poll.CannotRun}, kept: open, want: Over},
		{how: poll.CannotRun, of: poll.Outcome{Ending: poll.Cancelled, Unfinished: true}, kept: open, want: Warned},
		{how: poll.TimedOut, want: Kept},
		{how: poll.TimedOut, of: poll.Outcome{Ending: poll.TimedOut, Unfinished: true}, want: Kept},
		{how: poll.HintTooLong, want: Kept},
		{how: poll.AttemptsExhausted, want: Kept},
		{how: poll.Interrupted, of: poll.Outcome{Ending: poll.Interrupted, Unfinished: true}, want: Kept},
	} {
		if have := fateOf(test.how, fateOfTarget(&test.of, test.kept), !test.lacks); have != test.want {
			t.Errorf("%+v: have %d", test, have)
		}
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	const old = abandonedAfter + time.Second
	for _, test := range []struct {
		known
		resumes, isSlice bool
		want             decision
	}{
		{known: known{isEmpty: true}, want: resume},
		{known: known{isEmpty: true, age: old}, resumes: true, isSlice: true, want: resume},
		{known: known{hasSome: true}, want: earlier},
		{known: known{hasSome: true}, resumes: true, want: resume},
		{known: known{hasSome: true, age: old}, resumes: true, want: resume},
		{known: known{}, resumes: true, want: other},
		{known: known{hasSome: true, isOthers: true}, resumes: true, want: other},
		{known: known{hasSome: true}, resumes: true, isSlice: true, want: resume},
		{known: known{hasSome: true, age: old}, resumes: true, isSlice: true, want: abandoned},
		{known: known{hasSome: true, hasEnded: true, age: old}, resumes: true, isSlice: true, want: replace},
		{known: known{hasSome: true, hasEnded: true}, resumes: true, isSlice: true, want: resume},
		{known: known{age: old}, resumes: true, isSlice: true, want: other},
		{known: known{hasSome: true, isOthers: true, age: old}, resumes: true, isSlice: true, want: other},
	} {
		if have := decide(test.known, test.resumes, test.isSlice); have != test.want {
			t.Errorf("%s: have %d", fmt.Sprintf("%+v", test), have)
		}
	}
}
