package coach

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// addHints adds hints to v, the verdict for o, if the match of a rule or a SUCCESS without a rule may be a mistake.
func addHints(o *status.Observation, v *status.Verdict) {
	if v.Rule == "" {
		v.Hints = append(v.Hints, withoutRule(o, v)...)
		return
	}
	for _, one := range v.Results {
		if one.Matched() && one.Rule.String() == v.Rule {
			if one.Rule.Why == "" || len(v.Objects) < 2 { // a rule about many objects is not explained, because that takes long
				v.Hints = append(v.Hints, status.Notes(one.Explain().Notes...)...)
			}
			if v.Status == status.Success {
				v.Hints = append(v.Hints, aboutSuccess(o, one)...)
			}
			return
		}
	}
}

// aboutSuccess returns hints about met, the result of a rule for SUCCESS that has matched o.
func aboutSuccess(o *status.Observation, met status.Result) (hints []status.Hint) {
	if met.Rule.Preset == "" {
		hints = contradictions(o, met)
	}
	_, hasNext := meaning.NextLink(o.Header["Link"])
	if hasNext && o.Within == nil && met.Rule.Expr.Reads("[]") { // RFC 8288, section 3.3
		hints = append(hints, status.Hint{Text: "the response is one of several pages: its Link names another page"}, status.Hint{Kind: status.HintEach})
	}
	if o.Code != nil && *o.Code >= http.StatusBadRequest && met.Rule.Expr.Reads("error") && !met.Rule.Expr.Reads("status", ".") {
		text := fmt.Sprintf("the response is HTTP %d, and $error is only about the connection: $status has the code", *o.Code)
		hints = append(hints, status.Hint{Text: text})
	}
	return hints
}

// withoutRule returns hints about v, a verdict that no rule decided.
func withoutRule(o *status.Observation, v *status.Verdict) (hints []status.Hint) {
	isLed := o.Code != nil && (*o.Code/100 == 3 || *o.Code == http.StatusUnauthorized || o.Start && o.Good()) // the notes name the URL of the redirect, or the reason
	switch {
	case v.Status == status.Error:
		return slices.DeleteFunc(slices.Clone(o.Hints), func(h status.Hint) bool {
			return h.Kind == status.HintOffered || h.Kind == status.HintNote && !isLed
		})
	case v.Status != status.Success || !o.Good() || meaning.HTTPOf(o).Monitor != meaning.MonitorGiven:
		return nil
	}
	report := meaning.ReportOf(o)
	for _, s := range []meaning.Statement{report.State, report.Sign, report.Wrong} {
		if s.Stage >= meaning.Open {
			note := s.String() + ", but without a condition any successful response is SUCCESS"
			return []status.Hint{{Text: note}, {Kind: status.HintDone}}
		}
	}
	return nil
}

// contradictions returns a note if the response o contradicts met, the result of a condition for SUCCESS that has
// matched. An example is ".state is "failed", and .done is true anyway".
//
// A failed state contradicts every condition. An open state contradicts a condition that no value in the
// document makes true. If the state is done, or is a word without a known meaning, an error in the document
// contradicts the condition. A contradiction is ignored if the condition mentions the member (or, for a failed
// state, the word), or if the member is in a list.
func contradictions(o *status.Observation, met status.Result) []status.Hint {
	if !o.Good() || o.Within != nil || o.Kind == status.KindTCP {
		return nil
	}
	condition, report := met.Rule.Expr, meaning.ReportOf(o)
	s, name := report.State, report.State.Path
	switch {
	case s.Stage == meaning.Failed:
		name = strings.Trim(s.Raw, `"`)
	case s.Stage == meaning.Open && (!condition.Reads(".", "body", "stdout") || !met.Affirmed()):
	case s.Stage == meaning.Open, s.Stage == meaning.Unknown:
		return nil
	default:
		s, name = report.Wrong, report.Wrong.Path
	}
	if isNamed := strings.Contains(strings.ToLower(condition.String()), strings.ToLower(name)); isNamed || strings.Contains(s.Path, "[") {
		return nil
	}
	return status.Notes(s.String() + ", but " + condition.String() + " is true anyway")
}

// MissingDetail returns a note if the successful response o has none of the values of detail, the expressions of
// [status.Rules.Detail].
func MissingDetail(o *status.Observation, detail []*expr.Expr) []status.Hint {
	env := status.Environment(o)
	isText := func(x *expr.Expr) bool {
		v := x.Eval(env).Value()
		return slices.Contains([]string{"string", "number", "boolean"}, v.Type) && strings.TrimSpace(v.Text()) != ""
	}
	if !o.Good() || len(detail) == 0 || slices.ContainsFunc(detail, isText) {
		return nil
	}
	why, _, _ := strings.Cut(detail[0].Eval(env).Explain().Lines[0], ", want ")
	return status.Notes("no detail is added to the reason: " + why)
}
