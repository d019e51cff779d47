package status

import (
	"sync"
)

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
		{Success, azureState + ` =~ "(?i)^succeeded$"`, ""},
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
