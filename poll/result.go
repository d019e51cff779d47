package poll

import "github.com/pollcli/poll/status"

// done is what is known of an operation whose result is still to be fetched.
type done struct {
	verdict status.Verdict // that said so
	missing string         // the result, in words
}

// finish goes over to looking for the result, where the last attempt said that
// the operation is done and the result is another document. The first look is
// part of that attempt.
func (r *run) finish(lastLook bool) {
	f, ok := r.probe.(Finisher)
	if !ok || r.last.verdict.Status != status.Success || !r.decided() {
		return
	}
	look, what := f.Result(*r.last.observation)
	if look == nil {
		return
	}
	r.done = &done{verdict: r.last.verdict, missing: "done, but its result could not be fetched: " + what}
	r.probe, r.Rules, r.SuccessThreshold = look, status.Rules{}, 1
	r.complete.verdict = status.Verdict{Status: status.NotReady, Reason: r.done.missing}
	r.streak = 0
	took := r.last.took
	r.look(lastLook)
	r.last.took += took
}

// verdictOn returns what an attempt to get the result means, of which v is what
// its answer says of itself. With the result, the verdict on the operation holds.
func (d *done) verdictOn(v status.Verdict) status.Verdict {
	if v.Status == status.Success {
		return d.verdict
	}
	v.Reason = d.missing + ": " + v.Reason
	return v
}
