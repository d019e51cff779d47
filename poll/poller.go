package poll

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A Poller waits for one operation. Only the field Probe is required. A Poller is not changed by its runs: it
// can be run several times, and concurrently if Rand is nil.
type Poller struct {
	// Probe checks the operation once. If the [Report] of an attempt names a Next probe, that probe makes the
	// next attempt.
	Probe Probe
	// Target is the name of the operation in events and errors. It must not contain a secret. "" means the Name
	// in the Plan of Probe.
	Target string
	// Elements, if not nil, makes each element of the responses a target of its own. Rules and the thresholds
	// then apply to each element, while Timeout and MaxAttempts apply to the list as a whole. Only a [Group]
	// supports Elements: the methods of Poller end with Failed if Elements is set. Nil means that each response
	// is about one operation.
	Elements *Elements
	// Rules determine the verdict on each response. With the zero value, each of these means SUCCESS: HTTP
	// status 2xx, exit code 0, an established connection, and a [ProbeFunc] observation without a failure.
	Rules status.Rules

	// Schedule determines the wait before each attempt. Nil means 100 ms before the first attempt, doubled each
	// time, up to 20 s.
	Schedule backoff.Schedule
	// Resend determines the wait before the start request (see [HTTP]) is sent again, after it was rejected
	// because of load or could not be sent. The first start request is sent at once, and Schedule applies after
	// the first response to a start request. Nil means that Schedule and Throttled apply. Set Resend if Schedule
	// plans for the duration of the operation, as the schedules of package learn do.
	Resend backoff.Schedule
	// Throttled determines the wait after a THROTTLED response that does not request a particular wait. Nil
	// means [backoff.Throttled] of Schedule.
	Throttled backoff.Schedule
	// RetryAfter is an expression that finds the requested wait in the document of a response, for example
	// .interval. Its value must be a number of seconds, a string such as "5s", or a date. The next attempt is
	// made no earlier than the end of the requested wait. If the response also has a Retry-After header, the
	// longer wait applies. A missing or null value requests no wait. Any other value that is not a wait is
	// ignored, and a note reports it. RetryAfter is not evaluated on truncated documents, or on the messages of
	// a stream. Nil means that documents request no waits.
	RetryAfter *expr.Expr
	// Limiter spaces out the requests to each origin. Nil means the group's Limiter in a [Group], and no limit
	// otherwise.
	Limiter Limiter
	// Rand is the source of randomness for all waits. Nil means a randomly seeded source for each run.
	Rand *rand.Rand
	// Immediate is true if the first attempt does not wait for Schedule, but only for InitialDelay. A first
	// attempt that starts an operation never waits for Schedule.
	Immediate bool
	// InitialDelay is added to the wait before the first attempt. If it is 0 or negative, nothing is added.
	InitialDelay time.Duration

	// Start is the time from which Timeout and every Elapsed count, for a wait that started before the run.
	// Zero, or a time in the future, means the start of the run.
	Start time.Time
	// Timeout limits the whole wait. The earlier of its end and the deadline of the context ends the run. 0
	// means that only the context limits the run. If Timeout is negative, the wait ends with TimedOut before
	// the first attempt.
	Timeout time.Duration
	// AttemptTimeout limits one attempt, including its redirects and pages, but without the time that its
	// requests wait for the Limiter. 0 means no limit.
	AttemptTimeout time.Duration
	// MaxAttempts limits the number of attempts. 0 means no limit.
	MaxAttempts int
	// SuccessThreshold and ErrorThreshold require several consecutive verdicts, or a verdict that lasts for
	// some time, before SUCCESS or ERROR ends the wait. An ERROR that has not reached its threshold is reported
	// as NOT_READY. An ERROR that no further attempt can change ends the wait regardless of ErrorThreshold.
	SuccessThreshold, ErrorThreshold Threshold

	// Past is the [State] of an earlier run that this run continues. Nil, or a zero State, means a new wait.
	// MaxAttempts then limits the attempts of all runs together, and every Elapsed counts from the start of the
	// first run. Timeout counts from there, too, if the field Start is zero. If the wait has already ended
	// according to Past, the run ends at once: the only event is an EventEnd with [Outcome.Resumed] set.
	Past *State
	// Starting, if not nil, is called before each request that starts the operation, so that its argument can
	// be saved. If this run ends during the request, a later run must continue from the saved State. If
	// Starting returns an error, the State could not be saved: the request is not sent, and the run ends with
	// Failed. Starting may be called on any goroutine, and concurrently for several targets. Since a later run
	// can make another attempt, the last attempt of this run does not confirm a list; see [Elements].
	Starting func(State) error

	// Finalize, if not nil, is called with the outcome of a wait that Succeeded, before its EventEnd. The
	// outcome that it returns replaces the original. For example, Finalize can turn a useless result into a
	// failure; the State is then saved as not ended, so that a later run can continue. Finalize may be called
	// on any goroutine, and concurrently for several targets.
	Finalize func(Outcome) Outcome
}

// A Threshold is how many times in a row, and for how long, a verdict must be returned before it ends a wait.
// The zero value means that one verdict is enough.
type Threshold struct {
	// Times is the required number of consecutive verdicts; 0 means 1. For a [Command] with Stream, the
	// threshold for SUCCESS counts lines within one run of the program. Lines that no rule matches do not
	// interrupt the count, unless a rule for SUCCESS reads a JSON document.
	Times int
	// For is how long the verdict must last, from the first attempt with the verdict to the start of the last
	// attempt. 0 means no minimum. If the pause between two runs, or between two steps, exceeds the scheduled
	// wait by more than 2 s, the time starts again, because nobody observed the operation during the pause.
	For time.Duration
}

// validate returns an error if a limit or a threshold is negative, or if Elements is invalid.
func (p *Poller) validate() error {
	switch success, failure, e := p.SuccessThreshold, p.ErrorThreshold, p.Elements; {
	case p.AttemptTimeout < 0:
		return errors.New("a negative AttemptTimeout has no meaning")
	case p.MaxAttempts < 0:
		return errors.New("a negative MaxAttempts has no meaning")
	case min(success.Times, failure.Times) < 0, min(success.For, failure.For) < 0:
		return errors.New("a threshold is negative")
	case e == nil:
	case e.Each == nil, e.Each.String() == "":
		return errors.New("the elements have no Each")
	case slices.Contains(e.Keys, nil):
		return errors.New("one of the Keys of the elements is nil")
	case e.Known != nil && len(e.Known) == 0:
		return errors.New("the elements have an empty Known")
	}
	return nil
}

// Run waits until the operation is done, has failed, or a limit is reached. The error is nil if the wait
// Succeeded, and an [*Error] otherwise. To distinguish the endings, use errors.Is, for example errors.Is(err,
// poll.TimedOut).
func (p *Poller) Run(ctx context.Context) (Outcome, error) {
	var outcome Outcome
	for event := range p.Events(ctx) {
		if event.Kind == EventEnd {
			outcome = *event.Outcome
		}
	}
	return outcome, outcome.Err()
}

// Events runs p and yields its events. For each attempt these are an EventWait, an EventStart and an
// EventAttempt; the last event of the run is an EventEnd. If a Limiter is set, Events also yields an
// EventOrigin when the origin requested a pause. The messages of a stream are EventMessages; if more than
// ten arrive per second, some are left out. If the caller breaks out of the loop, the run ends.
//
// The wait before an attempt starts when the previous attempt has ended. If ctx is done during an attempt, the
// attempt is stopped. A run exceeds its deadline only by the time that the probe takes to stop.
func (p *Poller) Events(ctx context.Context) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		p.loop(ctx, yield).driveOne(*p)
	}
}

// loop returns the loop of a single wait, which is run like a group with one target.
func (p *Poller) loop(ctx context.Context, yield func(Event) bool) *loop {
	l := newLoop(ctx, Group{Rand: p.Rand}, yield)
	l.single = true
	return l
}

// Step makes the next attempt of a wait, and returns without waiting for further attempts. It is meant for a
// caller that does the waiting itself, such as a workflow engine. Step returns the State to pass to the next
// Step, and the events that [Poller.Events] would yield, except EventOrigin. For the first Step of a wait, past
// is the zero State.
//
// The last event determines what to do next. After an EventWait, call Step again when the Wait of the event is
// over; a Step before that time makes no attempt, and returns only that EventWait. After an EventEnd, the wait
// has ended with the Outcome of the event. If State.Ended returns false, for example after a timeout or when
// ctx was canceled, another Step can continue the wait.
//
// The deadline of ctx limits this Step, but not the whole wait. It limits the attempt like AttemptTimeout,
// except that a tenth of the time, at most 5 s, is reserved for the caller to save the State.
//
// To ensure that a start request is sent only once, [Poller.Starting] must save its argument before it returns.
// After a Step that did not return, for example because of a crash, the next Step must receive the State that
// was saved last.
func (p *Poller) Step(ctx context.Context, past State) (State, []Event) {
	going := *p
	going.Past = &past
	var events []Event
	l := going.loop(ctx, func(e Event) bool {
		if e.Kind != EventOrigin { // left out, since the next Step's EventWait includes the pause
			events = append(events, e)
		}
		return true
	})
	l.stepping = true
	if deadline, ok := ctx.Deadline(); ok {
		l.stepEnd = deadline.Add(-min(time.Until(deadline)/10, maxKeeping))
	}
	l.driveOne(going)
	return events[len(events)-1].State, events
}

// maxKeeping is the maximum time reserved for the caller of [Poller.Step] to save the State.
const maxKeeping = 5 * time.Second
