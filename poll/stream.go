package poll

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/status"
)

// A streamAttempt describes the current attempt. Most fields matter only for a stream, whose messages are
// evaluated as they arrive.
type streamAttempt struct {
	begun       time.Time
	messages    int           // messages received so far
	firstAfter  time.Duration // time from begun to the first message
	decided     bool          // the last message ended the wait
	pending     bool          // the last verdict is SUCCESS or ERROR, but has not reached its threshold
	countsSeen  bool          // the threshold for SUCCESS counts lines; see wait.countsSeen
	isShown     bool          // the last message gets an event, unless it ends the attempt
	isUncounted bool          // the coach, which collects hints, has not seen the last message
	hold        *time.Timer   // ends the attempt once the verdict has lasted for its threshold's For; nil without such a threshold
	nextEvent   time.Time     // earliest time of the next EventMessage when messages arrive quickly
}

// errConfirm ends an attempt once the verdict on its stream has lasted as long as the threshold requires. The
// next attempt opens a new stream, which has to confirm the verdict.
var errConfirm = errors.New("the verdict has held for long enough, and a new stream has to confirm it")

// listen resets the stream record for a new attempt. It returns the context of the attempt, and a function that
// releases the context. If a threshold has a For, a stream ends early once its verdict has lasted that long.
// The stream of a start request is the exception: the request is sent only once, so no further attempt could
// confirm the verdict.
func (w *wait) listen(ctx context.Context) (attempt context.Context, stop func()) {
	w.stream = streamAttempt{begun: time.Now(), pending: w.stream.pending, nextEvent: w.stream.nextEvent}
	if w.stream.countsSeen = w.countsSeen(); w.stream.countsSeen {
		w.Streak = 0 // the program may print the same lines again in the next attempt
	}
	if w.planned.Once || w.p.SuccessThreshold.For <= 0 && w.p.ErrorThreshold.For <= 0 {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	w.stream.hold = time.AfterFunc(math.MaxInt64, func() { cancel(errConfirm) })
	return ctx, func() {
		w.stream.hold.Stop()
		cancel(nil)
	}
}

// countsSeen reports whether the threshold for SUCCESS counts lines of a command's output, so that lines that
// no rule matches do not interrupt the count. It does if the threshold has no For, and if no rule for SUCCESS
// reads a JSON document.
func (w *wait) countsSeen() bool {
	readsDocument := func(r status.Rule) bool { return r.Status == status.Success && r.Expr.Reads(".", "isjson") }
	return w.planned.lines && w.p.SuccessThreshold.For <= 0 && !slices.ContainsFunc(slices.Concat(w.p.Rules.Own, w.p.Rules.Preset.All()), readsDocument)
}

const (
	// eventEvery is the minimum average time between two EventMessages. After a quiet period, events may come
	// faster, up to eventBurst ahead of this average.
	eventEvery = 100 * time.Millisecond
	eventBurst = 2 * time.Second
)

// evaluateMessage evaluates the message o, and emits an EventMessage unless messages arrive too quickly. It
// returns true if the attempt has to end: the message decides the wait, or the consumer has ended the
// iteration.
func (w *wait) evaluateMessage(ctx context.Context, o status.Observation) (enough bool) {
	if w.classify != nil || w.stream.decided { // lists and results are not streams; messages after the deciding one are ignored
		return w.stream.decided
	}
	now := time.Now()
	if w.stream.messages++; w.stream.messages == 1 {
		w.stream.firstAfter = now.Sub(w.stream.begun)
	}
	w.Messages, w.Heard = w.Messages+1, now
	o = meaning.Recorded(o)
	o.Message = true
	w.annotate(&o, now, 0)
	w.stream.isShown = w.stream.nextEvent.Sub(now) <= eventBurst
	w.evaluate(ctx, &o, 0)
	if w.stream.decided = w.decided(); w.stream.decided {
		if last := w.last.observation; w.Status == status.Success && last.Body == nil && last.Stderr != nil { // the line on standard error is the result
			last.Body, last.Truncated = append(bytes.Clone(last.Stderr), '\n'), last.StderrCut
			last.Size = int64(len(last.Body))
		}
		return true
	}
	w.stream.pending = w.Status.Ends()
	if w.stream.hold != nil {
		w.stream.hold.Stop()
		if hold := w.toHold(now); hold > 0 {
			w.stream.hold.Reset(hold)
		}
	}
	if !w.stream.isShown {
		return false
	}
	w.stream.nextEvent = now.Add(max(0, w.stream.nextEvent.Sub(now)) + eventEvery)
	return !w.run.emitMessage(w.event(EventMessage, time.Now()))
}

// count passes c to the coach, and adds the coach's first hints to the verdict. This takes several times as
// long as the verdict itself. When messages arrive quickly, it is therefore called only for the last message
// and for messages that may end the wait.
func (w *wait) count(c *conclusion) {
	w.stream.isUncounted = false
	w.coach.Add(c.observation, &c.verdict)
	if hints := w.coach.FirstHints(); c.verdict.Status != status.Success {
		c.verdict.Hints = hints
	}
}
