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
	"github.com/pollcli/poll/poll/internal/hint"
	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// judgement is an attempt that has ended.
type judgement struct {
	observation *status.Observation
	verdict     status.Verdict
	begun       time.Time // of the look, or, for a response of a cache, when it was made at the earliest
	took        time.Duration
	isOutdated  bool // see wait.outdated
	isHeld      bool // the stream was ended, since its verdict has held long enough
}

// freshFor is how long after its start an operation may not be visible yet: a 404 is not believed.
const freshFor = 10 * time.Second

// answered judges what an attempt saw.
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
	if w.stream.decided { // which the last message was
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
		// It was to start the operation. Once that is answered, the schedule begins anew.
		w.Sent++
		if !w.planned.Once {
			w.Began, w.Previous, w.Refusals = w.Last, 0, 0
			w.Evidence = w.evidence()
		}
	}
}

// readHint takes over the wait that the document of a response names, if that is longer than the wait of its header.
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
	wait, ok := hint.Parse(v.Text(), now)
	if !ok {
		w.ignored = x.String() + " is not a wait of at most a year, and was ignored"
	} else if wait > 0 && (o.Hint == nil || o.Hint.Wait < wait) {
		o.Hint = &status.Hint{Wait: wait, Source: x.String()}
	}
}

// failsOnValue reports whether an expression could not be evaluated on a member of an object, such as
// .ms / 1000 on a text. jq fails on a missing member, too: then it fails on an empty object for the same reason.
func failsOnValue(x *expr.Expr, o *status.Observation) bool {
	env := status.Environment(o)
	r := x.Eval(env)
	env.Doc = expr.NewDoc([]byte("{}"))
	isUnknown := r.Value().Type != "missing" && !r.Missing() && !r.Abandoned()
	var members map[string]json.RawMessage
	return isUnknown && r.Value().Reason != x.Eval(env).Value().Reason && json.Unmarshal(o.Body, &members) == nil
}

// isStartLost reports whether the last attempt leaves open whether it started the operation.
func (w *wait) isStartLost() bool {
	o := w.last.observation
	isLost := o.Failure != nil && o.Failure.Kind == status.FailureMayHaveStarted
	return isLost || o.Stopped() && o.Next == "" && !w.planned.Once
}

// annotate says in an observation that was complete at now what the run knows of it.
func (w *wait) annotate(o *status.Observation, now time.Time, took time.Duration) {
	o.Attempt, o.Elapsed, o.Target, o.Matched = w.Attempts, now.Sub(w.Start)-took, w.p.Target, w.Matched
	o.Accept = w.p.Rules.Accept
	w.noteChange(o, now)
}

// judge gives an observation its verdict.
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
		if took > w.median() && w.stream.messages == 0 && !w.planned.streams { // too little time was kept, and a later run needs more
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
	if w.stream.messages > 0 { // as long as that takes, and no longer, a look may be needed
		took = w.stream.firstAfter
	}
	// A refusal, and a failure of one page, take less time than a whole response.
	isPart := took < w.median() && (v.Status == status.Throttled || w.p.Elements != nil && !o.Good())
	if !isPart && (o.Failure == nil || !errors.Is(o.Failure.Err, ErrAttemptTimeout)) {
		w.Took[w.Attempts%len(w.Took)] = max(took, 1) // 0 is none
	}
}

// verdict evaluates the rules.
func (w *wait) verdict(ctx context.Context, o status.Observation) status.Verdict {
	v := w.p.Rules.Classify(ctx, o)
	v.Concludes = meaning.Concludes(&o, v)
	return v
}

// count adds j to the coach, and sets the hints about it. This takes several times as long as the verdict, so
// of messages that come fast only the last one is counted, and those that may end the wait.
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

// noteChange sets how long the answers have been equal, and reports whether this one differs from
// the one before. A truncated answer counts as different: the part that is missing may be.
func (w *wait) noteChange(o *status.Observation, now time.Time) (changed bool) {
	if o.Failure == nil {
		sum := crc32.ChecksumIEEE(o.Body) // whose table takes the least time to make
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

// forResult returns the wait for the result if the last attempt was SUCCESS and the result is in another document;
// otherwise nil. The wait continues the State. The rules are about the operation: any successful response is the
// result, and the verdict on the operation holds. The first attempt of the wait belongs to the last attempt.
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

// classifyResult returns the verdict on the operation if a response is its result.
func (w *wait) classifyResult(ctx context.Context, result *judgement) status.Verdict {
	v := w.p.Rules.Classify(ctx, *result.observation)
	if v.Status == status.Success {
		return w.done.verdict
	}
	v.Reason = w.unfetched() + ": " + v.Reason
	return v
}

// unfetched returns the reason while a result is missing.
func (w *wait) unfetched() string {
	return "done, but its result could not be fetched: get " + w.planned.Name
}

const (
	// eventEvery is the time between two events of messages that come faster, but for the first
	// ones of eventBurst.
	eventEvery = 100 * time.Millisecond
	eventBurst = 2 * time.Second
)

// tell evaluates a message, and reports whether the attempt is to end with it.
func (w *wait) tell(ctx context.Context, o status.Observation) (enough bool) {
	if w.classify != nil || w.stream.decided { // a list has no messages, and nothing is asked for behind the last
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
