package learning

import (
	"time"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// A listCompletion is what the looks at a list have seen of the end of its last element.
// It is found backwards: when an element has ended that nothing was told of before, it had
// not at the look before that one. Times are ages of the list.
type listCompletion struct {
	before, last time.Duration // when the last looks began that tell of the elements; 0 for none
	looked       time.Duration // when the last look ended
	failed       poll.Outcome  // of the last element that did
	broken       bool          // the list could not be waited for
}

// see records an event of the list, or of an element. A look that was THROTTLED, or that no
// element could be judged by, tells nothing.
func (l *listCompletion) see(ev poll.Event, end *completion) {
	switch {
	case ev.Kind == poll.EventAttempt && ev.N == 0:
		l.before, l.looked = l.last, ev.Age()
		if ev.Verdict.Status == status.NotReady && !ev.Observation.Stopped() {
			l.last = max(0, ev.Age()-ev.Took)
		}
	case ev.Kind == poll.EventAttempt && ev.Verdict.Status.Ends() && ev.State.Streak == 1:
		end.last, end.unfinished, end.finished = ev.Verdict.Status, l.before, l.looked
	case ev.Kind == poll.EventEnd && ev.Outcome.Ending == poll.Failed:
		l.failed = *ev.Outcome
		l.broken = l.broken || ev.N == 0 || ev.Outcome.Verdict.Status != status.Error
	}
}

// outcome returns that of a list, false if its end was not seen. If an element has failed and
// another was given up, it is not known how long all of them would have taken.
func (l *listCompletion) outcome(s poll.Summary, end *completion) (poll.Outcome, bool) {
	o := poll.Outcome{Ending: s.Ending, State: poll.State{Attempts: s.Attempts}}
	if o.Ending == poll.Failed {
		o.Verdict, o.Observation = l.failed.Verdict, l.failed.Observation
		if s.Endings[poll.TimedOut]+s.Endings[poll.AttemptsExhausted]+s.Endings[poll.HintTooLong] > 0 {
			o.Ending = poll.TimedOut
		}
	}
	if o.Ending == poll.Succeeded || o.Ending == poll.Failed {
		return o, !l.broken && end.last != status.None
	}
	end.unfinished = l.last
	return o, true
}
