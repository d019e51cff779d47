package poll

import (
	"context"

	"github.com/pollcli/poll/poll/internal/coach"
	"github.com/pollcli/poll/status"
)

// toResult switches w from the operation to the operation's result, if the last attempt ended the wait with
// SUCCESS and the result is in another document. It reports whether it switched. After the switch any
// successful response is the result: the rules, which apply to the operation, are dropped, and the verdict on
// the operation is kept.
func (w *wait) toResult() bool {
	if w.list != nil || w.done != nil || w.Status != status.Success || !w.decided() {
		return false
	}
	w.done = w.last
	w.use(w.result)
	w.p.Rules, w.p.SuccessThreshold = status.Rules{Accept: w.p.Rules.Accept}, Threshold{Times: 1}
	w.classify, w.coach, w.Streak = w.classifyResult, new(coach.Coach), 0
	w.complete = &conclusion{observation: w.complete.observation, took: w.complete.took,
		verdict: status.Verdict{Status: status.NotReady, Reason: w.unfetched()}}
	return true
}

// classifyResult returns the verdict on a response that should be the operation's result. If the response is
// successful, the verdict is the verdict on the operation. Otherwise the verdict is about the response, and its
// reason mentions that the result could not be fetched.
func (w *wait) classifyResult(ctx context.Context, result *conclusion) status.Verdict {
	v := w.p.Rules.Classify(ctx, *result.observation)
	if v.Status == status.Success {
		return w.done.verdict
	}
	v.Reason = w.unfetched() + ": " + v.Reason
	return v
}

// unfetched returns the reason for NOT_READY while the operation is done, but its result has not been fetched.
func (w *wait) unfetched() string {
	return "done, but its result could not be fetched: get " + w.planned.Name
}
