package status

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pollcli/poll/internal/detail"
	"github.com/pollcli/poll/internal/document"
	"github.com/pollcli/poll/internal/words"
)

// unmatched judges an observation that no rule decided. In words, want says why the rules
// for SUCCESS did not match.
func (r Rules) unmatched(o *Observation, want string) Verdict {
	hasCondition := r.Preset != nil ||
		slices.ContainsFunc(r.Own, func(rule Rule) bool { return rule.Status == Success })
	plain := "the probe reports no failure"
	switch f := o.Failure; {
	case f != nil && f.Kind == FailureThrottled:
		return throttled(f.Reason, o.Hint)
	case f != nil:
		return Verdict{Status: NotReady, Reason: f.Reason, Decision: detail.Decision{Advice: f.Advice}}
	case o.Code != nil && (o.Good() || o.Following.Start && o.Following.Next != "" && !o.isStray()):
		return r.goodHTTP(o, want, hasCondition)
	case o.Code != nil:
		return badHTTP(o)
	case o.Exit != nil && !o.Good():
		return badExit(o)
	case o.Exit != nil:
		plain = fmt.Sprintf("exit code %d", *o.Exit)
	case o.Kind == KindTCP:
		plain = "connected"
	}
	if !hasCondition && o.Good() {
		return o.unconditional(plain)
	}
	return r.undecided(cmp.Or(want, plain))
}

// undecided judges a good answer that the rules should have decided but did not.
func (r Rules) undecided(want string) Verdict {
	if r.Strict {
		return Verdict{Status: Error, Reason: "unexpected state: " + want}
	}
	return Verdict{Status: NotReady, Reason: want}
}

// goodHTTP judges an answer that is good, or leads from the start to the operation.
func (r Rules) goodHTTP(o *Observation, want string, hasCondition bool) Verdict {
	words, monitor := o.answer(), o.Following.Monitor
	want = cmp.Or(want, words)
	running := *o.Code == http.StatusAccepted && (!hasCondition || monitor == detail.MonitorLocation || monitor == detail.MonitorResult || monitor == detail.MonitorSeeOther)
	switch {
	case o.Following.Start:
		return started(o)
	case o.Doubt != "" && monitor != detail.MonitorResult: // no condition applies to a result
		return r.undecided(o.Doubt + ": a condition can say that it is the answer")
	case o.Doubt != "" || o.Following.Missing != "":
		return r.undecided(cmp.Or(o.Doubt, o.Following.Missing))
	case o.isStray():
		return r.undecided(want + ", which says nothing of the URL that was given")
	case running: // the code itself says so
		return Verdict{Status: NotReady, Reason: want}
	case hasCondition:
		return r.undecided(want)
	case monitor != detail.MonitorGiven && monitor != detail.MonitorResult:
		return r.followed(o)
	}
	return o.unconditional(words)
}

// unconditional judges a good answer where no condition says what is done.
func (o *Observation) unconditional(words string) Verdict {
	v := Verdict{Status: Success, Reason: words}
	if _, page, isMoved := strings.Cut(words, " after a redirect to "); isMoved && loginPage().MatchString(page) {
		v.Notes = append(v.Notes, page+" is a page to log in: of what is behind it nothing is known")
	}
	said := o.reported()
	for _, s := range []document.Statement{said.State, said.Sign, said.Wrong} {
		if s.Stage >= document.Open && o.Following.Monitor == detail.MonitorGiven && v.Notes == nil {
			v.Notes = []string{say(s) + ", and any good answer is a SUCCESS, since no condition says what is done"}
			v.Advice.Code = detail.AdviceDone
		}
	}
	return v
}

// loginPage matches the path of a page on which people log in.
var loginPage = words.Pattern(`(?i)\b(?:log-?in|sign-?in|sso|saml|oauth2?|auth)\b`)

// badHTTP judges by the status code: RFC 9110 section 15, RFC 6585 section 4 for
// 429, and the custom of sending 503 and 403 with Retry-After.
func badHTTP(o *Observation) Verdict {
	v := Verdict{Status: Error, Reason: o.answer()}
	switch code := *o.Code; {
	case o.ShouldRetry != nil && !*o.ShouldRetry:
		v.Reason += ", and the server says not to ask again"
	case o.RefusedForLoad():
		return throttled(v.Reason, o.Hint)
	case code >= 200 && code < 300:
		v.Status = NotReady
		v.Reason += ", which is not accepted"
	case o.ShouldRetry != nil:
		v.Status = NotReady
		v.Reason += ", and the server says to ask again"
	case code == http.StatusNotImplemented, code == http.StatusHTTPVersionNotSupported: // the server cannot do it at all
	case o.Renewed:
		v.Status = NotReady
		v.Reason += ", and the credentials have changed since"
	case code == http.StatusNotFound && o.Following.Fresh && o.Following.Monitor != detail.MonitorGiven:
		v.Status = NotReady
		v.Reason += ", and it may not be there yet"
	case o.Page > 1 && slices.Contains([]int{http.StatusNotFound, http.StatusGone, http.StatusRequestedRangeNotSatisfiable}, code):
		v.Status = NotReady
		v.Reason += ", and the list may have become shorter"
	case code >= 500, code == http.StatusRequestTimeout, code == http.StatusTooEarly, code == http.StatusNotModified:
		v.Status = NotReady
	case code == http.StatusSwitchingProtocols:
		v.Reason += ", after which no HTTP answer comes"
	case code >= 300 && code < 400:
		v.Reason += ", which was not followed"
		if o.Following.Missing != "" {
			v.Reason += ": " + o.Following.Missing
		}
		v.Notes = o.Remarks
	case code == http.StatusUnauthorized:
		v.Notes = o.Remarks // such as why the credentials could not be renewed
	}
	return v
}

// started judges a good answer to the request that starts the operation.
func started(o *Observation) Verdict {
	answered := "the start was answered with " + codeText(*o.Code)
	switch f := o.Following; {
	case f.Next != "":
		return Verdict{Status: NotReady, Reason: "started, now following " + f.Next}
	case f.Missing != "":
		return Verdict{Status: Error, Reason: answered + ", which poll cannot follow: " + f.Missing, Notes: o.Remarks}
	}
	return Verdict{Status: Error, Reason: answered + ": it names no URL to follow, and no condition matches it",
		Decision: detail.Decision{Advice: o.followAdvice()}, Notes: o.Remarks}
}

// followAdvice is advice to name the URL to follow, such as one that the response names.
func (o *Observation) followAdvice() detail.Advice {
	urls := document.URLs(o.Body, "")
	if o.Header.Get("Location") != "" {
		urls = append(urls, "'$header.Location'")
	}
	if id := document.ID(o.Body); len(urls) == 0 && id != "" {
		urls = append(urls, "'/PATH/{"+id+"}'")
	}
	return detail.Advice{Code: detail.AdviceFollow, Text: strings.Join(urls[:min(3, len(urls))], " or ")}
}

// leadsNowhere reports whether the answer to the start leaves nothing to look at. A start
// refused for load, or for credentials that were renewed since, is sent again.
func (o *Observation) leadsNowhere() bool {
	f := &o.Following
	return f.Start && o.Code != nil && f.Next == "" && !o.RefusedForLoad() && !o.Renewed
}

// RefusedForLoad reports whether an HTTP answer says that the request was not
// served because of load: 429, 503 with a hint or any Retry-After, and 403 with these, an
// exhausted rate limit or GitHub's words about its secondary one.
func (o *Observation) RefusedForLoad() bool {
	if o.Code == nil || o.Good() {
		return false
	}
	later := o.Hint != nil || o.Header.Get("Retry-After") != ""
	switch *o.Code {
	case http.StatusTooManyRequests:
		return true
	case http.StatusServiceUnavailable:
		return later
	case http.StatusForbidden:
		return later || o.Exhausted || bytes.Contains(bytes.ToLower(o.Body), []byte("secondary rate limit"))
	}
	return false
}

// throttled judges an answer that asks for fewer attempts.
func throttled(reason string, hint *Hint) Verdict {
	if hint == nil {
		return Verdict{Status: Throttled, Reason: reason}
	}
	reason += fmt.Sprintf(", %s asks for %s", hint.Source, words.Duration(hint.Wait))
	return Verdict{Status: Throttled, Reason: reason, Decision: detail.Decision{TellsHint: true}}
}

// answer names the status code, and the place to which a redirect led.
func (o *Observation) answer() string {
	if o.Redirect == "" {
		return codeText(*o.Code)
	}
	return codeText(*o.Code) + " after a redirect to " + o.Redirect
}

// codeText names a status code: "HTTP 503 Service Unavailable".
func codeText(code int) string {
	return strings.TrimSpace("HTTP " + strconv.Itoa(code) + " " + http.StatusText(code))
}

// The exit codes of a shell, env or sudo that could not run the command it was given
// (POSIX, Shell Command Language, section 2.8.2).
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// badExit judges by an exit code other than 0, and by stderr.
func badExit(o *Observation) Verdict {
	v := Verdict{Status: NotReady, Reason: exitText(o, o.Stderr)}
	switch wrong := calledWrongly(o.Stderr); {
	case *o.Exit == 0:
		v.Reason = "exit code 0, which is not accepted"
	case *o.Exit == exitNotExecutable, *o.Exit == exitNotFound:
		v.Status, v.Final = Error, true
	case wrong != nil:
		v.Status, v.Final = Error, true
		v.Reason = exitText(o, wrong) + ": the command was called wrongly"
	case patterns()["throttled"].Match(o.Stderr):
		v.Status = Throttled
	}
	return v
}

// azureState is the state of the status document of an Azure operation, or of a resource.
const azureState = `(.status // .properties.provisioningState // .provisioningState)`

// azureRules are the rules for the status document behind Azure-AsyncOperation and
// Operation-Location: those of the preset azure-lro, without the rule that a resource with no state
// is at rest.
var azureRules = sync.OnceValue(func() (rules []Rule) {
	for _, r := range []struct {
		status         Status
		condition, why string
	}{
		{Error, azureState + ` =~ "(?i)^(failed|canceled)$"`, ""},
		{Error, `.properties.provisioningState =~ "(?i)^(failed|canceled)$"`, ""},
		{Error, azureState + ` =~ "(?i)^succeeded$" and (.error | length) > 0`, "succeeded with an error"},
		{Success, azureState + ` =~ "(?i)^succeeded$" and (.properties.provisioningState // .status // .provisioningState) =~ "(?i)^succeeded$"` +
			` and (.error == null or (.error | length) == 0)`, ""},
		{NotReady, azureState + ` =~ "."`, ""},
	} {
		rule, _ := NewRule(r.status, r.condition) // which the tests compile
		rule.Origin, rule.Preset, rule.Why = "preset azure-lro", "azure-lro", r.why
		if r.status == Error {
			rule.Detail = valuesOf(".error.message .error.code")
		}
		rules = append(rules, rule)
	}
	return rules
})
