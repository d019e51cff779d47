package meaning

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// Stated returns the state of the operation in the document of a successful HTTP response, such as `.state
// is "running"`. It returns "" without a known state.
func Stated(o *status.Observation) string {
	if o.Good() && o.Code != nil {
		if s := Reported(o).State; s.Stage != Unknown {
			return s.String()
		}
	}
	return ""
}

// Reported returns the report on an operation from the document of a response.
func Reported(o *status.Observation) Report {
	code := 0
	if o.Code != nil {
		code = *o.Code
	}
	return read(status.Environment(o).Doc.Bytes(), code)
}

// followed returns the verdict for a successful response from a followed URL. The document decides, since many
// APIs return the operation itself from that URL, done or not. isNamed means that rules match the documents of
// running operations, so an unknown state counts as final.
func (h HTTP) followed(o *status.Observation, said Report, isNamed bool) status.Verdict {
	s := said.State
	isOpen := s.Stage >= Open || s.Stage == Unknown && said.Sign.Stage != Unknown
	switch {
	case h.Monitor == MonitorSeeOther && !isOpen: // the redirect led to the result
		return status.Verdict{Status: status.Success, Reason: h.words(*o.Code)}
	case s.Stage == Unknown && said.Sign.Stage != Unknown:
		return notReady(said.Sign.String())
	case s.Stage == Unknown:
		return h.unstated(o, said, isNamed)
	case s.Stage == Failed:
		return status.Verdict{Status: status.Error, Reason: withDetail(o, s.String(), s)}
	case s.Stage == Done && said.Wrong.Stage != Unknown:
		return status.Verdict{Status: status.Error, Reason: withDetail(o, s.String(), s, said.Wrong)}
	case s.Stage == Done, s.Stage == Odd && h.Monitor != MonitorAzure && isNamed:
		return status.Verdict{Status: status.Success, Reason: s.String()}
	case s.Stage == Open && (s.Raw == "true" || s.Raw == "false"):
		return notReady(s.String())
	}
	v := notReady(s.String() + ", which is no known final state: a condition can say what is")
	v.Advice = status.Advice{Code: status.AdviceFinalStates, Text: s.Final()}
	return v
}

// unstated returns the verdict for a document without a state of the operation. A created object, or the page
// after a 303, is the result if no fact contradicts that: a maintenance page has no state, too. A status
// document must name a state. Undecided verdicts have the zero Status, see [status.Meaning].
func (h HTTP) unstated(o *status.Observation, said Report, isNamed bool) status.Verdict {
	words, earlier := h.words(*o.Code), h.Earlier
	undecided := func(why string) status.Verdict { return status.Verdict{Reason: why} }
	success := status.Verdict{Status: status.Success, Reason: words}
	stateless := words + " without a state"
	if said.Other.Path != "" {
		stateless = said.Other.String() + ", which may be about something else"
	}
	text := bytes.TrimSpace(status.Environment(o).Doc.Bytes())
	isJSON := json.Valid(text)
	isPage := strings.Contains(strings.ToLower(o.Header.Get("Content-Type")), "html") // an HTML page is a valid result
	isText := !isJSON && len(text) > 0 && !strings.ContainsRune(`{["`, rune(text[0])) && (text[0] != '<' || isPage)
	isProse := isText && !isPage && !bytes.ContainsRune(text, '\n') && len(bytes.Fields(text)) > 2
	isWrong := isJSON && said.Wrong.Stage != Unknown
	// The URL returned 202 while the operation ran. A 200 with a result then means the end of the operation.
	isEnd := h.Accepted && *o.Code == http.StatusOK && o.Hint == nil && said.IsResult
	switch {
	case h.Monitor == MonitorAzure:
		return undecided(words + ", which does not say whether the operation is done: a condition can")
	case isWrong && earlier == "":
		return status.Verdict{Status: status.Error, Reason: withDetail(o, words, said.Wrong, said.Wrong)}
	case earlier != "" && (isWrong || !isJSON || !isNamed):
		return undecided(stateless + ", and before it " + earlier + ": a condition can say what is final")
	case isProse: // "Export is being prepared"
		return undecided(words + " with a sentence: a condition can say that it is the end")
	case isText, len(text) == 0 && *o.Code == http.StatusNoContent:
		return success
	case !isJSON, string(text) == "null", string(text) == "false":
		return undecided(words + " without a document of the operation: a condition can say that it is the end")
	case isEnd:
		success.Reason += " after " + codeText(http.StatusAccepted)
		return success
	case h.Monitor == MonitorCreated, isNamed:
		success.Advice.Code = status.AdviceStateless
		return success
	}
	v := undecided(stateless + ": a condition can say when it is done")
	v.Advice.Code = status.AdviceDone
	return v
}

// withDetail returns words with the document's message. It searches next to state, then elsewhere in the
//
//	Without a message it adds the statements in wrong.
func withDetail(o *status.Observation, words string, state Statement, wrong ...Statement) string {
	env := status.Environment(o)
	around := state.Path[:max(0, strings.LastIndex(state.Path, "."))]
	names := strings.NewReplacer("STATE", state.Path, "AROUND", around).Replace(besideState + elsewhere)
	for source := range strings.FieldsSeq(names) {
		x, err := expr.CompileValue(source)
		if err != nil { // a name in the path needs quotes
			continue
		}
		detail := status.FirstText([]*expr.Expr{x}, env)
		isReply := read([]byte(detail), 0).State.Stage == Done // such as "success"
		if detail != "" && !isReply {
			return words + ": " + detail
		}
	}
	for _, s := range wrong {
		words += ", but " + s.String()
	}
	return words
}

// Paths of error messages: next to the state, and elsewhere in the
const (
	besideState = "STATE_msg STATE_message STATEMessage STATEReason AROUND.error.message AROUND.error.detail AROUND.error " +
		"AROUND.errorMessage AROUND.error_message AROUND.message AROUND.reason AROUND.diagnostics "
	elsewhere = ".error.message .error .error.code .errors[0].message .errors[0].title .errors[0] .fault.faultstring .exception .message"
)

// Concludes reports whether an ERROR means that no started operation is running. That holds if the start
// request was not sent or was rejected, or if a successful response reports the end. A document reports the
// end by a done or failed state or, without a matching rule, by an error. The document of the response to the
// start does not count. A rule reports the end if it does not depend on the time and the document's state is
// not open.
func Concludes(o *status.Observation, v status.Verdict) bool {
	code := 0
	if o.Code != nil {
		code = *o.Code
	}
	switch {
	case v.Status != status.Error:
		return false
	case Of(o).Due, o.Start && o.Failure == nil && code >= http.StatusBadRequest:
		return true
	case !o.Good():
		return false
	}
	said := read(o.Body, code) // the document of the element, not of its list
	isEnd := []Stage{Done, Failed}
	switch stage := said.State.Stage; {
	case stage == Open:
		return false
	case !o.Start && (slices.Contains(isEnd, stage) || v.Rule == "" && said.Wrong.Stage != Unknown):
		return true
	}
	return slices.ContainsFunc(v.Results, func(one status.Result) bool {
		timeless := *one.Env
		timeless.Attempt, timeless.Elapsed, timeless.Unchanged = 0, 0, 0
		return one.Rule.String() == v.Rule && one.Rule.Expr.Eval(&timeless).Matched()
	})
}
