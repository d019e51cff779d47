package report

import (
	"strings"
	"testing"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// A start whose answer names what credentials are not sent to did not fail for
// good: what allows it is offered.
func TestInsteadOfAnUntrustedLead(t *testing.T) {
	t.Parallel()
	for _, untrusted := range []bool{false, true} {
		o := poll.Outcome{Ending: poll.Failed, Observation: &status.Observation{Code: new(202), Following: status.Following{Start: true, Untrusted: untrusted}}}
		if have := strings.Join(instead(&o), "\n"); strings.Contains(have, "--location-trusted") != untrusted {
			t.Errorf("untrusted: %v: have %q", untrusted, have)
		}
	}
}
