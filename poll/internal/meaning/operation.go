package meaning

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// StateText returns the state of the operation in a successful HTTP response, such as `.state is "running"`. It
// returns "" for any other observation, and if the document has no known state.
func StateText(o *status.Observation) string {
	if o.Good() && o.Code != nil {
		if s := ReportOf(o).State; s.Stage != Unknown {
			return s.String()
		}
	}
	return ""
}

// ReportOf returns the statements about an operation in the document of the response o.
func ReportOf(o *status.Observation) Report {
	return readReport(status.Environment(o).Doc.Bytes(), o.Code)
}

// followedVerdict returns the verdict for a successful response from a followed URL. The verdict depends on
// report, the statements in the document, because many APIs return the operation from that URL both before and
// after it is done. isNamed is true if the user has rules for the documents of running operations: a state that
// is neither open nor failed, even an unknown word, then counts as final.
func (h HTTP) followedVerdict(o *status.Observation, report Report, isNamed bool) status.Verdict {
	s := report.State
	isOpen := s.Stage >= Open || s.Stage == Unknown && report.Sign.Stage != Unknown
	switch {
	case h.Monitor == MonitorSeeOther && !isOpen: // the redirect led to the result
		return status.Verdict{Status: status.Success, Reason: h.words(*o.Code)}
	case s.Stage == Unknown && report.Sign.Stage != Unknown:
		return notReady(report.Sign.String())
	case s.Stage == Unknown:
		return h.statelessVerdict(o, report, isNamed)
	case s.Stage == Failed:
		return status.Verdict{Status: status.Error, Reason: withDetail(o, s.String(), s)}
	case s.Stage == Done && report.Wrong.Stage != Unknown:
		return status.Verdict{Status: status.Error, Reason: withDetail(o, s.String(), s, report.Wrong)}
	case s.Stage == Done, s.Stage == Odd && h.Monitor != MonitorAzure && isNamed:
		return status.Verdict{Status: status.Success, Reason: s.String()}
	case s.Stage == Open && s.Raw[0] != '"':
		return notReady(s.String())
	}
	v := notReady(s.String() + ", which is not a known final state: a condition can name the final state")
	v.Hints = []status.Hint{{Kind: status.HintFinalStates, Text: s.Final()}}
	return v
}

// statelessVerdict returns the verdict for a document without a state of the operation. Such a document from
// most URLs counts as the result if it is a created object or text, and nothing contradicts that. But a
// maintenance page also lacks a state, and a status document must have a state. If the document alone decides
// nothing, the verdict has the zero Status (see [status.Meaning]).
func (h HTTP) statelessVerdict(o *status.Observation, report Report, isNamed bool) status.Verdict {
	words, earlier := h.words(*o.Code), h.Earlier
	undecided := func(why string) status.Verdict { return status.Verdict{Reason: why} }
	success := status.Verdict{Status: status.Success, Reason: words}
	stateless := words + " without a state"
	if report.Other.Path != "" {
		stateless = report.Other.String() + ", which may be about something else"
	}
	text := bytes.TrimSpace(status.Environment(o).Doc.Bytes())
	isJSON := json.Valid(text)
	isPage := strings.Contains(strings.ToLower(o.Header.Get("Content-Type")), "html") // an HTML page can be the result
	isText := !isJSON && len(text) > 0 && !strings.ContainsRune(`{["`, rune(text[0])) && (text[0] != '<' || isPage)
	isProse := isText && !isPage && !bytes.ContainsRune(text, '\n') && (len(bytes.Fields(text)) > 2 || hasDoubtfulWord(string(text)))
	isWrong := isJSON && report.Wrong.Stage != Unknown
	// The URL returned a 202 while the operation was running. A 200 with a result then means that the operation has
	// ended.
	isEnd := h.Accepted && *o.Code == http.StatusOK && o.RetryAfter == nil && report.IsResult
	switch {
	case h.Monitor == MonitorAzure:
		return undecided(words + ", which does not show whether the operation is done: a condition can describe the end")
	case isWrong && earlier == "":
		return status.Verdict{Status: status.Error, Reason: withDetail(o, words, report.Wrong, report.Wrong)}
	case earlier != "" && (isWrong || !isJSON || !isNamed):
		return undecided(stateless + ", and before it " + earlier + ": a condition can name the final state")
	case isProse: // such as "Export is being prepared" or "state: running"
		return undecided(words + " with a text: a condition can describe the end")
	case isText, len(text) == 0 && *o.Code == http.StatusNoContent:
		return success
	case !isJSON, string(text) == "null", string(text) == "false":
		return undecided(words + " without a document of the operation: a condition can describe the end")
	case isEnd:
		success.Reason += " after " + codeText(http.StatusAccepted)
		return success
	case h.Monitor == MonitorCreated, isNamed:
		success.Hints = status.Notes("the document has no state, so poll takes the document as the result: a condition can describe the end")
		return success
	}
	v := undecided(stateless + ": a condition can describe the end")
	v.Hints = []status.Hint{{Kind: status.HintDone}}
	return v
}

// withDetail returns the parameter text, followed by a colon and the document's error message. It prefers a message
// next to state, but also searches other members. If the document has no message, withDetail appends the statements
// in wrong instead.
func withDetail(o *status.Observation, text string, state Statement, wrong ...Statement) string {
	env := status.Environment(o)
	around := state.Path[:max(0, strings.LastIndex(state.Path, "."))]
	names := strings.NewReplacer("STATE", state.Path, "AROUND", around).Replace(besideState + elsewhere)
	for source := range strings.FieldsSeq(names) {
		x, err := expr.CompileValue(source)
		if err != nil { // state.Path contains a name that needs quotes
			continue
		}
		detail := ""
		if v := x.Eval(env).Value(); v.Type == "string" {
			detail = words.Excerpt([]byte(strings.Join(strings.Fields(v.Text()), " ")))
		}
		isReply := readReport([]byte(detail), nil).State.Stage == Done // the message itself reports success
		if detail != "" && !isReply {
			return text + ": " + detail
		}
	}
	for _, s := range wrong {
		text += ", but " + s.String()
	}
	return text
}

// These are the paths of members that may hold an error message. The word STATE stands for the path of the state, and
// AROUND for the path of the object that holds the state.
const (
	besideState = "STATE_msg STATE_message STATEMessage STATEReason AROUND.error.message AROUND.error.detail AROUND.error " +
		"AROUND.errorMessage AROUND.error_message AROUND.message AROUND.reason AROUND.diagnostics "
	elsewhere = ".error.message .error .error.code .errors[0].message .errors[0].title .errors[0] .fault.faultstring .exception .message"
)

// Concludes reports whether the verdict v, an ERROR for the response o, means that no operation is running any more.
// That is true in these cases:
//
//   - The start request was not sent, or the server rejected it.
//   - A successful response, except the response to the start request, has a state that is done or failed.
//   - A successful response, except the response to the start request, has an error but no open state, and v has no
//     rule.
//   - A successful response has no open state, and the rule of v matches even if $attempt, $elapsed and $unchanged
//     are 0.
//
// In any other case, and for any other verdict, the operation may still be running.
func Concludes(o *status.Observation, v status.Verdict) bool {
	switch {
	case v.Status != status.Error:
		return false
	case HTTPOf(o).Due, o.Start && o.Failure == nil && o.Code != nil && *o.Code >= http.StatusBadRequest:
		return true
	case !o.Good():
		return false
	}
	report := readReport(o.Body, o.Code) // o.Body is the element of a list here, not the list
	isEnd := []Stage{Done, Failed}
	switch stage := report.State.Stage; {
	case stage == Open:
		return false
	case !o.Start && (slices.Contains(isEnd, stage) || v.Rule == "" && report.Wrong.Stage != Unknown):
		return true
	}
	return slices.ContainsFunc(v.Results, func(one status.Result) bool {
		timeless := *one.Env
		timeless.Attempt, timeless.Elapsed, timeless.Unchanged = 0, 0, 0
		return one.Rule.String() == v.Rule && one.Rule.Expr.Eval(&timeless).Matched()
	})
}
