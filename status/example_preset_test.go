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
	rules, err := preset.Compile(status.KindHTTP)
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
