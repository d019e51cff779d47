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

// A Poller waits for one operation. Only Probe is required. A Poller keeps no state: it can be run several
// times, also concurrently if Rand is nil.
type Poller struct {
	// Probe checks the operation once. The wait continues with its [Report.Next].
	Probe Probe
	// Target names the operation in events and errors. It must not contain a secret. "" means the Name in the Plan
	// of the Probe.
	Target string
	// Elements makes each element of the responses a target of its own. Rules and the thresholds apply to the
	// elements; Timeout and MaxAttempts apply to the list. Elements is for the targets of a [Group]: a single wait
	// with Elements fails. Nil means that the response is about one operation.
	Elements *Elements
	// Rules give each response a verdict. With the zero value HTTP 2xx, exit code 0, a connection, and a
	// [ProbeFunc] without a failure are SUCCESS.
	Rules status.Rules

	// Schedule returns the wait before each attempt. Nil means 100 ms, doubled each time, up to 20 s.
	Schedule backoff.Schedule
	// Resend returns the wait before the start request (see [HTTP]) is sent again, if it was refused because of
	// load or was never sent. The first start request is sent at once. Schedule starts after the first response to
	// a start request. Nil means Schedule and Throttled.
	Resend backoff.Schedule
	// Throttled returns the wait after a THROTTLED response that requests no wait. Nil means [backoff.Throttled] of
	// Schedule.
	Throttled backoff.Schedule
	// RetryAfter names a wait in the document of a response, such as .interval: a number of seconds, a string such
	// as "5s", or a date. The next attempt does not come sooner. If the response also has a Retry-After header, the
	// longer wait counts. A missing value and null request no wait. Any other value that is not a wait is ignored
	// with a note. RetryAfter is not evaluated on a truncated document or on messages. Nil means that documents
	// request no waits.
	RetryAfter *expr.Expr
	// Limiter spaces the requests to each origin. Nil means no limit or, in a [Group], the Limiter of the group.
	Limiter Limiter
	// Rand is the source of all jitter. Nil means a source with a random seed for each run.
	Rand *rand.Rand
	// Immediate is true if only InitialDelay comes before the first attempt, and no wait of the Schedule. A first
	// attempt that starts an operation never waits for the Schedule.
	Immediate bool
	// InitialDelay passes before the first wait. 0 or less means none.
	InitialDelay time.Duration

	// Start is the time when the wait started, if the wait is older than the run: Timeout and every Elapsed
	// count from Start. Zero means the start of the run.
	Start time.Time
	// Timeout limits the whole run. 0 means that only the deadline of the run's context limits the run; otherwise
	// the earlier of the two counts. With a negative Timeout the wait ends with TimedOut before the first attempt.
	Timeout time.Duration
	// AttemptTimeout limits one attempt, with its redirects and pages. The time that requests wait for the
	// Limiter does not count. 0 means no limit except the limit of the run.
	AttemptTimeout time.Duration
	// MaxAttempts limits the number of attempts. 0 means no limit.
	MaxAttempts int
	// SuccessThreshold and ErrorThreshold are the numbers of verdicts, or the times, after which SUCCESS and ERROR
	// end the run. An ERROR that has not reached its threshold is NOT_READY if a later attempt may succeed; otherwise the ERROR
	// ends the run at once.
	SuccessThreshold, ErrorThreshold Threshold

	// Past is the [State] of an earlier run that this run continues; nil or the zero value means a new wait.
	// MaxAttempts counts the attempts of all runs, and every Elapsed counts from the start of the first run. If
	// Start is zero, Timeout counts from there, too. A Past that has Ended ends the run at once: the only event is
	// an EventEnd with [Outcome.Resumed].
	Past *State
	// Starting is called before each request that starts the operation, unless Starting is nil. Its argument is the
	// State from which a later run has to continue if this run ends during the request. If Starting returns an
	// error, the State could not be saved: the request is not sent, and the run has Failed. Starting is called on
	// any goroutine, and for several targets concurrently.
	Starting func(State) error

	// Finalize is called with the outcome of a wait that Succeeded, before its EventEnd, unless Finalize is nil.
	// The returned Outcome replaces the outcome. Finalize may turn a useless result into a failure; the State then
	// stays open for a later run. Finalize may be called from any goroutine, and for several targets concurrently.
	Finalize func(Outcome) Outcome
}

// A Threshold is how often in a row, or for how long, a verdict has to be seen before it ends a wait. With the
// zero value the first verdict ends the wait.
type Threshold struct {
	// Times is the number of consecutive verdicts. 0 means 1. For a [Command] with Stream, the threshold for
	// SUCCESS counts lines in one run of the program. Lines that no rule matches may come between the counted
	// lines, unless a rule for SUCCESS reads a JSON document.
	Times int
	// For is how long the verdict has to hold: from the first attempt with the verdict to the start of the last
	// attempt. 0 means no time. The time restarts if the pause between two runs, or two steps, was more than 2 s
	// longer than the wait of the schedule: nobody observed the operation during the pause.
	For time.Duration
}

// validate returns an error if a limit or a threshold is negative, or if the elements cannot be found.
func (p *Poller) validate() error {
	switch success, failure, e := p.SuccessThreshold, p.ErrorThreshold, p.Elements; {
	case p.AttemptTimeout < 0:
		return errors.New("a negative AttemptTimeout has no meaning")
	case p.MaxAttempts < 0:
		return errors.New("a negative MaxAttempts has no meaning")
	case min(success.Times, failure.Times) < 0, min(success.For, failure.For) < 0:
		return errors.New("a threshold is negative")
	case e == nil:
	case e.Each == nil:
		return errors.New("the elements have no Each")
	case slices.Contains(e.Keys, nil):
		return errors.New("one of the Keys of the elements is nil")
	case e.Known != nil && len(e.Known) == 0:
		return errors.New("the elements to wait for are known, and there are none")
	}
	return nil
}

// Run waits until the operation is done, has failed, or a limit is reached. It returns a nil error on SUCCESS,
// and an [*Error] otherwise. errors.Is(err, poll.TimedOut) tests for an ending.
func (p *Poller) Run(ctx context.Context) (Outcome, error) {
	var outcome Outcome
	for event := range p.Events(ctx) {
		if event.Kind == EventEnd {
			outcome = *event.Outcome
		}
	}
	return outcome, outcome.Err()
}

// Events runs the poller and yields the events: for each attempt EventWait, EventStart and EventAttempt, and at
// the end one EventEnd. With a Limiter it yields an EventOrigin when the origin has requested a pause. If more
// than ten messages of a stream come per second, some messages have no EventMessage. Breaking out of the
// iteration ends the run.
//
// The wait of each attempt starts when the previous attempt ends. If ctx is done during an attempt, the attempt
// is stopped. The run exceeds its deadline only by the time that the probe needs to stop.
func (p *Poller) Events(ctx context.Context) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		p.loop(ctx, yield).driveOne(*p)
	}
}

// loop returns the loop of a single wait, which is a group of one.
func (p *Poller) loop(ctx context.Context, yield func(Event) bool) *loop {
	l := newLoop(ctx, Group{Rand: p.Rand}, yield)
	l.single = true
	return l
}

// Step makes the next attempt of a wait. It returns the State after the attempt, for the next Step, and the
// events that [Poller.Events] would yield, except EventOrigin. Step does not wait between attempts: the caller
// does, for example a workflow engine.
//
// The last event shows the next action. After an EventWait, the next Step is due when the Wait of the event is
// over. An earlier Step makes no attempt and returns only that EventWait. After an EventEnd the wait has ended
// with the Outcome of the event. If the State has not Ended, for example after a timeout or if ctx was canceled,
// a further Step continues the wait.
//
// The deadline of ctx limits only this Step, not the wait. It limits the attempt like AttemptTimeout; a tenth of
// the time, at most 5 s, is reserved for saving the State.
//
// past is the zero State for the first Step. A request that starts an operation is sent only once under two
// conditions: [Poller.Starting] saves its State before it returns, and if a Step did not return, the next Step
// gets the State that was saved last.
func (p *Poller) Step(ctx context.Context, past State) (State, []Event) {
	going := *p
	going.Past = &past
	var events []Event
	l := going.loop(ctx, func(e Event) bool {
		if e.Kind != EventOrigin { // the wait of the next Step includes it
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

// maxKeeping is the longest time of a [Poller.Step] that is reserved for saving the State.
const maxKeeping = 5 * time.Second
