package meaning

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/document"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// Statement returns the state of the operation in the document of a successful HTTP response, such as `.state
// is "running"`. It returns "" without a known state.
func Statement(o *status.Observation) string {
	if o.Good() && o.Code != nil {
		if s := Reported(o).State; s.Stage != document.Unknown {
			return Say(s)
		}
	}
	return ""
}

// Reported returns the report on an operation from the document of a response.
func Reported(o *status.Observation) document.Report {
	code := 0
	if o.Code != nil {
		code = *o.Code
	}
	return document.Read(status.Environment(o).Doc.Bytes(), code)
}

// Say returns s as text, such as `.state is "running"`.
func Say(s document.Statement) string { return s.Path + " is " + words.Excerpt([]byte(s.Raw)) }

// followed returns the verdict for a successful response from a followed URL. The document decides, since many
// APIs return the operation itself from that URL, done or not. isNamed means that rules match the documents of
// running operations, so an unknown state counts as final.
func (h HTTP) followed(o *status.Observation, said document.Report, isNamed bool) status.Verdict {
	s := said.State
	isOpen := s.Stage >= document.Open || s.Stage == document.Unknown && said.Sign.Stage != document.Unknown
	switch {
	case h.Monitor == MonitorSeeOther && !isOpen: // the redirect led to the result
		return status.Verdict{Status: status.Success, Reason: h.words(*o.Code)}
	case s.Stage == document.Unknown && said.Sign.Stage != document.Unknown:
		return notReady(Say(said.Sign))
	case s.Stage == document.Unknown:
		return h.unstated(o, said, isNamed)
	case s.Stage == document.Failed:
		return status.Verdict{Status: status.Error, Reason: withDetail(o, Say(s), s)}
	case s.Stage == document.Done && said.Wrong.Stage != document.Unknown:
		return status.Verdict{Status: status.Error, Reason: withDetail(o, Say(s), s, said.Wrong)}
	case s.Stage == document.Done, s.Stage == document.Odd && h.Monitor != MonitorAzure && isNamed:
		return status.Verdict{Status: status.Success, Reason: Say(s)}
	case s.Stage == document.Open && (s.Raw == "true" || s.Raw == "false"):
		return notReady(Say(s))
	}
	v := notReady(Say(s) + ", which is no known final state: a condition can say what is")
	v.Advice = status.Advice{Code: status.AdviceFinalStates, Text: s.Final()}
	return v
}

// unstated returns the verdict for a document without a state of the operation. A created object, or the page
// after a 303, is the result if no fact contradicts that: a maintenance page has no state, too. A status
// document must name a state. Undecided verdicts have the zero Status, see [status.Meaning].
func (h HTTP) unstated(o *status.Observation, said document.Report, isNamed bool) status.Verdict {
	words, earlier := h.words(*o.Code), h.Earlier
	undecided := func(why string) status.Verdict { return status.Verdict{Reason: why} }
	success := status.Verdict{Status: status.Success, Reason: words}
	stateless := words + " without a state"
	if said.Other.Path != "" {
		stateless = Say(said.Other) + ", which may be about something else"
	}
	text := bytes.TrimSpace(status.Environment(o).Doc.Bytes())
	isJSON := json.Valid(text)
	isPage := strings.Contains(strings.ToLower(o.Header.Get("Content-Type")), "html") // an HTML page is a valid result
	isText := !isJSON && len(text) > 0 && !strings.ContainsRune(`{["`, rune(text[0])) && (text[0] != '<' || isPage)
	isProse := isText && !isPage && !bytes.ContainsRune(text, '\n') && len(bytes.Fields(text)) > 2
	isWrong := isJSON && said.Wrong.Stage != document.Unknown
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
// document. Without a message it adds the statements in wrong.
func withDetail(o *status.Observation, words string, state document.Statement, wrong ...document.Statement) string {
	env := status.Environment(o)
	around := state.Path[:max(0, strings.LastIndex(state.Path, "."))]
	names := strings.NewReplacer("STATE", state.Path, "AROUND", around).Replace(besideState + elsewhere)
	for source := range strings.FieldsSeq(names) {
		x, err := expr.CompileValue(source)
		if err != nil { // a name in the path needs quotes
			continue
		}
		detail := status.FirstText([]*expr.Expr{x}, env)
		isReply := document.Read([]byte(detail), 0).State.Stage == document.Done // such as "success"
		if detail != "" && !isReply {
			return words + ": " + detail
		}
	}
	for _, s := range wrong {
		words += ", but " + Say(s)
	}
	return words
}

// Paths of error messages: next to the state, and elsewhere in the document.
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
	said := document.Read(o.Body, code) // the document of the element, not of its list
	isEnd := []document.Stage{document.Done, document.Failed}
	switch stage := said.State.Stage; {
	case stage == document.Open:
		return false
	case !o.Start && (slices.Contains(isEnd, stage) || v.Rule == "" && said.Wrong.Stage != document.Unknown):
		return true
	}
	return slices.ContainsFunc(v.Results, func(one status.Result) bool {
		timeless := *one.Env
		timeless.Attempt, timeless.Elapsed, timeless.Unchanged = 0, 0, 0
		return one.Rule.String() == v.Rule && one.Rule.Expr.Eval(&timeless).Matched()
	})
}
