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

// A streamAttempt describes the messages of the current attempt. Its fields matter only for a stream.
type streamAttempt struct {
	messages  int         // messages received so far
	uncounted *conclusion // conclusion of the last message, if the coach has not seen that message; otherwise nil
	hold      *time.Timer // ends the attempt once the verdict has lasted for its threshold's For; nil without such a threshold
	nextEvent time.Time   // earliest time of the next EventMessage when messages arrive quickly
}

// errConfirm ends an attempt once the verdict on its stream has lasted as long as the threshold requires. The
// next attempt opens a new stream, which has to confirm the verdict.
var errConfirm = errors.New("the verdict has held for long enough, and a new stream has to confirm it")

// listen resets the stream record for a new attempt. It returns the context of the attempt, and a function that
// releases the context. If a threshold has a For, a stream ends early once its verdict has lasted that long.
// The stream of a start request is the exception: the request is sent only once, so no further attempt could
// confirm the verdict.
func (w *wait) listen(ctx context.Context) (attempt context.Context, stop func()) {
	w.stream = streamAttempt{nextEvent: w.stream.nextEvent}
	if w.countsLines {
		w.Streak = 0 // the program may print the same lines again in the next attempt
	}
	if w.planned.Once || w.success.For <= 0 && w.p.ErrorThreshold.For <= 0 {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	w.stream.hold = time.AfterFunc(math.MaxInt64, func() { cancel(errConfirm) })
	return ctx, func() {
		w.stream.hold.Stop()
		cancel(nil)
	}
}

// readsDocument reports whether a rule for SUCCESS reads a JSON document.
func readsDocument(rules *status.Rules) bool {
	return slices.ContainsFunc(slices.Concat(rules.Own, rules.Preset.All()), func(r status.Rule) bool {
		return r.Status == status.Success && r.Expr.Reads(".", "isjson")
	})
}

const (
	// eventEvery is the minimum average time between two EventMessages. After a quiet period, about
	// eventBurst/eventEvery events may follow each other without a pause.
	eventEvery = 100 * time.Millisecond
	eventBurst = 2 * time.Second
)

// evaluateMessage evaluates the message o, and emits an EventMessage unless messages arrive too quickly. took
// is the time from the start of the attempt to the arrival of the message. evaluateMessage returns true if the
// attempt has to end: the message decides the wait, or the consumer has ended the iteration.
func (w *wait) evaluateMessage(ctx context.Context, o status.Observation, took time.Duration) (enough bool) {
	if w.classify != nil || w.isDecidedByMessage() { // lists and results are not streams; messages after the deciding message are ignored
		return w.operation != nil || w.isDecidedByMessage()
	}
	now := time.Now()
	w.stream.messages++
	w.Messages, w.Heard = w.Messages+1, now
	o = meaning.Recorded(o)
	o.Message = true
	w.annotate(&o, now, 0)
	if w.evaluate(ctx, &o, 0); w.stream.messages == 1 { // only the time to the first message matters for planning
		w.measure(took, w.last)
	}
	isShown := w.stream.nextEvent.Sub(now) <= eventBurst
	switch {
	case isInterrupted(w.last):
	case isShown, w.last.verdict.Status.Ends():
		w.count(w.last)
	default:
		w.stream.uncounted = w.last
	}
	if w.decided() {
		if w.Status == status.Success && o.Body == nil && o.Stderr != nil { // the line on standard error is the result
			o.Body, o.Truncated = append(bytes.Clone(o.Stderr), '\n'), o.StderrCut
			o.Size = int64(len(o.Body))
		}
		return true
	}
	if w.stream.hold != nil {
		w.stream.hold.Stop()
		if hold := w.timeToHold(now); hold > 0 {
			w.stream.hold.Reset(hold)
		}
	}
	if !isShown {
		return false
	}
	w.stream.nextEvent = now.Add(max(0, w.stream.nextEvent.Sub(now)) + eventEvery)
	return !w.run.emitMessage(w.event(EventMessage, time.Now()))
}
