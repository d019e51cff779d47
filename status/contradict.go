package status

import (
	"strings"

	"github.com/pollcli/poll/internal/document"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/status/expr"
)

// reported returns what the document of a response reports about its operation.
func (o *Observation) reported() document.Report {
	code := 0
	if o.Code != nil {
		code = *o.Code
	}
	return document.Read(Environment(o).Doc.Bytes(), code)
}

// contradictions returns notes about a document that contradicts a condition for SUCCESS, such as
// ".state is "failed", and .done is true all the same". A failed state contradicts each condition
// that does not name the state. An open state contradicts a condition that tests little. An error
// contradicts such a condition, too, and each condition if the document reports that the operation is done,
// or if the condition reads the state or the object in which the error is. A failed state of the result is an
// error.
func (o *Observation) contradictions(condition *expr.Expr) (notes []string) {
	if o.Within != nil || o.Kind == KindTCP {
		return nil
	}
	text, said := strings.ToLower(condition.String()), o.reported()
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
		return []string{say(state) + ", and " + condition.String() + " is true all the same"}
	}
	return nil
}

// testsLittle matches a condition that only tests whether a member is there, or is 100.
var testsLittle = words.Pattern(`^(?:!|not )?\s*\(?[\w.]+\)?$|^[\w.]+ *[!=]= *null$|^[\w.]+ *[=>]= *100$`)

// say puts what a document says into words, such as `.state is "running"`.
func say(s document.Statement) string { return s.Path + " is " + words.Excerpt([]byte(s.Raw)) }

// unconditional adds notes to SUCCESS of a successful response where no condition says what is done.
func (o *Observation) unconditional(v Verdict) Verdict {
	if _, page, isMoved := strings.Cut(v.Reason, " after a redirect to "); isMoved && loginPage().MatchString(page) {
		v.Notes = append(v.Notes, page+" is a page to log in: of what is behind it nothing is known")
	}
	said := o.reported()
	for _, s := range []document.Statement{said.State, said.Sign, said.Wrong} {
		if s.Stage >= document.Open && v.Notes == nil {
			v.Notes = []string{say(s) + ", and any good answer is a SUCCESS, since no condition says what is done"}
			v.Advice.Code = AdviceDone
		}
	}
	return v
}

// loginPage matches the path of a page on which people log in.
var loginPage = words.Pattern(`(?i)\b(?:log-?in|sign-?in|sso|saml|oauth2?|auth)\b`)
