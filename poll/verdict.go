package poll

import (
	"context"
	"fmt"
	"hash/crc32"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/poll/internal/ratelimit"
	"github.com/pollcli/poll/status"
)

// A conclusion is the result of an attempt that has ended, or of a message of a stream: the observation and the
// verdict on it.
type conclusion struct {
	observation *status.Observation
	verdict     status.Verdict
	begun       time.Time // start of the attempt or, for a response from a cache, the earliest time at which the server may have created that response
	took        time.Duration
	isOutdated  bool // the response came from a cache and predates an earlier response; see wait.outdated
	isHeld      bool // the stream was ended early because its verdict had lasted long enough
}

// freshFor is the time after the start of an operation during which a 404 is NOT_READY, because the operation
// may not be visible yet.
const freshFor = 10 * time.Second

// evaluateResponse evaluates o, the observation of an attempt, and updates the State. took is the duration of
// the attempt. If ctx is done, evaluateResponse stops evaluating rules that take long.
func (w *wait) evaluateResponse(ctx context.Context, o status.Observation, took time.Duration) {
	if c := w.stream.uncounted; c != nil {
		w.count(c)
	}
	now := time.Now()
	o = meaning.Recorded(o)
	if h, ok := o.Protocol.(meaning.HTTP); ok {
		h.Fresh = w.Began.IsZero() || now.Sub(w.Began)-took < freshFor
		o.Protocol = h
	}
	if o.RetryAfter != nil && o.RetryAfter.Wait <= 0 {
		o.RetryAfter = nil
	}
	ignored := w.readRetryAfter(&o, now)
	w.annotate(&o, now, took)
	if w.isDecidedByMessage() {
		w.last.took = took
	} else if w.evaluate(ctx, &o, took); !isInterrupted(w.last) {
		w.count(w.last)
		w.last.verdict.Hints = append(w.last.verdict.Hints, ignored...)
	}
	if w.stream.messages == 0 {
		w.measure(took, w.last)
	}
	w.Last = time.Now()
	if w.isRefused() {
		w.Refusals++
	}
	if w.stream.messages > 0 && took > w.Previous {
		// Restart the schedule, since the stream lasted longer than the last wait. A shorter stream does not
		// restart it, so that a server that ends every stream immediately receives fewer and fewer requests.
		w.Anew, w.Previous = w.Attempts, 0
	}
	w.Starting = w.Starting && w.isStartLost()
	if w.Began.IsZero() {
		// The purpose of the attempt was to start the operation. If the operation has started, the schedule
		// restarts.
		w.Sent++
		if !w.planned.Once {
			w.Began, w.Previous, w.Refusals = w.Last, 0, 0
			w.Evidence = w.evidence()
		}
	}
}

// isDecidedByMessage reports whether the last message of the attempt has ended the wait.
func (w *wait) isDecidedByMessage() bool { return w.stream.messages > 0 && w.decided() }

// readRetryAfter evaluates Poller.RetryAfter on the document of o. If the document requests a longer wait than the
// Retry-After header, that wait becomes the RetryAfter of o. If the value is not a wait, readRetryAfter returns a note.
func (w *wait) readRetryAfter(o *status.Observation, now time.Time) []status.Hint {
	x := w.p.RetryAfter
	if x == nil || o.Failure != nil || o.Truncated || o.Ended { // there is no complete document
		return nil
	}
	v := x.Eval(status.Environment(o)).Value()
	if v.Type == "null" || !v.Exists() {
		return nil
	}
	wait, ok := ratelimit.Parse(v.Text(), now)
	if !ok {
		return status.Notes(x.String() + " is not a wait of at most a year, and was ignored")
	}
	if wait > 0 && (o.RetryAfter == nil || o.RetryAfter.Wait < wait) {
		o.RetryAfter = &status.RetryAfter{Wait: wait, Source: x.String()}
	}
	return nil
}

// isStartLost reports whether the operation may have been started although no response to the start request
// arrived.
func (w *wait) isStartLost() bool {
	o := w.last.observation
	isLost := o.Failure != nil && o.Failure.Kind == status.FailureMayHaveStarted
	return isLost || o.Stopped() && o.Next == "" && !w.planned.Once
}

// annotate adds to o the facts that the probe does not know: the number of the attempt, the elapsed time, the target,
// and how long the response has been unchanged. The argument now is the time when the response was complete, and took
// is the duration of the attempt.
func (w *wait) annotate(o *status.Observation, now time.Time, took time.Duration) {
	o.Attempt, o.Elapsed, o.Target, o.Matched = w.Attempts, now.Sub(w.Start)-took, w.p.Target, w.Matched
	o.Accept = w.rules.Accept
	w.noteChange(o, now)
}

// evaluate determines the verdict on o and records it. took is the duration of the attempt, or 0 for a message.
func (w *wait) evaluate(ctx context.Context, o *status.Observation, took time.Duration) {
	c := &conclusion{observation: o, begun: time.Now().Add(-took), took: took, isHeld: o.Failure != nil && o.Failure.Err == errConfirm}
	if isAged(o) {
		c.begun = c.begun.Add(-meaning.HTTPOf(o).Age - time.Second) // Age is in whole seconds, so the response may be up to a second older
	}
	v, outdated := &c.verdict, w.outdated(o, c.begun)
	c.isOutdated = outdated != ""
	switch {
	case o.Stopped():
		*v = status.Verdict{Status: status.NotReady, Reason: o.Failure.Reason}
	case c.isOutdated:
		*v = status.Verdict{Status: status.NotReady, Reason: outdated}
	case w.classify != nil:
		*v = w.classify(ctx, c)
	default:
		*v = w.verdict(ctx, o)
	}
	if o.Ended && v.Status == status.NotReady && w.complete.observation != nil && w.complete.observation.Message {
		v.Reason += "; last: " + w.complete.verdict.Reason
	}
	if !isInterrupted(c) {
		w.noteMatch(v, o.Good())
	}
	w.record(c)
}

// verdict returns the verdict of the rules on o.
func (w *wait) verdict(ctx context.Context, o *status.Observation) status.Verdict {
	v := w.rules.Classify(ctx, *o)
	v.Concludes = meaning.Concludes(o, v)
	return v
}

// count passes c to the coach, and adds the coach's first hints to the verdict. This takes several times as
// long as the verdict itself. When messages arrive quickly, count is therefore called only for the last message
// and for messages that may end the wait.
func (w *wait) count(c *conclusion) {
	w.stream.uncounted = nil
	w.coach.Add(c.observation, &c.verdict)
	if hints := w.coach.FirstHints(); c.verdict.Status != status.Success {
		c.verdict.Hints = append(c.verdict.Hints, hints...)
	}
}

// noteMatch records in the State that a NOT_READY rule decided the verdict v. isGood is true if the response
// was successful.
func (w *wait) noteMatch(v *status.Verdict, isGood bool) {
	wasGood, isKnown := w.Matched[v.Rule]
	if v.Status != status.NotReady || v.Rule == "" || isKnown && (wasGood || !isGood) {
		return
	}
	matched := map[string]bool{} // a new map, because copies of the State share the old map
	maps.Copy(matched, w.Matched)
	matched[v.Rule] = isGood
	w.Matched = matched
}

// record stores c as the last conclusion, and updates the State.
func (w *wait) record(c *conclusion) {
	v := &c.verdict
	if c.observation.Ended && v.Status == status.Success && w.countsLines && w.success.Times > 1 {
		v.Status, v.Rule = status.NotReady, ""
		v.Reason += "; the threshold counts lines, and the end of the command is not a line"
	}
	isNeutral := w.isNeutral(c)
	w.last, w.State = c, conclude(w.State, c, isNeutral, time.Now())
	if isInterrupted(c) || isStreamEnd(c) && w.complete.observation != nil {
		return
	}
	w.complete = c
	w.wasPending = w.wasPending || !isNeutral && c.observation.Failure == nil && w.Status != status.Success
}

// conclude returns the State s, updated with the conclusion c. now is the current time. If isNeutral is true,
// the verdict neither continues nor interrupts the sequence of equal verdicts.
func conclude(s State, c *conclusion, isNeutral bool, now time.Time) State {
	o, v := c.observation, c.verdict
	s.RetryAfter, s.Reason = o.RetryAfter, v.Reason
	switch {
	case isNeutral, isStreamEnd(c):
		return s
	case isInterrupted(c) && s.Streak > 0 && s.Status.Ends(): // keep the sequence of verdicts, which the next run can continue
		return s
	case isInterrupted(c):
		s.Status, s.Streak = v.Status, 0
		return s
	case v.Status != s.Status:
		s.Streak = 0
	}
	if s.Streak == 0 || s.Since.IsZero() {
		s.Since = now
	}
	s.Status = v.Status
	s.Streak++
	return s
}

// isInterrupted reports whether c has no information about the operation, because the run ended before the response was
// complete or before the rules were evaluated.
func isInterrupted(c *conclusion) bool { return c.observation.Stopped() || c.verdict.Abandoned }

// isStreamEnd reports whether c is the conclusion about the end of a stream, and its verdict is NOT_READY. Such an end
// decides nothing. The sequence of equal verdicts on the messages therefore stays as it is.
func isStreamEnd(c *conclusion) bool {
	return c.observation.Ended && c.verdict.Status == status.NotReady
}

// isNeutral reports whether c leaves the sequence of equal verdicts as it is: it neither counts nor interrupts.
// An output line that no rule matches is neutral after a line with SUCCESS, if the threshold counts lines. An
// outdated response is neutral after a SUCCESS or ERROR. Both apply only until that verdict has reached its
// threshold.
func (w *wait) isNeutral(c *conclusion) bool {
	isLine := w.countsLines && c.observation.Message && c.verdict.Rule == ""
	return c.verdict.Status == status.NotReady && (isLine && w.isToConfirm() || c.isOutdated && w.isUnconfirmed())
}

// noteChange sets o.Unchanged, the time for which the responses have been equal. It reports whether o differs
// from the previous response. A truncated response counts as different, because the missing part may differ.
func (w *wait) noteChange(o *status.Observation, now time.Time) (changed bool) {
	if o.Failure == nil {
		sum := crc32.ChecksumIEEE(o.Body) // the IEEE polynomial, because its table is the fastest to build
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

// evidence describes a response that later responses must not predate. At is the time of the response according
// to this machine's clock. Dates holds the latest Date header of each origin up to that time. An older response
// may be a copy from a cache, so it does not count.
type evidence struct {
	At    time.Time            `json:"at"`
	Dates map[string]time.Time `json:"dates,omitempty"`
}

// outdated returns the reason why o does not count, or "" if o counts. A response from a cache does not count
// if it was created before the start request, or before the response that w.Evidence describes. To find out,
// outdated uses the Age header, and compares the Date header with earlier Dates of the same server. It never
// compares the clocks of different machines. The argument begun is the earliest time at which the server may
// have created the response.
func (w *wait) outdated(o *status.Observation, begun time.Time) string {
	older := "a cache may have stored the response before an earlier response"
	isStarting := w.Began.IsZero() // a redirect of the start request may lead to a page that a cache has stored
	if isStarting || w.Sent > 0 && w.Evidence != nil && w.Evidence.At.Equal(w.Began) {
		older = "a cache may have stored the response before the start"
	}
	switch e, h := w.Evidence, meaning.HTTPOf(o); {
	case o.Failure != nil, o.Start, h.RefusedForLoad(o), e == nil && !isStarting:
	case isAged(o) && (isStarting || begun.Before(e.At)):
		return fmt.Sprintf("%s: its Age is %d s", older, h.Age/time.Second)
	case h.Date.IsZero():
	case h.Date.Before(h.Started[h.Origin]), e != nil && h.Date.Before(e.Dates[h.Origin]):
		return older + ", by its Date"
	}
	return ""
}

// isAged reports whether o may come from a cache: it has an Age header, possibly with the value 0.
func isAged(o *status.Observation) bool {
	return meaning.HTTPOf(o).Age > 0 || o.Header.Get("Age") != ""
}

// noteEvidence stores the last response as the evidence if later responses must be newer. That is the case if
// later responses have to confirm the last response's SUCCESS or ERROR, the completeness of a list, or the
// absence of an element. A response with status 202 is evidence, too, because the result is created later.
func (w *wait) noteEvidence() {
	o := w.last.observation
	isOpen := func(w *wait) bool { return w.Absent > 0 || w.isUnconfirmed() }
	switch {
	case o.Code == nil, w.last.isOutdated:
	case *o.Code == http.StatusAccepted, !w.Listed.IsZero(), isOpen(w), w.list != nil && slices.ContainsFunc(w.list.waiting, isOpen):
		w.Evidence = w.evidence()
	}
}

// evidence returns the evidence of the last response. It includes the Dates of the previous evidence.
func (w *wait) evidence() *evidence {
	h, e := meaning.HTTPOf(w.last.observation), &evidence{At: w.Last, Dates: make(map[string]time.Time)}
	if w.Evidence != nil {
		maps.Copy(e.Dates, w.Evidence.Dates)
	}
	maps.Copy(e.Dates, h.Started)
	if h.Date.After(e.Dates[h.Origin]) {
		e.Dates[h.Origin] = h.Date
	}
	return e
}
