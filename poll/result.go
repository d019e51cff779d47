package poll

import (
	"context"

	"github.com/pollcli/poll/poll/internal/coach"
	"github.com/pollcli/poll/status"
)

// toResult begins the second phase of w, if the last attempt ended the wait with SUCCESS and the result is in
// another document. It reports whether the second phase has begun. In that phase any successful response is the
// result. The rules do not apply, because they describe the operation.
func (w *wait) toResult() bool {
	if w.list != nil || w.operation != nil || w.Status != status.Success || !w.decided() {
		return false
	}
	w.phase = phase{
		rules: &status.Rules{Accept: w.rules.Accept}, success: &Threshold{Times: 1}, classify: w.classifyResult,
		coach: new(coach.Coach), complete: &conclusion{observation: w.complete.observation, took: w.complete.took}, operation: w.last,
	}
	w.setProbe(w.result)
	w.complete.verdict = status.Verdict{Status: status.NotReady, Reason: w.unfetched()}
	w.Streak = 0
	return true
}

// classifyResult returns the verdict on a response that should be the operation's result. If the response is
// successful, the verdict is the verdict on the operation. Otherwise the verdict is about the response, and its
// reason mentions that the result could not be fetched.
func (w *wait) classifyResult(ctx context.Context, result *conclusion) status.Verdict {
	v := w.rules.Classify(ctx, *result.observation)
	if v.Status == status.Success {
		return w.operation.verdict
	}
	v.Reason = w.unfetched() + ": " + v.Reason
	return v
}

// unfetched returns the reason for NOT_READY while the operation is done, but its result has not been fetched.
func (w *wait) unfetched() string {
	return "done, but its result could not be fetched: get " + w.planned.Name
}
