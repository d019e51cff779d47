package poll

import (
	"bytes"
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

// A conclusion is an attempt that has ended, or a message, with its verdict.
type conclusion struct {
	observation *status.Observation
	verdict     status.Verdict
	begun       time.Time // when the attempt started or, for a response from a cache, the earliest time when it was made
	took        time.Duration
	isOutdated  bool // see wait.outdated
	isHeld      bool // poll ended the stream, since its verdict has held long enough
}

// freshFor is how long an operation may be invisible after its start: a 404 is NOT_READY in that time.
const freshFor = 10 * time.Second

// evaluateResponse evaluates the observation of an attempt, and updates the State.
func (w *wait) evaluateResponse(o status.Observation, took time.Duration) {
	if w.stream.isUncounted {
		w.count(w.complete)
	}
	if w.unsent {
		w.last = &conclusion{observation: &o}
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
		w.evaluate(ctx, &o, took)
		cancel()
	}
	w.Last = time.Now()
	if w.isRefused() {
		w.Refusals++
	}
	if w.stream.messages > 0 && took > w.Previous {
		// The schedule restarts. Shorter streams do not restart it, so that a server that ends each stream at once gets fewer
		// and fewer requests.
		w.Anew, w.Previous = w.Attempts, 0
	}
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
	if v.Type == "null" || !v.Exists() {
		return
	}
	wait, ok := ratelimit.Parse(v.Text(), now)
	if !ok {
		w.ignored = x.String() + " is not a wait of at most a year, and was ignored"
	} else if wait > 0 && (o.Hint == nil || o.Hint.Wait < wait) {
		o.Hint = &status.Hint{Wait: wait, Source: x.String()}
	}
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

// evaluate evaluates an observation, and records the conclusion. took is the duration of the attempt, 0 for a message.
func (w *wait) evaluate(ctx context.Context, o *status.Observation, took time.Duration) {
	c := &conclusion{observation: o, begun: time.Now().Add(-took), took: took, isHeld: o.Failure != nil && o.Failure.Err == errConfirm}
	if isAged(o) {
		c.begun = c.begun.Add(-meaning.Of(o).Age - time.Second) // the Age counts whole seconds
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
	if !isCut(c) {
		w.noteMatch(v, o.Good())
		if w.stream.isUncounted = o.Message && !w.stream.isShown && !v.Status.Ends(); !w.stream.isUncounted {
			w.count(c)
		}
	}
	w.record(c)
	if w.stream.messages > 0 { // a further attempt needs only the time to its first message
		took = w.stream.firstAfter
	}
	w.measure(took, c)
}

// verdict evaluates the rules.
func (w *wait) verdict(ctx context.Context, o *status.Observation) status.Verdict {
	v := w.p.Rules.Classify(ctx, *o)
	v.Concludes = meaning.Concludes(o, v)
	return v
}

// count adds c to the coach, and sets the hints about c. It takes several times as long as the verdict. So, if
// messages come fast, only the last message is counted, and the messages that may end the wait.
func (w *wait) count(c *conclusion) {
	w.stream.isUncounted = false
	w.coach.Add(c.observation, &c.verdict)
	if hints := w.coach.FirstHints(); c.verdict.Status != status.Success {
		c.verdict.Hints = hints
	}
}

// noteMatch records that a rule for NOT_READY matched a response, which was successful or not.
func (w *wait) noteMatch(v *status.Verdict, isGood bool) {
	wasGood, isKnown := w.Matched[v.Rule]
	if v.Status != status.NotReady || v.Rule == "" || isKnown && (wasGood || !isGood) {
		return
	}
	matched := map[string]bool{} // a new map, since copies of the state share the old one
	maps.Copy(matched, w.Matched)
	matched[v.Rule] = isGood
	w.Matched = matched
}

// record keeps c as the conclusion of the last attempt, and updates the State.
func (w *wait) record(c *conclusion) {
	v := &c.verdict
	if c.observation.Ended && v.Status == status.Success && w.stream.countsSeen && w.p.SuccessThreshold.Times > 1 {
		v.Status, v.Rule = status.NotReady, ""
		v.Reason += "; the threshold counts lines, and the end of the command is not a line"
	}
	isBetween := w.isBetween(c)
	w.last, w.State = c, conclude(w.State, c, isBetween, time.Now())
	if isCut(c) || isStreamEnd(c) && w.complete.observation != nil {
		return
	}
	w.complete = c
	w.wasPending = w.wasPending || !isBetween && c.observation.Failure == nil && w.Status != status.Success
}

// conclude returns the state after an attempt, or a message, that ended at now. isBetween means that the verdict
// neither confirms nor breaks the verdicts before.
func conclude(s State, c *conclusion, isBetween bool, now time.Time) State {
	o, v := c.observation, c.verdict
	s.Hint, s.Reason = o.Hint, v.Reason
	switch {
	case isBetween, isStreamEnd(c):
		return s
	case isCut(c) && s.Streak > 0 && s.Status.Ends(): // the next run confirms the verdicts of this run
		return s
	case isCut(c):
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

// isCut reports whether an attempt shows nothing: the run ended before the response, or before the rules were evaluated.
func isCut(c *conclusion) bool { return c.observation.Stopped() || c.verdict.Abandoned }

// isStreamEnd reports whether an attempt is the end of a stream that decides nothing, so that the verdict of the messages
// holds.
func isStreamEnd(c *conclusion) bool {
	return c.observation.Ended && c.verdict.Status == status.NotReady
}

// isBetween reports whether a message is a line that no rule matches after a line that is SUCCESS, or a response
// is outdated after a response that is SUCCESS or ERROR: neither ends the count.
func (w *wait) isBetween(c *conclusion) bool {
	isLine := w.stream.countsSeen && c.observation.Message && c.verdict.Rule == ""
	return c.verdict.Status == status.NotReady && (isLine && w.isToConfirm() || c.isOutdated && w.isUnconfirmed())
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

const (
	// eventEvery is the least time between two EventMessages, except for a first burst: messages may use up
	// eventBurst in advance.
	eventEvery = 100 * time.Millisecond
	eventBurst = 2 * time.Second
)

// evaluateMessage evaluates a message, and reports whether the attempt has to end with this message.
func (w *wait) evaluateMessage(ctx context.Context, o status.Observation) (enough bool) {
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
	w.evaluate(ctx, &o, 0)
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
	return !w.run.emitMessage(w.event(EventMessage, time.Now()))
}

// An evidence is the time of a response by this machine's clock, and the newest Date of each origin up to then.
// A later response counts only if it is not older: a cache may hold a copy from before.
type evidence struct {
	At    time.Time            `json:"at"`
	Dates map[string]time.Time `json:"dates,omitempty"`
}

// outdated returns the reason if a response is older than the start, or than the response that it has to follow:
// by its Age, or by the Date of the same server. It returns "" if the response counts. begun is the earliest time
// at which the response can have been made. A server's clock is never compared with this machine's clock.
func (w *wait) outdated(o *status.Observation, begun time.Time) string {
	older := "a cache may have stored the response before an earlier response"
	isStarting := w.Began.IsZero() // the start may have been redirected to a page that a cache has
	if isStarting || w.Sent > 0 && w.Evidence != nil && w.Evidence.At.Equal(w.Began) {
		older = "a cache may have stored the response before the start"
	}
	switch e, h := w.Evidence, meaning.Of(o); {
	case o.Failure != nil, o.Start, h.RefusedForLoad(o), e == nil && !isStarting:
	case isAged(o) && (isStarting || begun.Before(e.At)):
		return fmt.Sprintf("%s: its Age is %d s", older, h.Age/time.Second)
	case h.Date.IsZero():
	case h.Date.Before(h.Started[h.Origin]), e != nil && h.Date.Before(e.Dates[h.Origin]):
		return older + ", by its Date"
	}
	return ""
}

// isAged reports whether a response may come from a cache: it has an Age, which is 0 for the first second.
func isAged(o *status.Observation) bool { return meaning.Of(o).Age > 0 || o.Header.Get("Age") != "" }

// noteEvidence keeps the last response as the evidence if later responses have to be newer: they confirm its SUCCESS or
// ERROR, a complete list, or the absence of an element. A 202 is evidence, too, since it comes before the result.
func (w *wait) noteEvidence() {
	o := w.last.observation
	isOpen := func(w *wait) bool { return w.Absent > 0 || w.isUnconfirmed() }
	switch {
	case o.Code == nil, w.last.isOutdated:
	case *o.Code == http.StatusAccepted, !w.Listed.IsZero(), slices.ContainsFunc(w.all(), isOpen):
		w.Evidence = w.evidence()
	}
}

// evidence returns the time of the last attempt, with the Dates of its responses and of the evidence before.
func (w *wait) evidence() *evidence {
	h, e := meaning.Of(w.last.observation), &evidence{At: w.Last, Dates: make(map[string]time.Time)}
	if w.Evidence != nil {
		maps.Copy(e.Dates, w.Evidence.Dates)
	}
	maps.Copy(e.Dates, h.Started)
	if h.Date.After(e.Dates[h.Origin]) {
		e.Dates[h.Origin] = h.Date
	}
	return e
}
