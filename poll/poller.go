package poll

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A Poller waits for one operation. Only Probe is required. A Poller keeps no
// state: it can be run several times, also at once if Rand is nil.
type Poller struct {
	// Probe checks the operation once. The wait continues with its [Report.Next].
	Probe Probe
	// Target names the operation in events and errors. It should hold no secret. "" means
	// the Name in the Plan of the Probe.
	Target string
	// Elements makes every element of the answers a target of its own, to which Rules
	// and the thresholds apply; Timeout and MaxAttempts are those of the list. It is for the
	// targets of a [Group]; a single wait with Elements fails. Nil means that the answer is about
	// one operation.
	Elements *Elements
	// Rules say what an answer means. The zero value takes HTTP 2xx, exit code 0, a
	// connection, and a [ProbeFunc] without a failure as SUCCESS.
	Rules status.Rules

	// Schedule gives the wait before each attempt. Nil means 100 ms, doubled each
	// time, up to 20 s.
	Schedule backoff.Schedule
	// Resend gives the wait before the request that starts the operation (see [HTTP]) is sent
	// again, if it was refused for load or never left. The first try comes at once, and
	// Schedule begins when one is answered. Nil means Schedule and Throttled.
	Resend backoff.Schedule
	// Throttled gives the wait after a THROTTLED answer that names none. Nil means
	// [backoff.Throttled] of Schedule.
	Throttled backoff.Schedule
	// RetryAfter names a wait in the document of a response, such as .interval: a number of seconds, a
	// text such as "5s", or a date. The next attempt does not come sooner, as after a header Retry-After;
	// the longer wait counts. A missing value and null are no wait. A value that is not a wait is ignored
	// with a note. It is not evaluated on a document that was cut, or on messages. Nil names none.
	RetryAfter *expr.Expr
	// Limiter spaces the requests to each place; nil means no limit, or in a [Group] that of the
	// group.
	Limiter Limiter
	// Rand is the source of all jitter. Nil means one seeded at random for each run.
	Rand *rand.Rand
	// Immediate makes the first attempt at once, not after a wait. The attempt that
	// starts an operation always comes at once.
	Immediate bool
	// InitialDelay passes before the first wait. 0 or less means none.
	InitialDelay time.Duration

	// Start is when the wait began, if that was before the run: Timeout and every Elapsed
	// count from it. Zero means the beginning of the run.
	Start time.Time
	// Timeout limits the whole run. 0 means no limit but the deadline of the run's
	// context; the earlier of the two counts. A wait with a negative Timeout has TimedOut before
	// the first attempt.
	Timeout time.Duration
	// AttemptTimeout limits one attempt, with its redirects and pages. The time in which requests wait for the Limiter
	// does not count. 0 means no limit but the run's.
	AttemptTimeout time.Duration
	// MaxAttempts limits the number of attempts. 0 means no limit.
	MaxAttempts int
	// SuccessThreshold and ErrorThreshold are how much of SUCCESS or ERROR ends the run. Short of it, an
	// ERROR that may heal is NOT_READY. One that no further attempt can change ends the run at once.
	SuccessThreshold, ErrorThreshold Threshold

	// Past is the [State] of an earlier run that this one goes on from; nil or the zero value
	// is none. MaxAttempts counts the attempts of all runs, and every Elapsed is since the
	// first began; so is Timeout where Start is zero. A Past that has Ended ends the run at
	// once: its one event is an EventEnd, with [Outcome.Resumed].
	Past *State
	// Starting, unless it is nil, is given the State that a later run has to go on from if
	// this one ends here, before each request that starts the operation is sent. An error
	// means that this could not be kept: the request is not sent and the run has Failed. It
	// is called on any goroutine, for several targets at once.
	Starting func(State) error

	// Finalize, unless it is nil, is called with the outcome of a wait that Succeeded, before its
	// EventEnd. What it returns takes its place: a failure if the result is of no use, which
	// leaves the State open. It is called on any goroutine, for several targets at once.
	Finalize func(Outcome) Outcome
}

// A Threshold says how often in a row, or for how long, a verdict has to be seen before it
// ends a wait. With the zero value the first one ends it.
type Threshold struct {
	// Times is the number of consecutive verdicts. 0 means 1. Of the lines of a [Command] with Stream
	// it is the number of lines in one run of the program that are SUCCESS: lines that no rule matches
	// may come between them, unless a rule for SUCCESS reads a JSON document.
	Times int
	// For is how long the verdict has to hold, from the first attempt that sees it to the
	// beginning of the last one. 0 means no time. The time begins anew if the pause between two
	// runs, or two steps, was more than 2 s longer than the schedule's wait: what the verdict was
	// in between is not known.
	For time.Duration
}

// Run waits until the operation is done, has failed, or a limit is reached. The error is
// nil on SUCCESS and an [*Error] otherwise; errors.Is(err, poll.TimedOut) tests for an
// ending.
func (p *Poller) Run(ctx context.Context) (Outcome, error) {
	var outcome Outcome
	for event := range p.Events(ctx) {
		if event.Kind == EventEnd {
			outcome = *event.Outcome
		}
	}
	return outcome, outcome.Err()
}

// Events runs the poller and yields what happens: EventWait, EventStart and
// EventAttempt for each attempt, and one EventEnd, which is the last; with a Limiter, an
// EventPlace when the place has asked for a wait. Of the messages of a stream those that come faster than ten a
// second have no EventMessage each. Breaking out of the iteration ends the run.
//
// Each wait comes before its attempt and begins when the previous attempt ends. An
// attempt that is under way when ctx is done is stopped; the run never outlasts its
// deadline by more than the probe needs to stop.
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

// Step makes the next attempt of a wait and returns the state after it, for the next Step,
// and what happened: the events that [Poller.Events] would yield, without EventPlace. It does not
// wait: whatever drives the wait does that, such as a workflow engine.
//
// The last event says what comes next. After an EventWait, the next Step is due when its
// Wait is over; one that comes sooner makes no attempt and has only that EventWait. After an
// EventEnd the wait has ended as its Outcome says. If the State has not Ended then, as after
// a time-out or when ctx was canceled, a further Step goes on.
//
// The deadline of ctx is that of this Step, not of the wait: it limits the attempt like
// AttemptTimeout, and a tenth of the time, at most 5 s, is left to keep the State.
//
// The first Step is given the zero State. A request that starts an operation is sent once,
// if the State that [Poller.Starting] is given is kept before Starting returns, and the last
// one kept is used where a Step did not return.
func (p *Poller) Step(ctx context.Context, past State) (State, []Event) {
	going := *p
	going.Past = &past
	var events []Event
	l := going.loop(ctx, func(e Event) bool {
		if e.Kind != EventPlace { // the next Step's wait says it
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

// maxKeeping is the most that is left of the time of a [Poller.Step] to keep the State.
const maxKeeping = 5 * time.Second

// Get requests url by the default schedule of a [Poller] until the answer meets a condition, an
// expression of package status/expr such as `.state == "done"`, and returns that answer. The
// first request comes after 100 ms. Without a deadline in ctx, Get waits for as long as it takes;
// an answer such as 404 ends it. The error is an [*Error], or says what is wrong with the
// condition, or that the response was cut; the last response comes with it, if there was one.
func Get(ctx context.Context, url, condition string) ([]byte, error) {
	outcome, err := untilMet(ctx, HTTP{URL: url}, condition)
	if err != nil {
		return nil, err
	}
	return outcome.body()
}

// untilMet waits until the response to a request meets a condition. The error is about the condition.
func untilMet(ctx context.Context, probe HTTP, condition string) (outcome Outcome, err error) {
	p := Poller{Probe: probe}
	if p.Rules, err = status.Until(condition); err == nil {
		outcome, _ = p.Run(ctx) // its error is that of the outcome
	}
	return outcome, err
}

// body returns the last response. The error is that of the outcome, or about a response that is not known as a whole.
func (o Outcome) body() (body []byte, err error) {
	if o.Observation != nil {
		body = o.Observation.Body
	}
	switch err = o.Err(); {
	case err != nil:
	case o.Observation == nil:
		err = errEarlierRun
	case o.Observation.Truncated:
		err = fmt.Errorf("the response has more than the %d bytes that are kept", len(body))
	}
	return body, err
}

// GetJSON returns the response of [Get], decoded by [Decode].
func GetJSON[T any](ctx context.Context, url, condition string) (value T, err error) {
	return decodeMet[T](ctx, HTTP{URL: url}, condition)
}

// Start sends body as JSON to url, by POST, and follows the operation that this starts, see [HTTP.Follow]. It
// returns the response that meets a condition, decoded by [Decode]. The request is sent once. Errors are those
// of [Get].
func Start[T any](ctx context.Context, url string, body any, condition string) (value T, err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return value, fmt.Errorf("encode the body of the start request: %w", err)
	}
	return decodeMet[T](ctx, HTTP{URL: url, Body: text, Header: http.Header{"Content-Type": {"application/json"}}}, condition)
}

// decodeMet waits until the response to a request meets a condition, and decodes the response.
func decodeMet[T any](ctx context.Context, probe HTTP, condition string) (value T, err error) {
	outcome, err := untilMet(ctx, probe, condition)
	if err != nil {
		return value, err
	}
	return Decode[T](outcome)
}

// Decode decodes the JSON document of the response that ended a wait: the body of an HTTP response, the output
// of a command, or an element of a list. A byte order mark is left out. Decode returns the error of a wait that
// did not succeed, and an error for a response that was cut or that an earlier run received.
func Decode[T any](o Outcome) (value T, err error) {
	body, err := o.body()
	if err == nil {
		err = json.Unmarshal(expr.NewDoc(body).Bytes(), &value)
	}
	if err != nil && o.Ending == Succeeded {
		err = fmt.Errorf("the response of %s: %w", o.Target, err)
	}
	return value, err
}

// Until calls f until f reports that it is done, and returns the value of that call. It
// waits before each call, including the first, by the default schedule of a [Poller], and
// gives up when ctx is done. [UntilWith] sets other limits and schedules.
//
// An error of f means that the operation is not ready. A [Permanent] error ends the wait,
// and a [Throttled] one makes it slower. The error of Until is an [*Error] that wraps the
// last error of f; the value is then the last one f returned.
func Until[T any](ctx context.Context, f func(ctx context.Context) (value T, done bool, err error)) (T, error) {
	return UntilWith(ctx, Poller{}, f)
}

// UntilWith is like [Until] with the schedule and the limits of p, whose Probe and
// Rules it does not use. If p.Past has Succeeded, f is not called, and there is an error.
func UntilWith[T any](
	ctx context.Context, p Poller, f func(ctx context.Context) (value T, done bool, err error),
) (T, error) {
	var value T
	p.Rules = status.Rules{}
	p.Probe = ProbeFunc(func(ctx context.Context, _ Attempt) status.Observation {
		var done bool
		var err error
		value, done, err = f(ctx)
		if err == nil && !done {
			err = errNotDone
		}
		return Observe(ctx, nil, err)
	})
	outcome, err := p.Run(ctx)
	if err == nil && outcome.Resumed {
		err = errEarlierRun
	}
	return value, err
}

var (
	errNotDone    = errors.New("not done yet")
	errEarlierRun = errors.New("the wait succeeded in an earlier run, whose value is not known")
)
