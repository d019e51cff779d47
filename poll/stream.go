package poll

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/pollcli/poll/status"
)

// A streamAttempt is what a wait knows of the attempt that is under way, and of its messages.
type streamAttempt struct {
	begun       time.Time
	messages    int           // so far
	firstAfter  time.Duration // how long the first of them took
	decided     bool          // by the last of them
	pending     bool          // the verdict on the last ends the wait once it has come again
	countsSeen  bool          // lines that match are counted, whatever is between them
	isShown     bool          // the last message has an event
	isUncounted bool          // the last message is not counted by the coach
	hold        *time.Timer   // ends the attempt once its verdict has held, nil if none has to hold
	nextEvent   time.Time     // when a message has an EventMessage next, if they come fast
}

// errConfirm ends an attempt whose stream has said for long enough what has to hold: a new one shows whether
// it still does.
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

// listen begins an attempt, and returns its context. If the attempt is the only one, of a request that is
// sent once, no other one begins the stream anew.
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

// countsSeen reports whether the threshold for SUCCESS is a count of lines, of which rules read the text.
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

// ended notes how an attempt has ended that no message has decided.
func (w *wait) ended(ctx context.Context, o *status.Observation) {
	f := o.Failure
	if f != nil && context.Cause(ctx) == errConfirm {
		o.Failure = &status.Failure{Reason: errConfirm.Error(), Err: errConfirm}
	}
	o.Ended = o.Ended || w.stream.messages > 0 && o.Failure != nil && o.Failure.Kind == status.FailureTransient
}

// heard begins the schedule anew after a stream that had messages, and was no shorter than the wait before
// it: a server that ends each at once is asked less and less often.
func (w *wait) heard(took time.Duration) {
	if w.stream.messages > 0 && took > w.Previous {
		w.Anew, w.Previous = w.Attempts, 0
	}
}
