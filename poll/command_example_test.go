//go:build unix

package poll_test

import (
	"context"
	"fmt"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

func ExampleCommand() {
	c := poll.Command{Args: []string{"sh", "-c", `echo "attempt $POLL_ATTEMPT after $POLL_STATUS"; exit 3`}}
	obs := c.Check(context.Background(), poll.Attempt{Number: 2, Previous: status.NotReady})
	fmt.Printf("exit %d: %s", *obs.Exit, obs.Body)
	// Output: exit 3: attempt 2 after NOT_READY
}

// Show the progress of a wait.
func ExamplePoller_Events() {
	p := poll.Poller{
		Probe:       poll.Command{Args: []string{"false"}},
		Schedule:    backoff.Fixed(time.Millisecond),
		MaxAttempts: 2,
	}
	for e := range p.Events(context.Background()) {
		switch e.Kind {
		case poll.EventAttempt:
			fmt.Println(e.State.Attempts, e.Verdict.Status, e.Verdict.Reason)
		case poll.EventEnd:
			fmt.Println(e.Outcome.Ending)
		}
	}
	// Output:
	// 1 NOT_READY exit code 1
	// 2 NOT_READY exit code 1
	// attempts exhausted
}
