package status

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/detail"
	"github.com/pollcli/poll/internal/document"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/status/expr"
)

// Statement returns what the document of a good HTTP answer says about the
// operation, such as `.state is "running"`; "" if nothing.
func (o *Observation) Statement() string {
	if o.Good() && o.Code != nil {
		if s := o.reported().State; s.Stage != document.Unknown {
			return say(s)
		}
	}
	return ""
}

// followed judges a good answer from a URL that was followed, if no rule says what is
// final. Many APIs answer there with the operation itself, done or not: what the document
// says decides.
func (r Rules) followed(o *Observation) Verdict {
	env, said := Environment(o), o.reported()
	s := said.State
	isFlag := s.Raw == "true" || s.Raw == "false"
	isOpen := s.Stage >= document.Open || s.Stage == document.Unknown && said.Sign.Stage != document.Unknown
	switch {
	case o.Following.Monitor == detail.MonitorSeeOther && !isOpen: // so it is the result
		return Verdict{Status: Success, Reason: o.answer()}
	case s.Stage == document.Unknown && said.Sign.Stage != document.Unknown:
		return Verdict{Status: NotReady, Reason: say(said.Sign)}
	case s.Stage == document.Unknown:
		return r.unstated(o, env, said)
	case s.Stage == document.Failed:
		return Verdict{Status: Error, Reason: withDetail(say(s), env, s)}
	case s.Stage == document.Done && said.Wrong.Stage != document.Unknown:
		return Verdict{Status: Error, Reason: withDetail(say(s), env, s, said.Wrong)}
	case s.Stage == document.Done, s.Stage == document.Odd && o.Following.Monitor != detail.MonitorAzure && r.readsNotReady():
		return Verdict{Status: Success, Reason: say(s)}
	case s.Stage == document.Open && isFlag:
		return Verdict{Status: NotReady, Reason: say(s)}
	}
	return Verdict{Status: NotReady, Reason: say(s) + ", which is no known final state: a condition can say what is",
		Decision: detail.Decision{Advice: detail.Advice{Code: detail.AdviceFinalStates, Text: s.Final()}}}
}

// unstated judges a document that does not say how the operation is. What was created, or
// what a 303 led to, is the result then, unless something speaks against that: the page of a
// server under maintenance has no state either. A status document has to say it.
func (r Rules) unstated(o *Observation, env *expr.Env, said document.Report) Verdict {
	words, earlier, wrong := o.answer(), o.Following.Earlier, said.Wrong
	stateless := words + " without a state"
	if said.Other.Path != "" {
		stateless = say(said.Other) + ", which may be about something else"
	}
	text := bytes.TrimSpace(env.Doc.Bytes())
	isJSON, created := json.Valid(text), o.Following.Monitor == detail.MonitorCreated
	isPage := strings.Contains(strings.ToLower(o.Header.Get("Content-Type")), "html") // which was asked for
	isText := !isJSON && len(text) > 0 && !strings.ContainsRune(`{["`, rune(text[0])) && (text[0] != '<' || isPage)
	isProse := isText && !isPage && !bytes.ContainsRune(text, '\n') && len(bytes.Fields(text)) > 2
	isWrong := isJSON && wrong.Stage != document.Unknown
	// The URL returned 202 while the operation ran. A 200 with a result is its end.
	isEnd := o.Following.Accepted && *o.Code == http.StatusOK && o.Hint == nil && said.IsResult
	switch {
	case o.Following.Monitor == detail.MonitorAzure:
		return r.undecided(words + ", which does not say whether the operation is done: a condition can")
	case isWrong && earlier == "":
		return Verdict{Status: Error, Reason: withDetail(words, env, wrong, wrong)}
	case earlier != "" && (isWrong || !isJSON || !r.readsNotReady()):
		return r.undecided(stateless + ", and before it " + earlier + ": a condition can say what is final")
	case isProse: // "Export is being prepared"
		return r.undecided(words + " with a sentence: a condition can say that it is the end")
	case isText, len(text) == 0 && *o.Code == http.StatusNoContent:
		return Verdict{Status: Success, Reason: words}
	case !isJSON, string(text) == "null", string(text) == "false":
		return r.undecided(words + " without a document of the operation: a condition can say that it is the end")
	case isEnd:
		return Verdict{Status: Success, Reason: words + " after " + codeText(http.StatusAccepted)}
	case created, r.readsNotReady():
		return Verdict{Status: Success, Reason: words,
			Notes: []string{"the document says no state, and is taken for the result: a condition can say when it is done"}}
	}
	v := r.undecided(stateless + ": a condition can say when it is done")
	v.Advice.Code = detail.AdviceDone
	return v
}

// readsNotReady reports whether a rule of the user says which documents mean that the
// operation is not done.
func (r Rules) readsNotReady() bool {
	return slices.ContainsFunc(r.Own, func(rule Rule) bool { return rule.Status == NotReady && rule.Expr.Reads(".") })
}

// withDetail adds the message that the document has next to the state, or elsewhere, or else what is wrong.
func withDetail(words string, env *expr.Env, state document.Statement, wrong ...document.Statement) string {
	around := state.Path[:max(0, strings.LastIndex(state.Path, "."))]
	names := strings.NewReplacer("STATE", state.Path, "AROUND", around).Replace(besideState + elsewhere)
	for _, x := range valuesOf(names) {
		detail := firstText([]*expr.Expr{x}, env)
		isReply := document.Read([]byte(detail), 0).State.Stage == document.Done // such as "success"
		if detail != "" && !isReply {
			return words + ": " + detail
		}
	}
	for _, s := range wrong {
		words += ", but " + say(s)
	}
	return words
}

// Paths of messages about what went wrong: next to the state, and elsewhere in the document.
const (
	besideState = "STATE_msg STATE_message STATEMessage STATEReason AROUND.error.message AROUND.error.detail AROUND.error " +
		"AROUND.errorMessage AROUND.error_message AROUND.message AROUND.reason AROUND.diagnostics "
	elsewhere = ".error.message .error .error.code .errors[0].message .errors[0].title .errors[0] .fault.faultstring .exception .message"
)

// valuesOf compiles expressions that blanks separate, without those that are malformed.
func valuesOf(sources string) (values []*expr.Expr) {
	for source := range strings.FieldsSeq(sources) {
		if x, err := expr.CompileValue(source); err == nil {
			values = append(values, x)
		}
	}
	return values
}

// reported returns what the document of an answer says about its operation.
func (o *Observation) reported() document.Report {
	code := 0
	if o.Code != nil {
		code = *o.Code
	}
	return document.Read(Environment(o).Doc.Bytes(), code)
}

// concludes reports whether no started operation runs after an ERROR: the start was not sent, the response to the
// start rejects it, or a successful response reports that the operation has ended. A document reports that by a
// state that is done or failed or, where no rule matched, by an error. The document of the response to the start
// does not. A rule reports the end if the rule matches at any time, and the state of the document is not open.
func (o *Observation) concludes(v *Verdict) bool {
	start, code := o.Following.Start, 0
	if o.Code != nil {
		code = *o.Code
	}
	switch {
	case o.Following.Due, start && o.Failure == nil && code >= http.StatusBadRequest:
		return true
	case !o.Good():
		return false
	}
	said := document.Read(o.Body, code) // of an element, not of its list
	switch stage := said.State.Stage; {
	case stage == document.Open:
		return false
	case !start && (stage == document.Done || stage == document.Failed || v.Rule == "" && said.Wrong.Stage != document.Unknown):
		return true
	}
	return slices.ContainsFunc(v.answers, func(a answer) bool {
		timeless := *a.env
		timeless.Attempt, timeless.Elapsed, timeless.Unchanged = 0, 0, 0
		return a.rule.String() == v.Rule && a.rule.Expr.Eval(&timeless).Matched()
	})
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
func say(s document.Statement) string { return s.Path + " is " + excerpt([]byte(s.Raw)) }
