package coach

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/pollcli/poll/internal/document"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// notes adds notes to v: the match of a rule, or a SUCCESS without a rule, may be a mistake.
func notes(o *status.Observation, v *status.Verdict) {
	if v.Rule == "" {
		v.Notes = append(v.Notes, withoutRule(o, v)...)
		return
	}
	for _, one := range v.Results {
		if one.Matched() && one.Rule.String() == v.Rule {
			if one.Rule.Why == "" || len(v.Objects) < 2 { // explaining many objects takes long
				v.Notes = append(v.Notes, one.Explain().Notes...)
			}
			if v.Status == status.Success {
				v.Notes = append(v.Notes, aboutSuccess(o, v, one)...)
			}
			return
		}
	}
}

// aboutSuccess returns the notes about a matching rule for SUCCESS.
func aboutSuccess(o *status.Observation, v *status.Verdict, met status.Result) (notes []string) {
	if met.Rule.Preset == "" {
		notes = contradictions(o, met.Rule.Expr)
	}
	_, hasNext := document.NextLink(o.Header["Link"])
	if hasNext && o.Within == nil && (met.Rule.Expr.Reads("[]") || met.OfObject) { // RFC 8288, section 3.3
		notes, v.Advice.Code = append(notes, "the answer is one page of more, as its Link says"), status.AdviceEach
	}
	if o.Code != nil && *o.Code >= http.StatusBadRequest && met.Rule.Expr.Reads("error") && !met.Rule.Expr.Reads("status", ".") {
		notes = append(notes, fmt.Sprintf("the response is HTTP %d, and $error is only about the connection: $status has the code", *o.Code))
	}
	return append(notes, unmet(v.Results, met)...)
}

// unmet returns notes about the user's other conditions for SUCCESS that are false. Users of some tools expect
// several conditions to mean "and". Conditions on the same subject as the matching condition get no note.
func unmet(results []status.Result, met status.Result) (notes []string) {
	for _, one := range results {
		if one.Rule.Status != status.Success || one.Rule.Origin != met.Rule.Origin || one.Rule.Preset != "" {
			continue
		}
		if one.Late {
			one.Result = one.Rule.Expr.Eval(one.Env)
		}
		if one.Tri != expr.False || !one.Late && !one.Evaluated {
			continue
		}
		subject, _, _ := strings.Cut(one.Explain().Lines[0], " is ")
		if !strings.HasPrefix(met.Explain().Lines[0], subject+" is ") {
			notes = append(notes, one.Rule.String()+" is false: several mean or, and one with and needs both")
		}
	}
	return notes
}

// withoutRule returns the notes about a verdict that no rule decided. It may set v.Advice.
func withoutRule(o *status.Observation, v *status.Verdict) (notes []string) {
	isLed := o.Code != nil && (*o.Code/100 == 3 || *o.Code == http.StatusUnauthorized || o.Start && o.Good()) // the remarks name the URL or the reason
	switch {
	case v.Status == status.Error && isLed:
		return o.Remarks
	case v.Advice.Code == status.AdviceStateless:
		return []string{"the document says no state, and is taken for the result: a condition can say when it is done"}
	case v.Status != status.Success || !o.Good() || meaning.Of(o).Monitor != meaning.MonitorGiven:
		return nil
	}
	if _, page, isMoved := strings.Cut(v.Reason, " after a redirect to "); isMoved && loginPage().MatchString(page) {
		return []string{page + " is a page to log in: of what is behind it nothing is known"}
	}
	said := meaning.Reported(o)
	for _, s := range []document.Statement{said.State, said.Sign, said.Wrong} {
		if s.Stage >= document.Open {
			v.Advice.Code = status.AdviceDone
			return []string{meaning.Say(s) + ", and any good answer is a SUCCESS, since no condition says what is done"}
		}
	}
	return nil
}

// loginPage matches the path of a login page.
var loginPage = words.Pattern(`(?i)\b(?:log-?in|sign-?in|sso|saml|oauth2?|auth)\b`)

// contradictions returns notes about a document that contradicts a condition for SUCCESS, such as ".state is
// "failed", and .done is true all the same".
//
// A failed state contradicts each condition that does not name the state. An open state contradicts a
// condition that tests little, see testsLittle. An error contradicts such a condition, too. An error also
// contradicts a condition if the document reports a done operation, or if the condition reads the state or the
// object that contains the error. A failed state of the result counts as an error.
func contradictions(o *status.Observation, condition *expr.Expr) (notes []string) {
	if o.Within != nil || o.Kind == status.KindTCP {
		return nil
	}
	text, said := strings.ToLower(condition.String()), meaning.Reported(o)
	state, isLittle := said.State, !condition.Reads(".", "body", "stdout") || testsLittle().MatchString(text)
	isNamed := state.Path != "" && strings.Contains(text, strings.ToLower(state.Path)+" ")
	if said.Wrong.Path == "" && said.Result.Stage == document.Failed {
		said.Wrong = said.Result
	}
	object := strings.ToLower(said.Aside.Path[:max(0, strings.LastIndex(said.Aside.Path, "."))])
	isBeside := object != "" && said.Wrong.Path == "" && strings.Contains(text, object+".")
	if isBeside {
		said.Wrong = said.Aside
	}
	isWrong := o.Good() && state.Stage != document.Failed && (state.Stage == document.Done || isNamed || isLittle || isBeside)
	if isWrong && !strings.Contains(text, strings.ToLower(said.Wrong.Path)) {
		state = said.Wrong
	}
	if state.Path == "" || strings.Contains(state.Path, "[") || strings.Contains(text, strings.ToLower(strings.Trim(state.Raw, `"`))) {
		return nil
	}
	if state.Stage == document.Failed || state.Stage == document.Open && !isNamed && isLittle {
		return []string{meaning.Say(state) + ", and " + condition.String() + " is true all the same"}
	}
	return nil
}

// testsLittle matches a condition that only tests whether a member exists, or is 100.
var testsLittle = words.Pattern(`^(?:!|not )?\s*\(?[\w.]+\)?$|^[\w.]+ *[!=]= *null$|^[\w.]+ *[=>]= *100$`)
