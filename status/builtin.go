package status

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// hopeless judges the observations that no rule is asked about: the probe
// itself cannot work, or going on could start the operation twice.
func hopeless(o *Observation) (Verdict, bool) {
	if f := o.Failure; f != nil {
		switch f.Kind {
		case FailureHopeless, FailureNotFound, FailureNotExecutable, FailureMayHaveStarted:
			return Verdict{Status: Error, Reason: f.Reason, Advice: f.Advice}, true
		}
	}
	return Verdict{}, false
}

// unmatched judges an observation that no rule decided. The want is why the
// rules for SUCCESS did not match, in words.
func (r Rules) unmatched(o *Observation, want string) Verdict {
	expected := len(r.Preset) > 0 || r.hasUntil()
	switch {
	case o.Failure != nil && o.Failure.Kind == FailureThrottled:
		return throttled(o.Failure.Reason, o.Hint)
	case o.Failure != nil:
		return Verdict{Status: NotReady, Reason: o.Failure.Reason}
	case o.Code != nil:
		return r.httpAnswer(o, want, expected)
	case o.Exit != nil:
		return r.commandAnswer(o, want, expected)
	}
	plain := "the probe reports no failure"
	if o.Kind == KindTCP {
		plain = "connected"
	}
	if !expected && o.Good() {
		return Verdict{Status: Success, Reason: plain}
	}
	return r.good(want, plain)
}

func (r Rules) hasUntil() bool {
	for i := range r.Own {
		if r.Own[i].Status == Success {
			return true
		}
	}
	return false
}

// readsNotReady reports whether a rule of the user's says of what documents the
// operation is not done.
func (r Rules) readsNotReady() bool {
	return slices.ContainsFunc(r.Own, func(rule Rule) bool { return rule.Status == NotReady && rule.Expr.Uses().JSON })
}

// good judges a good answer that the rules should have decided and did not.
func (r Rules) good(want, otherwise string) Verdict {
	if want == "" {
		want = otherwise
	}
	if r.Strict {
		return Verdict{Status: Error, Reason: "unexpected state: " + want}
	}
	return Verdict{Status: NotReady, Reason: want}
}

// httpAnswer judges by the status code: RFC 9110 section 15, RFC 6585 section 4
// for 429, and the custom of sending 503 and 403 with Retry-After.
func (r Rules) httpAnswer(o *Observation, want string, expected bool) Verdict {
	code := *o.Code
	switch {
	case o.Following.Start && (o.Good() || o.Following.Next != ""):
		return r.started(o)
	case o.Good() && o.Doubt != "":
		return r.good(o.doubtWords(), codeText(code))
	case o.Good() && o.Following.Missing != "":
		return r.good(o.Following.Missing, codeText(code))
	case o.Good() && expected:
		if code == http.StatusAccepted && (o.Following.Monitor == MonitorLocation || o.Following.Monitor == MonitorResult) {
			r.Strict = false // the code itself says that it goes on: no unexpected state
		}
		return r.good(want, codeText(code))
	case code == http.StatusAccepted:
		return Verdict{Status: NotReady, Reason: codeText(code)}
	case o.Good() && o.Following.Monitor.ofOperation():
		return r.followed(o)
	case o.Good():
		return Verdict{Status: Success, Reason: codeText(code)}
	case o.ShouldRetry != nil && !*o.ShouldRetry:
		return Verdict{Status: Error, Reason: codeText(code) + ", and the server says not to ask again"}
	case o.RefusedForLoad():
		return throttled(codeText(code), o.Hint)
	case o.ShouldRetry != nil:
		return Verdict{Status: NotReady, Reason: codeText(code) + ", and the server says to ask again"}
	case refusesMethod(code):
		return Verdict{Status: Error, Reason: codeText(code)}
	case code >= 500, code == http.StatusRequestTimeout, code == http.StatusTooEarly,
		code == http.StatusNotModified:
		return Verdict{Status: NotReady, Reason: codeText(code)}
	case code == http.StatusSwitchingProtocols:
		return Verdict{Status: Error, Reason: codeText(code) + ", after which no HTTP answer comes"}
	case code >= 300 && code < 400:
		words := codeText(code) + ", which was not followed"
		if o.Following.Missing != "" {
			words += ": " + o.Following.Missing
		}
		return Verdict{Status: Error, Reason: words, Notes: o.Remarks}
	}
	return Verdict{Status: Error, Reason: codeText(code)}
}

// refusesMethod reports whether a code says that the server cannot do what the
// request asks for at all (RFC 9110 sections 15.6.2 and 15.6.6).
func refusesMethod(code int) bool {
	return code == http.StatusNotImplemented || code == http.StatusHTTPVersionNotSupported
}

// started judges a good answer to the request that starts the operation.
func (r Rules) started(o *Observation) Verdict {
	answered := "the start was answered with " + codeText(*o.Code)
	switch {
	case o.Following.Next != "":
		return Verdict{Status: NotReady, Reason: "started, now following " + o.Following.Next}
	case o.Following.Missing != "":
		return Verdict{Status: Error, Reason: answered + ", which leads nowhere: " + o.Following.Missing, Notes: o.Remarks}
	}
	return Verdict{
		Status: Error,
		Reason: answered + ", which names nothing to follow and which no rule decides",
		Advice: Advice{Code: AdviceFollow},
		Notes:  o.Remarks,
	}
}

// stuck reports whether there is nothing to look at after this answer: a start is
// sent once, but where it was refused for load.
func (o *Observation) stuck() bool {
	return o.Following.Start && o.Code != nil && o.Following.Next == "" && !o.RefusedForLoad()
}

func (o *Observation) doubtWords() string {
	if o.Following.Monitor == MonitorResult { // no condition is about it
		return o.Doubt
	}
	return o.Doubt + ": a condition can say that it is the answer"
}

// RefusedForLoad reports whether an HTTP answer says that the request was not
// served because of load: 429, 503 with a hint, and 403 with a hint, an exhausted
// rate limit or GitHub's words about its secondary one.
func (o *Observation) RefusedForLoad() bool {
	if o.Code == nil {
		return false
	}
	switch *o.Code {
	case http.StatusTooManyRequests:
		return true
	case http.StatusServiceUnavailable:
		return o.Hint != nil
	case http.StatusForbidden:
		return o.Hint != nil || o.Exhausted || bytes.Contains(bytes.ToLower(o.Body), []byte("secondary rate limit"))
	}
	return false
}

// throttled says why the next look must wait, and for how long if that is known.
func throttled(reason string, hint *Hint) Verdict {
	if hint == nil {
		return Verdict{Status: Throttled, Reason: reason}
	}
	reason += fmt.Sprintf(", %s asks for %s", hint.Source, hint.Wait)
	return Verdict{Status: Throttled, Reason: reason, TellsHint: true}
}

// codeText names a status code: "HTTP 503 Service Unavailable".
func codeText(code int) string {
	return strings.TrimSpace(fmt.Sprintf("HTTP %d %s", code, http.StatusText(code)))
}

// The exit codes by which a shell, env or sudo says that it could not run the
// command it was given (POSIX, Shell Command Language, section 2.8.2).
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// commandAnswer judges by the exit code and by what the command said on stderr.
func (r Rules) commandAnswer(o *Observation, want string, expected bool) Verdict {
	switch *o.Exit {
	case 0:
		if expected {
			return r.good(want, "exit code 0")
		}
		return Verdict{Status: Success, Reason: "exit code 0"}
	case exitNotExecutable, exitNotFound:
		return Verdict{Status: Error, Reason: exitText(o), Final: true}
	}
	if word := throttlingWord(o.Stderr); word != "" {
		return Verdict{Status: Throttled, Reason: exitText(o)}
	}
	return Verdict{Status: NotReady, Reason: exitText(o)}
}
