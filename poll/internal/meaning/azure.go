package meaning

import (
	"context"
	"sync"

	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// azure sets the verdict in m for a status document, which is a document from the URL in Azure-AsyncOperation or
// Operation-Location. The state in the document takes precedence over the user's rules. In an unsuccessful response,
// any state means NOT_READY. azure does nothing if the document has no state, or if the server has rejected the
// request because of load.
func (h HTTP) azure(o *status.Observation, m *status.Meaning) {
	if o.Failure != nil || h.RefusedForLoad(o) {
		return
	}
	rules := azureRules()
	if !o.Good() {
		rules.Own = rules.Own[len(rules.Own)-1:]
	}
	v := rules.Classify(context.Background(), status.Observation{Body: o.Body, Within: o.Within, Presence: o.Presence, Truncated: o.Truncated, Protocol: Plain{}})
	if v.Rule == "" {
		return
	}
	v = status.Verdict{Status: v.Status, Reason: v.Reason}
	report, isSuccess := ReportOf(o), v.Status == status.Success
	switch {
	case isSuccess && m.Allow&status.AllowSuccess == 0:
		v.Status = status.NotReady
	case isSuccess && report.Wrong.Stage != Unknown:
		v.Status, v.Reason = status.Error, withDetail(o, report.State.String()+" with an error", report.State)
	}
	m.Holds = status.HoldsAlways
	if v.Status == status.NotReady {
		m.Holds = status.HoldsRunning
	}
	m.Default, m.Certain = status.Always(v), true
}

// azureState is an expression for the state in the status document of an Azure operation, or in an Azure resource.
const azureState = `(.status // .properties.provisioningState // .provisioningState)`

// azureRules returns the rules of the preset azure-lro, but without its rule for a resource that has no state.
var azureRules = sync.OnceValue(func() (rules status.Rules) {
	for _, r := range []struct {
		status         status.Status
		condition, why string
	}{
		{status.Error, azureState + ` =~ "(?i)^(failed|canceled)$"`, ""},
		{status.Error, `.properties.provisioningState =~ "(?i)^(failed|canceled)$"`, ""},
		{status.Error, azureState + ` =~ "(?i)^succeeded$" and (.error | length) > 0`, "succeeded with an error"},
		{status.Success, azureState + ` =~ "(?i)^succeeded$" and (.properties.provisioningState // .status // .provisioningState) =~ "(?i)^succeeded$"` +
			` and (.error == null or (.error | length) == 0)`, ""},
		{status.NotReady, azureState + ` =~ "."`, ""},
	} {
		rule, _ := status.NewRule(r.status, r.condition) // ignore the error: tests compile these constant conditions
		if rule.Why = r.why; r.status == status.Error {
			message, _ := expr.CompileValue(".error.message")
			code, _ := expr.CompileValue(".error.code")
			rule.Detail = []*expr.Expr{message, code}
		}
		rules.Own = append(rules.Own, rule)
	}
	return rules
})
