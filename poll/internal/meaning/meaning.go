// Package meaning implements the protocols of poll's own probes: HTTP with Azure's documents, commands, and connections. Each
// protocol has one method Meaning, which returns the verdict if no rule matches, and selects the rules that may decide.
// To find out whether a response can be a false SUCCESS, read that method.
//
// Without a matching rule, the verdicts are:
//
//	HTTP 2xx                                SUCCESS, but NOT_READY for 202; if there is a rule for
//	                                        SUCCESS, NOT_READY, or ERROR if strict
//	HTTP 2xx from a followed URL, without   by status, state, phase, done and similar members, at the top
//	a rule for SUCCESS                      level or in one envelope such as .data: SUCCESS for a known
//	                                        final state, ERROR for a known failure, NOT_READY for other
//	                                        states; without a state ERROR if the document names an
//	                                        error, SUCCESS for a created object or a result, else
//	                                        NOT_READY
//	429; 503 or 403 with a hint or any      THROTTLED
//	Retry-After; 403 with an exhausted rate
//	limit or GitHub's message about its
//	secondary rate limit
//	408, 425, 5xx except 501 and 505        NOT_READY
//	other 4xx, 501, 505, a redirect that    ERROR
//	was not followed
//	no response: refused, reset, timed out  NOT_READY
//	TCP: connected                          SUCCESS
//	exit code 0                             as HTTP 2xx
//	exit code 126, 127                      ERROR
//	another exit code, stderr reports a     ERROR
//	wrong call
//	another exit code, stderr reports       THROTTLED
//	throttling
//	another exit code                       NOT_READY
//
// If [status.Rules.Accept] lists codes, each listed code counts as HTTP 2xx or exit code 0. HTTP 2xx and exit code 0 are
// NOT_READY if they are not listed.
package meaning

import (
	"context"
	"errors"
	"fmt"

	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/status"
)

// Recorded returns a recorded or handmade observation with the protocol of its kind. It keeps a Protocol that
// is set. A status code or an exit code takes precedence over the kind.
func Recorded(o status.Observation) status.Observation {
	switch {
	case o.Protocol != nil:
	case o.Code != nil, o.Exit == nil && o.Kind == status.KindHTTP:
		o.Protocol = HTTP{}
	case o.Exit != nil, o.Kind == status.KindCommand:
		o.Protocol = Command{}
	default:
		o.Protocol = Plain{}
	}
	return o
}

// Of returns the facts of an HTTP response, or the zero value for an observation of another protocol.
func Of(o *status.Observation) HTTP {
	h, _ := o.Protocol.(HTTP)
	return h
}

// noFailure is the reason for an observation without a failure and without a code.
const noFailure = "the probe reports no failure"

// success returns a Default of [status.Meaning] for SUCCESS.
func success(reason string) func(bool) status.Verdict {
	return status.Always(status.Verdict{Status: status.Success, Reason: reason})
}

func notReady(reason string) status.Verdict {
	return status.Verdict{Status: status.NotReady, Reason: reason}
}

// Plain is the protocol of TCP connections and of custom probes.
type Plain struct{}

// Succeeded returns true: an attempt that has failed has a Failure.
func (Plain) Succeeded(*status.Observation) bool { return true }

// Meaning returns the meaning of a connection, a document or a failure. Without a Failure it is SUCCESS.
func (Plain) Meaning(o *status.Observation) status.Meaning {
	if o.Kind == status.KindTCP {
		return plain(o, "connected")
	}
	return plain(o, noFailure)
}

// plain returns the meaning of an observation without a code. A response is SUCCESS with the given reason, unless
// there are rules for SUCCESS. A failure has the verdict of its kind.
func plain(o *status.Observation, reason string) status.Meaning {
	const free = status.AllowText | status.AllowSuccess | status.AllowAbsence
	f := o.Failure
	if f == nil {
		return status.Meaning{Default: success(reason), Holds: status.HoldsUnlessRulesSaySuccess, Reason: reason,
			Allow: free | status.AllowRead, NextPage: nextPage(o)}
	}
	v := status.Verdict{Status: status.NotReady, Reason: f.Reason, Advice: f.Advice}
	m := status.Meaning{Allow: free, Named: []string{"exit", "status", "error"}, NextPage: nextPage(o)}
	switch f.Kind {
	case status.FailureThrottled:
		v = throttled(f.Reason, o.Hint)
	case status.FailureHopeless:
		v.Status, v.Final, m.Only = status.Error, true, []string{"error"}
	case status.FailureNotFound, status.FailureNotExecutable, status.FailureMayHaveStarted:
		v.Status, v.Final, m.Only = status.Error, true, []string{}
	}
	m.Default = status.Always(v)
	return m
}

// throttled returns the verdict THROTTLED with a reason and the wait that the server requested. hint is nil
// if the server requested no wait.
func throttled(reason string, hint *status.Hint) status.Verdict {
	if hint == nil {
		return status.Verdict{Status: status.Throttled, Reason: reason}
	}
	reason += fmt.Sprintf(", %s asks for %s", hint.Source, words.Duration(hint.Wait))
	return status.Verdict{Status: status.Throttled, Reason: reason}
}

// The causes of the contexts of attempts that a run ends.
var (
	ErrAttemptTimeout = errors.New("attempt timed out")
	ErrDeadline       = errors.New("deadline reached")
)

// Stopped returns the failure of an attempt whose ctx is done. An attempt timeout is a transient failure with
// the reason timedOut. An attempt that the run or its caller ended has no verdict of its own.
func Stopped(ctx context.Context, timedOut string) *status.Failure {
	f := &status.Failure{Kind: status.FailureStopped, Reason: "stopped before there was an answer", Err: context.Cause(ctx)}
	switch {
	case errors.Is(f.Err, ErrAttemptTimeout):
		f.Kind, f.Class, f.Reason = status.FailureTransient, status.ClassTimeout, timedOut
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		f.Reason = "the last attempt was still running"
	}
	return f
}
