package presets_test

import (
	"context"
	"fmt"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/presets"
)

// A [poll.Poller] takes these Rules, too.
func ExampleRules() {
	rules, err := presets.Rules("replicate", status.KindHTTP)
	if err != nil {
		fmt.Println(err)
	}
	for _, body := range []string{
		`{"id":"gm3q","status":"processing"}`,
		`{"id":"gm3q","status":"failed","error":"out of memory"}`,
	} {
		verdict := rules.Classify(context.Background(), poll.Recorded(status.Observation{Code: new(200), Body: []byte(body)}))
		fmt.Println(verdict.Status, "-", verdict.Reason)
	}
	_, err = presets.Rules("replikate", status.KindHTTP)
	fmt.Println(err)
	// Output:
	// NOT_READY - .status is "processing"
	// ERROR - .status is "failed": out of memory
	// there is no preset replikate
}
