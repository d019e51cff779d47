package poll

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll/internal/coach"
	"github.com/pollcli/poll/status"
)

// A wait is the state of waiting for one target, or for all elements of a list. Its methods do not depend on
// other targets, on origins or on goroutines. During an attempt, only the goroutine of the attempt may use the
// wait; at other times, only a goroutine that has locked the loop.
type wait struct {
	State
	phase
	n                  int // number of the target in a group; 0 outside a group
	run                *run
	p                  Poller        // the settings, with defaults filled in
	limiter            Limiter       // limiter for the requests; may be nil
	deadline           time.Time     // zero means no deadline
	budget             time.Duration // time from Start to the deadline
	others             time.Duration // estimated time for one last attempt of every other wait
	last               *conclusion   // the last attempt, or the last message of a stream
	result             Probe         // fetches the result after SUCCESS; nil if the response contains the result
	list               *list         // the list whose attempts this wait makes; nil if this is not the wait of a list
	element            *element      // the list element that this wait waits for; nil if this is not the wait of an element
	parent             *wait         // the wait that makes the attempts for the element's list; nil outside a list
	final              *Outcome      // the Outcome that Finalize returned; nil before Finalize was called
	stream             streamAttempt
	hopeless           error  // why no attempt can succeed, or nil
	closedPastDeadline string // human-readable reason why the origin accepts no request before the deadline; "" if the origin may accept one

	index   int     // index in loop.waits
	origin  *origin // origin of the next attempt
	ownLine line    // used instead of the origin's line if the Poller has its own Limiter

	wasPending bool // at least one response was not SUCCESS
	unsent     bool // the start request was not sent because Starting failed; hopeless holds the error
	isBusy     bool // the wait is in the gate or makes an attempt
	hasEnded   bool // all targets have ended
}

// A phase holds the probe of a wait and the means to evaluate its responses. A wait has a second phase if the result
// of the operation is in another document; see toResult.
type phase struct {
	probe   Probe // makes the next attempt
	planned Plan  // plan of probe
	rules   *status.Rules
	success *Threshold // threshold for SUCCESS
	// countsLines is true if the threshold for SUCCESS counts lines of a command's output. Lines that no rule
	// matches then do not interrupt the count.
	countsLines bool
	coach       *coach.Coach // collects hints about the rules
	complete    *conclusion  // conclusion of the last attempt that was not interrupted
	operation   *conclusion  // in the second phase, the conclusion about the operation; otherwise nil
	// classify returns the verdict on a response. Nil means that the rules determine the verdict, as for all waits
	// except lists and results.
	classify func(context.Context, *conclusion) status.Verdict
}

// newWait returns the wait for p in the run r. It fills in the defaults of p, and continues from p.Past if it
// is set.
func newWait(r *run, p Poller) *wait {
	if p.Schedule == nil {
		p.Schedule = backoff.Cap(nil, backoff.DefaultMaxWait)
	}
	if p.Throttled == nil {
		p.Throttled = backoff.Throttled(p.Schedule)
	}
	p.SuccessThreshold.Times, p.ErrorThreshold.Times = cmp.Or(p.SuccessThreshold.Times, 1), cmp.Or(p.ErrorThreshold.Times, 1)
	if p.Rand == nil { // a separate source, because attempts are not made in the order of the targets
		p.Rand = rand.New(rand.NewPCG(r.Rand.Uint64(), r.Rand.Uint64()))
	}
	w := &wait{p: p, run: r, limiter: cmp.Or(p.Limiter, r.Limiter), last: new(conclusion)}
	w.phase = phase{rules: &w.p.Rules, success: &w.p.SuccessThreshold, complete: w.last, coach: new(coach.Coach)}
	if p.Probe != nil { // an element of a list has no probe
		w.setProbe(p.Probe)
		w.p.Target = cmp.Or(p.Target, w.planned.Name)
	}
	if p.Past != nil {
		w.resumeFrom(*p.Past, time.Now())
	}
	if w.p.Start.IsZero() || w.p.Start.After(time.Now()) {
		w.p.Start = earliest(r.Start, w.Start)
	}
	if w.Start.IsZero() {
		w.Start = w.p.Start
	}
	if w.deadline = r.deadline; p.Timeout != 0 {
		w.deadline = earliest(w.deadline, w.p.Start.Add(p.Timeout))
	}
	w.budget = w.deadline.Sub(w.p.Start)
	return w
}

// maxUnobserved is the longest time by which the pause between two runs may exceed the planned wait. If the
// pause is longer, the threshold's For starts again, because nobody observed the operation during the pause.
const maxUnobserved = 2 * time.Second

// resumeFrom restores past, the State of an earlier run. now is the current time. Times in the future are set
// to now, because the clock of the earlier run may have been ahead, and waits must not become longer than
// planned.
func (w *wait) resumeFrom(past State, now time.Time) {
	w.State = past
	if w.Ended() {
		w.Reason = cmp.Or(w.Reason, "the wait had "+string(w.Ending)+" before")
	}
	times := []*time.Time{&w.Start, &w.Began, &w.Last, &w.Heard, &w.Since, &w.Changed, &w.Listed}
	if w.Evidence != nil {
		w.Evidence = new(*w.Evidence)
		times = append(times, &w.Evidence.At)
	}
	for _, t := range times {
		if t.After(now) {
			*t = now
		}
	}
	seen := w.Last
	if w.Heard.After(seen) {
		seen = w.Heard
	}
	if !seen.IsZero() && now.Sub(seen) > max(w.Previous, w.Due.Sub(seen))+maxUnobserved { // nobody observed the operation during the pause
		w.Since = time.Time{}
	}
	w.Attempts = min(max(w.Attempts, 0), mostCounted)
	w.Sent = min(w.Sent, w.Attempts)
	if w.RetryAfter != nil && now.Sub(w.Last) >= w.RetryAfter.Wait {
		w.RetryAfter = nil
	}
	longest := w.Previous
	if w.RetryAfter != nil {
		longest = max(longest, words.Sum(w.RetryAfter.Wait, w.RetryAfter.Wait/10))
	}
	if latest := now.Add(words.Sum(w.p.InitialDelay, longest)); w.Due.After(latest) {
		w.Due, w.Reserved = latest, false // the time has changed, so the limiter has to be consulted again
	}
	w.last = &conclusion{verdict: status.Verdict{Status: w.Status, Reason: w.Reason}}
}

// errMayHaveStarted ends a wait that resumes after a start request without a known outcome. errNoPosition ends
// a wait whose probe cannot continue an operation that was started. errNoProbe is the error of a Poller without
// a Probe.
var (
	errMayHaveStarted = errors.New("the operation may have started: the start request was sent, and its response is not known")
	errNoPosition     = errors.New("the operation has started, and this probe cannot continue it")
	errNoProbe        = errors.New("there is no probe")
)

// open prepares the first attempt. It returns CannotRun or Failed if no attempt can succeed, and "" otherwise.
func (w *wait) open() Ending {
	w.hopeless = w.prepare()
	f, ok := errors.AsType[*status.Failure](w.hopeless)
	switch {
	case ok:
		w.last.observation = &status.Observation{Kind: status.KindCommand, Failure: f}
		return CannotRun
	case w.hopeless != nil:
		return Failed
	}
	return ""
}

// prepare checks the settings, and restores the position of an earlier run. It returns the reason if no attempt
// can succeed, and nil otherwise.
func (w *wait) prepare() error {
	f, isFunc := w.probe.(ProbeFunc)
	switch err := cmp.Or(w.run.invalid, w.p.validate(), w.p.Rules.Validate()); {
	case w.p.Elements != nil && w.list == nil:
		return errors.New("only a group waits for the elements of a response")
	case err != nil:
		return err
	case w.probe == nil, isFunc && f == nil:
		return errNoProbe
	case w.planned.streams && w.p.Elements != nil:
		return errors.New("the messages of a stream are not lists of elements")
	case w.planned.streams && !w.rules.HasSuccess():
		return errors.New("a stream needs a rule for SUCCESS, or its first message would be one")
	case w.planned.Invalid != nil:
		return w.planned.Invalid
	}
	if resume := w.planned.Resume; resume != nil && len(w.Position) > 0 {
		p, err := resume(w.Position)
		if err != nil {
			return fmt.Errorf("continue the wait: %w", err)
		}
		w.setProbe(p)
	}
	if !w.Began.IsZero() && w.planned.Once {
		return errNoPosition
	}
	if w.Began.IsZero() && !w.planned.Once {
		w.Began = w.Start
	}
	return nil
}
