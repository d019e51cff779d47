package status_test

import (
	"context"
	"fmt"

	"github.com/pollcli/poll/status"
)

func ExampleLookupPreset() {
	preset, ok := status.LookupPreset("replicate")
	if !ok {
		panic("no such preset")
	}
	rules, _, err := preset.Compile(status.KindHTTP, false)
	if err != nil {
		panic(err)
	}
	code := 200
	verdict := status.Rules{Preset: rules}.Classify(context.Background(), status.Observation{
		Kind: status.KindHTTP,
		Code: &code,
		Body: []byte(`{"id":"gm3q","status":"succeeded","output":["https://example.com/a.png"]}`),
	})
	fmt.Println(verdict.Status)
	// Output: SUCCESS
}

func ExampleUntil() {
	rules, _ := status.Until(`.state == "done"`)
	for _, body := range []string{`{"state":"queued"}`, `{"state":"done"}`, `<html>`} {
		verdict := rules.Classify(context.Background(), status.Observation{Kind: status.KindHTTP, Code: new(200), Body: []byte(body)})
		fmt.Println(verdict.Status, "-", verdict.Reason)
	}
	// Output:
	// NOT_READY - .state is "queued", want == "done"
	// SUCCESS - .state is "done"
	// NOT_READY - .state is unknown: the body is not JSON (line 1, column 1: "<html>")
}
