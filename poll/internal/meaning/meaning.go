// Package meaning interprets the responses of poll's own probes. It implements three protocols: HTTP (including the
// documents of Azure's operations), commands, and plain connections. The method Meaning of a protocol returns the
// verdict that applies if no rule matches, and determines which rules may decide instead. To find out whether a
// response can be taken for a SUCCESS by mistake, read that method.
//
// If no rule matches, the verdicts are:
//
//	HTTP 2xx                                SUCCESS, but NOT_READY for 202; if there is a rule for
//	                                        SUCCESS, NOT_READY, or ERROR if strict
//	HTTP 2xx from a followed URL, without   by status, state, phase, done and similar members, at the top
//	a rule for SUCCESS                      level or in one envelope such as .data: SUCCESS for a known
//	                                        final state, ERROR for a known failure, NOT_READY for other
//	                                        states; without a state ERROR if the document names an
//	                                        error, SUCCESS for a created object or a result, else
//	                                        NOT_READY
//	429; 503 or 403 with a wait or any      THROTTLED
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
// A followed URL is a URL that an earlier response has named, such as the URL of an operation's status. If
// [status.Rules.Accept] lists codes, each listed code counts as HTTP 2xx or exit code 0. HTTP 2xx and exit code 0 are
// NOT_READY if they are not listed.
//
// The files:
//
//	meaning.go    plain connections, attempts that were stopped, and helpers for all protocols
//	http.go       the verdicts for HTTP status codes
//	response.go   the facts of an HTTP response; success, and rejection because of load
//	operation.go  the verdict for the document of a followed URL
//	report.go     the state of an operation in JSON; its words are in operation.txt
//	azure.go      the verdict for the status documents of Azure
//	command.go    exit codes, signals and error output; its phrases are in stderr.txt
//	pages.go      further pages and totals of a list; names of members are in pages.txt
package meaning

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/status"
)

// Recorded sets the Protocol of o, an observation that was recorded or made by hand, and returns o. A status code
// means HTTP, and an exit code means a command. Without a code, the Kind decides. If o already has a Protocol,
// Recorded returns o unchanged.
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

// HTTPOf returns the HTTP facts of o. It returns the zero value if the Protocol of o is not HTTP.
func HTTPOf(o *status.Observation) HTTP {
	h, _ := o.Protocol.(HTTP)
	return h
}

// noFailure is the reason of the verdict for an observation that has neither a failure nor a code.
const noFailure = "the probe reports no failure"

// success returns a function for the field Default of a [status.Meaning]. The function always returns SUCCESS, with
// the given reason.
func success(reason string) func(bool) status.Verdict {
	return status.Always(status.Verdict{Status: status.Success, Reason: reason})
}

func notReady(reason string) status.Verdict {
	return status.Verdict{Status: status.NotReady, Reason: reason}
}

// isAccepted reports whether code, a status code or an exit code, is one of the codes in o.Accept. If o.Accept
// is nil, isAccepted returns usually(*code). If code is nil, it reports whether o is a message of a stream.
func isAccepted(o *status.Observation, code *int, usually func(code int) bool) bool {
	switch {
	case code == nil:
		return o.Message
	case o.Accept != nil:
		return slices.Contains(o.Accept, *code)
	}
	return usually(*code)
}

// Plain is the protocol of probes whose responses have no status code or exit code: TCP connections and custom
// probes.
type Plain struct{}

// Succeeded returns true, because an attempt that did not succeed has a Failure.
func (Plain) Succeeded(*status.Observation) bool { return true }

// Meaning returns the meaning of a connection, a document or a failure. A connection or a document means SUCCESS if
// no rule matches and no rule for SUCCESS exists.
func (Plain) Meaning(o *status.Observation) status.Meaning {
	if o.Kind == status.KindTCP {
		return plain(o, "connected")
	}
	return plain(o, noFailure)
}

// plain returns the meaning of an observation without a code. If o has no Failure, the default is SUCCESS with the
// given reason, as long as there are no rules for SUCCESS. If o has a Failure, its kind determines the verdict.
func plain(o *status.Observation, reason string) status.Meaning {
	const free = status.AllowText | status.AllowSuccess | status.AllowAbsence
	f := o.Failure
	if f == nil {
		return status.Meaning{Default: success(reason), Holds: status.HoldsUnlessRulesSaySuccess, Reason: reason,
			Allow: free | status.AllowRead, NextPage: nextPage(o)}
	}
	v := status.Verdict{Status: status.NotReady, Reason: f.Reason, Hints: f.Hints}
	m := status.Meaning{Allow: free, Named: []string{"exit", "status", "error"}, NextPage: nextPage(o)}
	switch f.Kind {
	case status.FailureThrottled:
		v = throttled(f.Reason, o.RetryAfter)
	case status.FailureHopeless:
		v.Status, v.Final, m.Only = status.Error, true, []string{"error"}
	case status.FailureNotFound, status.FailureNotExecutable, status.FailureMayHaveStarted:
		v.Status, v.Final, m.Only = status.Error, true, []string{}
	}
	m.Default = status.Always(v)
	return m
}

// throttled returns the verdict THROTTLED with the given reason, followed by wait. wait is nil if the server has not
// requested a wait.
func throttled(reason string, wait *status.RetryAfter) status.Verdict {
	if wait == nil {
		return status.Verdict{Status: status.Throttled, Reason: reason}
	}
	reason += fmt.Sprintf(", %s asks for %s", wait.Source, words.Duration(wait.Wait))
	return status.Verdict{Status: status.Throttled, Reason: reason}
}

// These errors are the causes of a context that a run has canceled to end an attempt.
var (
	ErrAttemptTimeout = errors.New("attempt timed out")
	ErrDeadline       = errors.New("deadline reached")
)

// Stopped returns the failure of an attempt that ended because ctx is done. If the attempt has timed out, the failure
// is transient, with the parameter timedOut as its reason. Otherwise the run or its caller has ended the attempt: the
// failure has the kind FailureStopped.
func Stopped(ctx context.Context, timedOut string) *status.Failure {
	f := &status.Failure{Kind: status.FailureStopped, Reason: "stopped before a response", Err: context.Cause(ctx)}
	switch {
	case errors.Is(f.Err, ErrAttemptTimeout):
		f.Kind, f.Class, f.Reason = status.FailureTransient, status.ClassTimeout, timedOut
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		f.Reason = "the last attempt was still running"
	}
	return f
}
