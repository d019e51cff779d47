package meaning

import (
	"context"
	"sync"

	"github.com/pollcli/poll/internal/document"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// azure sets the verdict on the status document behind Azure-AsyncOperation and Operation-Location, if the document
// names a state. The state holds whatever the rules of the user are. A state in a response that is not successful means
// that the operation is not ready, unless the server is too busy.
func (h HTTP) azure(o *status.Observation, m *status.Meaning) {
	if o.Failure != nil || h.RefusedForLoad(o) {
		return
	}
	rules := azureRules()
	if !o.Good() {
		rules.Own = rules.Own[len(rules.Own)-1:]
	}
	v := rules.Classify(context.Background(), status.Observation{Body: o.Body, Within: o.Within, Presence: o.Presence, Truncated: o.Truncated})
	if v.Rule == "" {
		return
	}
	v = status.Verdict{Status: v.Status, Reason: v.Reason, Timeless: v.Status == status.Error}
	said, isSuccess := Reported(o), v.Status == status.Success
	switch {
	case isSuccess && m.Allow&status.AllowSuccess == 0:
		v.Status, v.Timeless = status.NotReady, false
	case isSuccess && said.Wrong.Stage != document.Unknown:
		v.Status, v.Reason = status.Error, withDetail(o, Say(said.State)+" with an error", said.State)
	}
	m.Holds = status.HoldsAlways
	if v.Status == status.NotReady {
		m.Holds = status.HoldsRunning
	}
	m.Default = func() (status.Verdict, *status.Verdict) { return v, &v }
}

// azureState is the state of the status document of an Azure operation, or of a resource.
const azureState = `(.status // .properties.provisioningState // .provisioningState)`

// azureRules are the rules of the preset azure-lro, without the rule that a resource with no state is at rest.
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
		rule, _ := status.NewRule(r.status, r.condition) // which the tests compile
		if rule.Why = r.why; r.status == status.Error {
			message, _ := expr.CompileValue(".error.message")
			code, _ := expr.CompileValue(".error.code")
			rule.Detail = []*expr.Expr{message, code}
		}
		rules.Own = append(rules.Own, rule)
	}
	return rules
})
