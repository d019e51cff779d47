//go:build unix

package poll_test

import (
	"context"
	"fmt"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

func ExampleCommand() {
	c := poll.Command{Args: []string{"sh", "-c", `echo "attempt $POLL_ATTEMPT after $POLL_STATUS"; exit 3`}}
	obs := c.Probe(context.Background(), poll.Attempt{Number: 2, Previous: status.NotReady})
	fmt.Printf("exit %d: %s", *obs.Exit, obs.Body)
	// Output: exit 3: attempt 2 after NOT_READY
}

func ExampleCommand_Check() {
	fmt.Println(poll.Command{Args: []string{"no-such-program", "--password", "secret"}}.Check())
	// Output: no-such-program not found
}
