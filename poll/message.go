package poll

import (
	"context"
	"time"

	"github.com/pollcli/poll/status"
)

const (
	// eventEvery is the time between two events of messages that come faster, but for the first
	// ones of eventBurst.
	eventEvery = 100 * time.Millisecond
	eventBurst = 2 * time.Second
)

// tell judges a message, and reports whether the attempt is to end with it. Of those that come fast, and
// that no rule decides, the reason is not made.
func (w *wait) tell(ctx context.Context, o status.Observation) (enough bool) {
	if w.classify != nil || w.enough { // a list has no messages, and nothing is asked for behind the last
		return w.enough
	}
	now := time.Now()
	if w.told++; w.told == 1 {
		w.first = now.Sub(w.begun)
	}
	w.Messages, w.Heard = w.Messages+1, now
	o.Message = true
	w.annotate(&o, now, 0)
	isShown := w.nextOn.Sub(now) <= eventBurst
	if isShown || !w.quick || o.Failure != nil || w.p.Rules.Decides(ctx, o) {
		w.judge(ctx, new(o), 0)
	} else {
		w.pass(o, now)
	}
	if w.enough = w.decided(); w.enough {
		return true
	}
	w.pending = w.Status.Ends()
	if w.confirm != nil {
		w.confirm.Stop()
		if hold := w.toHold(); hold > 0 {
			w.confirm.Reset(hold)
		}
	}
	if !isShown {
		return false
	}
	w.nextOn = now.Add(max(0, w.nextOn.Sub(now)) + eventEvery)
	return !w.run.news(w.event(EventMessage, time.Now()))
}

// pass records a message that decides nothing, and of which nobody is told, in place of the one before.
func (w *wait) pass(o status.Observation, now time.Time) {
	if w.unshown == nil {
		w.unshown = &judged{observation: new(status.Observation)}
	}
	*w.unshown.observation, w.unshown.verdict, w.unshown.begun = o, status.Verdict{Status: status.NotReady}, now
	w.record(w.unshown)
}

// explainLast makes the reason of the last message, if it has none.
func (w *wait) explainLast() {
	if j := w.complete; j.verdict.Status == status.NotReady && j.verdict.Reason == "" && j.observation.Message {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(w.run.ctx), time.Second)
		defer cancel()
		j.verdict = w.p.Rules.Classify(ctx, *j.observation)
		w.tally.Add(j.observation, &j.verdict)
	}
}
