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
	if w.classify != nil { // a list has no messages
		return false
	}
	now := time.Now()
	if w.told++; w.told == 1 {
		w.first = now.Sub(w.begun)
	}
	w.Messages, w.Heard = w.Messages+1, now
	o.Message = true
	w.annotate(&o, 0)
	isShown := w.nextOn.Sub(now) <= eventBurst
	if isShown || !w.quick || o.Failure != nil || w.p.Rules.Decides(ctx, o) {
		w.judge(ctx, &o, 0)
	} else {
		w.record(&judged{observation: &o, verdict: status.Verdict{Status: status.NotReady}, begun: now})
	}
	if w.enough = w.decided(); w.enough {
		return true
	}
	switch hold := w.toHold(); {
	case w.confirm == nil:
	case hold > 0:
		w.confirm.Reset(hold)
	default:
		w.confirm.Stop()
	}
	if !isShown {
		return false
	}
	w.nextOn = now.Add(max(0, w.nextOn.Sub(now)) + eventEvery)
	return !w.run.news(w.event(EventMessage, time.Now()))
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
