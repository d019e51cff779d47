package status_test

import (
	"context"
	"fmt"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

func ExampleUntil() {
	rules, _ := status.Until(`.state == "done"`)
	for _, body := range []string{`{"state":"queued"}`, `{"state":"done"}`, `<html>`} {
		verdict := rules.Classify(context.Background(), poll.Recorded(status.Observation{Code: new(200), Body: []byte(body)}))
		fmt.Println(verdict.Status, "-", verdict.Reason)
	}
	// Output:
	// NOT_READY - .state is "queued", want == "done"
	// SUCCESS - .state is "done"
	// NOT_READY - .state is unknown: the body is not JSON (line 1, column 1: "<html>")
}
