package poll

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/pollcli/poll/status"
)

// A streamAttempt is the record of the current attempt and its messages.
type streamAttempt struct {
	begun       time.Time
	messages    int           // so far
	firstAfter  time.Duration // the time to the first message
	decided     bool          // by the last message
	pending     bool          // the last verdict ends the wait if it comes often or long enough
	countsSeen  bool          // the threshold counts matching lines, also with other lines between them
	isShown     bool          // the last message has an event
	isUncounted bool          // the last message is not counted by the coach
	hold        *time.Timer   // ends the attempt once its verdict has held; nil if no verdict has to hold
	nextEvent   time.Time     // when the next EventMessage may come, if messages come fast
}

// errConfirm ends an attempt whose stream has held its verdict long enough. A new stream then shows whether the
// verdict still holds.
var errConfirm = errors.New("it has held for long enough, and a new stream has to say so, too")

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

// listen starts the record of an attempt, and returns its context. isOnly is true for a request that is sent
// once: no other attempt can confirm the verdict, so the stream is not ended early.
func (w *wait) listen(ctx context.Context, isOnly bool) (attempt context.Context, stop func()) {
	w.stream = streamAttempt{begun: time.Now(), pending: w.stream.pending, nextEvent: w.stream.nextEvent}
	if w.stream.countsSeen = w.countsSeen(); w.stream.countsSeen {
		w.Streak = 0 // a program that is run again may print the same lines
	}
	if isOnly || w.p.SuccessThreshold.For <= 0 && w.p.ErrorThreshold.For <= 0 {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	w.stream.hold = time.AfterFunc(math.MaxInt64, func() { cancel(errConfirm) })
	return ctx, func() {
		w.stream.hold.Stop()
		cancel(nil)
	}
}

// countsSeen reports whether the threshold for SUCCESS counts lines: the rules for SUCCESS do not read a
// document.
func (w *wait) countsSeen() bool {
	readsDocument := func(r status.Rule) bool { return r.Status == status.Success && r.Expr.Reads(".", "isjson") }
	return w.planned.lines && w.p.SuccessThreshold.For <= 0 && !slices.ContainsFunc(slices.Concat(w.p.Rules.Own, w.p.Rules.Preset.All()), readsDocument)
}

// isBetween reports whether a message is a line that no rule matches after a line that is SUCCESS, or a response
// is outdated after a response that is SUCCESS or ERROR: neither ends the count.
func (w *wait) isBetween(j *judgement) bool {
	isLine := w.stream.countsSeen && j.observation.Message && j.verdict.Rule == ""
	return j.verdict.Status == status.NotReady && (isLine && w.isToConfirm() || j.isOutdated && w.isUnconfirmed())
}

// ended adjusts the observation of an attempt that ended without a deciding message.
func (w *wait) ended(ctx context.Context, o *status.Observation) {
	f := o.Failure
	if f != nil && context.Cause(ctx) == errConfirm {
		o.Failure = &status.Failure{Reason: errConfirm.Error(), Err: errConfirm}
	}
	o.Ended = o.Ended || w.stream.messages > 0 && o.Failure != nil && o.Failure.Kind == status.FailureTransient
}

// heard restarts the schedule after a stream that had messages and took longer than the last wait. Shorter
// streams do not restart it, so that a server that ends each stream at once gets fewer and fewer requests.
func (w *wait) heard(took time.Duration) {
	if w.stream.messages > 0 && took > w.Previous {
		w.Anew, w.Previous = w.Attempts, 0
	}
}
