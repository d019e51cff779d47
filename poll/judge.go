package poll

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"hash/crc32"
	"maps"
	"time"

	"github.com/pollcli/poll/poll/internal/coach"
	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/poll/internal/ratelimit"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A judgement is an attempt that has ended, with its verdict.
type judgement struct {
	observation *status.Observation
	verdict     status.Verdict
	begun       time.Time // when the attempt started or, for a response from a cache, the earliest time when it was made
	took        time.Duration
	isOutdated  bool // see wait.outdated
	isHeld      bool // poll ended the stream, since its verdict has held long enough
}

// freshFor is the time for which an operation may not be visible after its start: a 404 is NOT_READY then.
const freshFor = 10 * time.Second

// answered evaluates the observation of an attempt, and updates the State.
func (w *wait) answered(o status.Observation, took time.Duration) {
	if w.unsent {
		w.last = &judgement{observation: &o}
		return
	}
	o = meaning.Recorded(o)
	if h, ok := o.Protocol.(meaning.HTTP); ok {
		h.Fresh = w.Began.IsZero() || time.Since(w.Began)-took < freshFor
		o.Protocol = h
	}
	w.readHint(&o, time.Now())
	w.annotate(&o, time.Now(), took)
	if w.stream.decided { // by the last message
		w.last.took = took
	} else {
		ctx, cancel := w.context(w.p.AttemptTimeout)
		w.judge(ctx, &o, took)
		cancel()
	}
	w.Last = time.Now()
	if w.isRefused() {
		w.Refusals++
	}
	w.heard(took)
	w.Starting = w.Starting && w.isStartLost()
	if w.Began.IsZero() {
		// The attempt was to start the operation. After the response the schedule restarts.
		w.Sent++
		if !w.planned.Once {
			w.Began, w.Previous, w.Refusals = w.Last, 0, 0
			w.Evidence = w.evidence()
		}
	}
}

// readHint sets the hint of o to the wait that RetryAfter names in its document, if this wait is longer than the
// wait of the header.
func (w *wait) readHint(o *status.Observation, now time.Time) {
	x := w.p.RetryAfter
	if x == nil || o.Failure != nil || o.Truncated || o.Ended { // the document is not whole
		return
	}
	w.ignored = "" // the note is about the last response
	v := x.Eval(status.Environment(o)).Value()
	if v.Type == "null" || !v.Exists() && !failsOnValue(x, o) {
		return
	}
	wait, ok := ratelimit.Parse(v.Text(), now)
	if !ok {
		w.ignored = x.String() + " is not a wait of at most a year, and was ignored"
	} else if wait > 0 && (o.Hint == nil || o.Hint.Wait < wait) {
		o.Hint = &status.Hint{Wait: wait, Source: x.String()}
	}
}

// failsOnValue reports whether x could not be evaluated because of a member of the document, as .ms / 1000 if
// .ms is a string. A program in jq also fails on a missing member, but it fails on an empty object for the same
// reason.
func failsOnValue(x *expr.Expr, o *status.Observation) bool {
	env := status.Environment(o)
	r := x.Eval(env)
	env.Doc = expr.NewDoc([]byte("{}"))
	isUnknown := r.Value().Type != "missing" && !r.Missing() && !r.Abandoned()
	var members map[string]json.RawMessage
	return isUnknown && r.Value().Reason != x.Eval(env).Value().Reason && json.Unmarshal(o.Body, &members) == nil
}

// isStartLost reports whether the last attempt may have started the operation without a response.
func (w *wait) isStartLost() bool {
	o := w.last.observation
	isLost := o.Failure != nil && o.Failure.Kind == status.FailureMayHaveStarted
	return isLost || o.Stopped() && o.Next == "" && !w.planned.Once
}

// annotate adds the facts of the run to an observation: the number of the attempt, the elapsed time, the target,
// and how long the response has been unchanged. now is when the response was complete, and took the duration of
// the attempt.
func (w *wait) annotate(o *status.Observation, now time.Time, took time.Duration) {
	o.Attempt, o.Elapsed, o.Target, o.Matched = w.Attempts, now.Sub(w.Start)-took, w.p.Target, w.Matched
	o.Accept = w.p.Rules.Accept
	w.noteChange(o, now)
}

// judge evaluates an observation, and records the verdict. took is the duration of the attempt, 0 for a message.
func (w *wait) judge(ctx context.Context, o *status.Observation, took time.Duration) {
	j := &judgement{observation: o, begun: time.Now().Add(-took), took: took}
	if isAged(o) {
		j.begun = j.begun.Add(-meaning.Of(o).Age - time.Second) // the Age counts whole seconds
	}
	v, outdated := &j.verdict, w.outdated(o, j.begun)
	j.isOutdated, j.isHeld = outdated != "", o.Failure != nil && o.Failure.Err == errConfirm
	switch {
	case o.Stopped():
		*v = status.Verdict{Status: status.NotReady, Reason: o.Failure.Reason}
	case j.isOutdated:
		*v = status.Verdict{Status: status.NotReady, Reason: outdated}
	case w.classify != nil:
		*v = w.classify(ctx, j)
	default:
		*v = w.verdict(ctx, *o)
	}
	if o.Ended && v.Status == status.NotReady && w.complete.observation != nil && w.complete.observation.Message {
		v.Reason += "; last: " + w.complete.verdict.Reason
	}
	if o.Stopped() || v.Abandoned {
		if took > w.median() && w.stream.messages == 0 { // the reserved time was too short, and a later run needs more
			w.Took = [len(w.Took)]time.Duration{took}
		}
		w.record(j)
		return
	}
	if v.Status == status.NotReady && v.Rule != "" {
		w.noteMatch(v.Rule, o.Good())
	}
	w.stream.isUncounted = o.Message && !w.stream.isShown && !v.Status.Ends()
	if !w.stream.isUncounted {
		w.count(j)
	}
	w.record(j)
	if w.stream.messages > 0 { // a further attempt needs only the time to its first message
		took = w.stream.firstAfter
	}
	// A refusal takes less time than a whole response, and so does a failed connection or a failure of one page.
	isPart := took < w.median() && (v.Status == status.Throttled || o.Failure != nil || w.p.Elements != nil && !o.Good())
	if !isPart && (o.Failure == nil || !errors.Is(o.Failure.Err, ErrAttemptTimeout)) {
		w.Took[w.Attempts%len(w.Took)] = max(took, 1) // 0 is an unused entry
	}
}

// verdict evaluates the rules.
func (w *wait) verdict(ctx context.Context, o status.Observation) status.Verdict {
	v := w.p.Rules.Classify(ctx, o)
	v.Concludes = meaning.Concludes(&o, v)
	return v
}

// count adds j to the coach, and sets the hints about j. It takes several times as long as the verdict. So, if
// messages come fast, only the last message is counted, and the messages that may end the wait.
func (w *wait) count(j *judgement) {
	w.stream.isUncounted = false
	w.coach.Add(j.observation, &j.verdict)
	if hints := w.coach.FirstHints(); j.verdict.Status != status.Success {
		j.verdict.Hints = hints
	}
}

// noteMatch records that a rule for NOT_READY matched a response, which was successful or not.
func (w *wait) noteMatch(rule string, isGood bool) {
	if wasGood, isKnown := w.Matched[rule]; isKnown && (wasGood || !isGood) {
		return
	}
	matched := map[string]bool{} // a new map, since copies of the state share the old one
	maps.Copy(matched, w.Matched)
	matched[rule] = isGood
	w.Matched = matched
}

// record makes j the last attempt.
func (w *wait) record(j *judgement) {
	v := &j.verdict
	if j.observation.Ended && v.Status == status.Success && w.stream.countsSeen && w.p.SuccessThreshold.Times > 1 {
		v.Status, v.Rule = status.NotReady, ""
		v.Reason += "; the threshold counts lines, and the end of the command is not a line"
	}
	isBetween := w.isBetween(j)
	w.last, w.State = j, conclude(w.State, j, isBetween, time.Now())
	if isCut(j) || isStreamEnd(j) && w.complete.observation != nil {
		return
	}
	w.complete = j
	w.wasPending = w.wasPending || !isBetween && j.observation.Failure == nil && w.Status != status.Success
}

// noteChange sets how long the responses have been equal, and reports whether this response differs from the
// previous response. A truncated response counts as different, since the missing part may differ.
func (w *wait) noteChange(o *status.Observation, now time.Time) (changed bool) {
	if o.Failure == nil {
		sum := crc32.ChecksumIEEE(o.Body) // its table is the fastest to build
		for _, page := range o.Pages {
			sum = crc32.Update(sum, crc32.IEEETable, page)
		}
		if changed = sum != w.Sum || w.Changed.IsZero() || o.Truncated; changed {
			w.Sum, w.Changed = sum, now
		}
	}
	if !w.Changed.IsZero() {
		o.Unchanged = now.Sub(w.Changed).Truncate(time.Millisecond)
	}
	return changed
}

// forResult returns a wait for the result if the last attempt was SUCCESS and the result is in another document;
// otherwise nil. The new wait continues the State. The rules are about the operation, so any successful response
// is the result, and the verdict on the operation stays. The first request for the result belongs to the last
// attempt.
func (w *wait) forResult() *wait {
	if w.result == nil || w.done != nil || w.Status != status.Success || !w.decided() {
		return nil
	}
	second := *w
	second.done = w.last
	second.use(w.result)
	second.p.Rules, second.p.SuccessThreshold = status.Rules{Accept: w.p.Rules.Accept}, Threshold{Times: 1}
	second.classify, second.coach, second.Streak = second.classifyResult, new(coach.Coach), 0
	second.complete = &judgement{observation: w.complete.observation, took: w.complete.took,
		verdict: status.Verdict{Status: status.NotReady, Reason: second.unfetched()}}
	return &second
}

// classifyResult returns the verdict on the operation if the response is successful, and otherwise the verdict
// on the response with a reason that the result is missing.
func (w *wait) classifyResult(ctx context.Context, result *judgement) status.Verdict {
	v := w.p.Rules.Classify(ctx, *result.observation)
	if v.Status == status.Success {
		return w.done.verdict
	}
	v.Reason = w.unfetched() + ": " + v.Reason
	return v
}

// unfetched returns the reason for a result that could not be fetched.
func (w *wait) unfetched() string {
	return "done, but its result could not be fetched: get " + w.planned.Name
}

const (
	// eventEvery is the least time between two EventMessages, except for a first burst: messages may use up
	// eventBurst in advance.
	eventEvery = 100 * time.Millisecond
	eventBurst = 2 * time.Second
)

// tell evaluates a message, and reports whether the attempt has to end with this message.
func (w *wait) tell(ctx context.Context, o status.Observation) (enough bool) {
	if w.classify != nil || w.stream.decided { // a list has no messages, and no message counts after the deciding one
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
	w.judge(ctx, &o, 0)
	if w.stream.decided = w.decided(); w.stream.decided {
		if last := w.last.observation; w.Status == status.Success && last.Body == nil && last.Stderr != nil { // the line is the result
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
	return !w.run.news(w.event(EventMessage, time.Now()))
}
