package poll

import (
	"context"
	"errors"
	"time"

	"github.com/pollcli/poll/status"
)

// What a wait knows of the attempt that is under way, and of the messages that it has told.
type listening struct {
	begun   time.Time
	told    int           // how many messages
	first   time.Duration // until the first of them
	enough  bool          // the last of them has decided
	pending bool          // its verdict ends the wait once it has come again
	quick   bool          // what no rule decides is NOT_READY
	confirm *time.Timer   // ends the attempt once its verdict would have held, nil if none has to hold
	unshown *judged       // the last message of the attempt of which nobody was told, nil for none
	nextOn  time.Time     // by when the next event of a message would be due, if they came evenly
}

// errConfirm ends an attempt whose stream has said for long enough what has to hold: a new one shows whether
// it still does.
var errConfirm = errors.New("it has held for long enough, and a new stream has to say so, too")

// streams reports whether the probe judges each message of an answer.
func (w *wait) streams() bool {
	s, ok := as[interface{ streams() bool }](w.probe)
	return ok && s.streams()
}

// checkStream reports why a stream cannot be waited for.
func (w *wait) checkStream() error {
	switch rules := w.p.Rules; {
	case !w.streams():
	case w.p.Elements != nil:
		return errors.New("the messages of a stream are no lists of elements")
	case !rules.HasSuccess():
		return errors.New("a stream needs a rule for SUCCESS, or its first message would be one")
	}
	return nil
}

// listen begins an attempt. It returns its context. No other attempt begins the stream anew if it is the only
// one, of a request that is sent once.
func (w *wait) listen(ctx context.Context, isOnly bool) (listening context.Context, stop func()) {
	w.begun, w.told, w.enough, w.unshown, w.confirm = time.Now(), 0, false, nil, nil
	w.quick = w.p.Rules.HasSuccess() && !w.p.Rules.Strict
	if isOnly || w.p.SuccessThreshold.For <= 0 && w.p.ErrorThreshold.For <= 0 {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	w.confirm = time.AfterFunc(never, func() { cancel(errConfirm) })
	return ctx, func() {
		w.confirm.Stop()
		cancel(nil)
	}
}

// ended notes that the attempt has ended whose messages have not decided, or that a stream has which had
// none.
func (w *wait) ended(ctx context.Context, o *status.Observation) {
	f := o.Failure
	if f != nil && context.Cause(ctx) == errConfirm {
		o.Failure = &status.Failure{Reason: errConfirm.Error(), Err: errConfirm}
	}
	o.Ended = o.Ended || w.told > 0 && o.Failure != nil && o.Failure.Kind == status.FailureTransient
}

// heard begins the schedule anew after a stream that had messages, and was no shorter than the wait before
// it: a server that ends each at once is asked less and less often.
func (w *wait) heard(took time.Duration) {
	if w.told > 0 && took > w.Previous {
		w.Anew, w.Previous = w.Attempts, 0
	}
}
