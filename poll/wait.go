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

// A wait is one target, or the lead of a list: the operation and the state of waiting for the operation. Its methods do not
// depend on other targets, origins or goroutines. During an attempt only the goroutine of the attempt may use the wait; at
// other times, the goroutine that has locked the loop.
type wait struct {
	standing
	n          int // the number in a group, 0 outside a group
	run        *run
	limiter    Limiter       // nil without a limiter
	probe      Probe         // of the next attempt
	planned    Plan          // of probe
	result     Probe         // the probe for the result after SUCCESS, nil if the response has the result
	done       *conclusion   // about the operation, in a wait for its result; otherwise nil
	budget     time.Duration // the time from Start to the deadline
	list       *list         // the list if this wait is its lead; otherwise nil
	element    *element      // the target in a list, nil outside a list
	lead       *wait         // the lead of the list of the element, nil outside a list
	wasPending bool          // a response was not a SUCCESS yet
	coach      *coach.Coach
	// classify evaluates a response in place of the Rules: for a list, or for a result. Nil means the Rules.
	classify           func(context.Context, *conclusion) status.Verdict
	complete           *conclusion // the last attempt that ended by itself
	final              *Outcome    // the result of Finalize for a SUCCESS that ends the wait; nil before Finalize
	stream             streamAttempt
	hopeless           error  // why no attempt can succeed
	unsent             bool   // the start request was not sent, for the reason in hopeless
	ignored            string // a note about a RetryAfter value that is not a wait
	closedPastDeadline string // why the origin is closed past the deadline, for people

	order  int     // among the waits of the loop
	origin *origin // of the next attempt
	own    line    // if the wait has a limiter of its own
	isBusy bool    // the wait is in the gate, or makes an attempt
	over   bool    // all targets have ended
}

// newWait returns the wait of p in a run, with the defaults of p set and its Past restored.
func newWait(r *run, p Poller) *wait {
	if p.Schedule == nil {
		p.Schedule = backoff.Cap(nil, backoff.DefaultMaxWait)
	}
	if p.Throttled == nil {
		p.Throttled = backoff.Throttled(p.Schedule)
	}
	p.SuccessThreshold.Times, p.ErrorThreshold.Times = cmp.Or(p.SuccessThreshold.Times, 1), cmp.Or(p.ErrorThreshold.Times, 1)
	if p.Rand == nil { // a source of its own, since the order of attempts is not the order of targets
		p.Rand = rand.New(rand.NewPCG(r.Rand.Uint64(), r.Rand.Uint64()))
	}
	none := &conclusion{}
	w := &wait{standing: standing{p: p, last: none}, run: r, limiter: cmp.Or(p.Limiter, r.Limiter), complete: none, coach: new(coach.Coach)}
	if p.Probe != nil { // an element has no probe
		w.use(p.Probe)
		w.p.Target = cmp.Or(p.Target, w.planned.Name)
	}
	if p.Past != nil {
		w.resumeFrom(*p.Past, time.Now())
	}
	if w.p.Start.IsZero() {
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

// maxUnobserved limits the pause between two runs: if the pause is longer than the planned wait by more than
// maxUnobserved, a verdict does not count as having held during the pause.
const maxUnobserved = 2 * time.Second

// resumeFrom restores the State of an earlier run. If the clock of that run was ahead, the waits do not become
// longer than planned.
func (w *wait) resumeFrom(past State, now time.Time) {
	w.State = past
	if w.Ended() {
		w.Reason = cmp.Or(w.Reason, "it had "+string(w.Ending)+" before")
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
	if w.Hint != nil && now.Sub(w.Last) >= w.Hint.Wait {
		w.Hint = nil
	}
	longest := w.Previous
	if w.Hint != nil {
		longest = max(longest, w.Hint.Wait+w.Hint.Wait/10)
	}
	if latest := now.Add(words.Sum(w.p.InitialDelay, longest)); w.Due.After(latest) {
		w.Due, w.Reserved = latest, false // the limiter decides again
	}
	w.last = &conclusion{verdict: status.Verdict{Status: w.Status, Reason: w.Reason}}
}

var (
	errMayHaveStarted = errors.New("the operation may have started: the request that starts it was sent, and its answer is not known")
	errNoPosition     = errors.New("the operation has been started, and this probe cannot go on with it")
	errNoProbe        = errors.New("there is no probe")
)

// open prepares the first attempt. It returns the ending if no attempt can succeed, and otherwise "".
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

// prepare restores the position of an earlier run. It returns the reason why no attempt can succeed, or nil.
func (w *wait) prepare() error {
	switch {
	case w.run.invalid != nil:
		return w.run.invalid
	case w.p.Elements != nil && w.list == nil:
		return errors.New("only a group waits for the elements of an answer")
	}
	if err := cmp.Or(w.p.validate(), w.p.Rules.Validate()); err != nil {
		return err
	}
	if w.probe == nil {
		return errNoProbe
	}
	if err := cmp.Or(w.checkStream(), w.planned.Invalid); err != nil {
		return err
	}
	if resume := w.planned.Resume; resume != nil && len(w.Position) > 0 {
		p, err := resume(w.Position)
		if err != nil {
			return fmt.Errorf("go on with the wait: %w", err)
		}
		w.use(p)
	}
	if !w.Began.IsZero() && w.planned.Once {
		return errNoPosition
	}
	if w.Began.IsZero() && !w.planned.Once {
		w.Began = w.Start
	}
	return nil
}

// checkStream reports why a stream cannot be waited for.
func (w *wait) checkStream() error {
	switch rules := w.p.Rules; {
	case !w.planned.streams:
	case w.p.Elements != nil:
		return errors.New("the messages of a stream are no lists of elements")
	case !rules.HasSuccess():
		return errors.New("a stream needs a rule for SUCCESS, or its first message would be one")
	}
	return nil
}
