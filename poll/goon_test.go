package poll_test

import (
	"slices"
	"testing"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// $elapsed of an element counts from the begin of its list, in a later run, too.
func TestElapsedOfAListThatGoesOn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := ofJobs(t, poll.Elements{Known: []string{"a", "a"}}, "a=run", "a=done")
		p.Rules.Own = append(p.Rules.Own, rule(t, status.Error, "$elapsed > 90m"))
		p.Past, p.Schedule = &poll.State{Start: time.Now().Add(-time.Hour), Attempts: 1}, backoff.Fixed(time.Second)
		p.Elements.Past = map[string]poll.State{"a": *p.Past}
		outcomes, err := (&poll.Group{}).Run(t.Context(), slices.Values([]poll.Poller{p}))
		if err != nil || len(outcomes) != 1 {
			t.Errorf("%v: %+v", err, outcomes)
		}
	})
}
