package status_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/internal/detail"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// The names are those of the answers that processes of several versions share.
func TestObservation_json(t *testing.T) {
	t.Parallel()
	o := status.Observation{
		Kind: status.KindHTTP, Attempt: 3, Elapsed: time.Hour, Unchanged: time.Hour, Target: "a", Body: []byte("{}"), Size: 2,
		Truncated: true, Within: expr.NewDoc(nil),
		Exit: new(1), Signal: "KILL", Stderr: []byte("x"), Code: new(429), Header: http.Header{"A": {"b"}},
		Failure: &status.Failure{Kind: status.FailureHopeless, Class: detail.FailureTLS, Reason: "r", Err: http.ErrHandlerTimeout, Advice: detail.Advice{Code: detail.AdviceTrust, Text: ".p"}},
		Hint:    &status.Hint{Wait: time.Second, Source: "Retry-After"},
		Quota:   &status.Quota{Remaining: 1, Reset: time.Second}, Redirect: "/login", Remarks: []string{"x"},
		Answer: detail.Answer{
			Pages: [][]byte{[]byte("[]")}, Page: 1, Presence: detail.Gone, StderrCut: true, ShouldRetry: new(true), Exhausted: true, Renewed: true, NotModified: true,
			Following: detail.Following{Start: true, Monitor: detail.MonitorAzure, Next: "n", Earlier: "e", Missing: "m", Each: true, Untrusted: true, Due: true},
			Doubt:     "d", Elsewhere: true, Moved: true,
		},
	}
	const want = `{"kind":2,"body":"e30=","size":2,"truncated":true,"exit":1,"signal":"KILL","stderr":"eA==",` +
		`"code":429,"header":{"A":["b"]},"failure":{"kind":2,"class":"tls","reason":"r","advice":{"code":1,"text":".p"}},` +
		`"hint":{"wait":1000000000,"source":"Retry-After"},"quota":{"remaining":1,"reset":1000000000},"redirect":"/login",` +
		`"remarks":["x"],"pages":["W10="],"page":1,"stderr_cut":true,"should_retry":true,"exhausted":true,"renewed":true,"not_modified":true,"following":{"start":true,"monitor":2,"next":"n","earlier":"e","missing":"m","each":true,` +
		`"untrusted":true,"due":true},"doubt":"d","elsewhere":true,"moved":true}`
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("JSON (-want +have):\n%s", diff)
	}
	if text, err := json.Marshal(status.Observation{}); string(text) != "{}" {
		t.Errorf("the zero value is %s, %v", text, err)
	}
}
