package status_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// The names are those of the answers that processes of several versions share.
func TestObservation_json(t *testing.T) {
	t.Parallel()
	o := status.Observation{
		Kind: status.KindHTTP, Attempt: 3, Elapsed: time.Hour, Unchanged: time.Hour, Target: "a", Body: []byte("{}"), Size: 2,
		Truncated: true, Pages: [][]byte{[]byte("[]")}, Page: 1, Within: expr.NewDoc(nil), Presence: status.Gone,
		Exit: new(1), Signal: "KILL", Stderr: []byte("x"), StderrCut: true, Code: new(429), Header: http.Header{"A": {"b"}},
		Failure:   &status.Failure{Kind: status.FailureHopeless, Class: status.FailureTLS, Reason: "r", Err: http.ErrHandlerTimeout, Advice: status.Advice{Code: status.AdviceTrust, Path: ".p"}},
		Hint:      &status.Hint{Wait: time.Second, Source: "Retry-After"},
		Exhausted: true, Quota: &status.Quota{Remaining: 1, Reset: time.Second}, ShouldRetry: new(true), Renewed: true, NotModified: true,
		Following: status.Following{Start: true, Monitor: status.MonitorAzure, Next: "n", Earlier: "e", Missing: "m", Each: true, Untrusted: true, Due: true},
		Doubt:     "d", Elsewhere: true, Redirect: "/login", Taken: true, Remarks: []string{"x"},
	}
	const want = `{"kind":2,"body":"e30=","size":2,"truncated":true,"pages":["W10="],"page":1,"exit":1,"signal":"KILL","stderr":"eA==",` +
		`"stderr_cut":true,"code":429,"header":{"A":["b"]},"failure":{"kind":2,"class":"tls","reason":"r","advice":{"code":1,"path":".p"}},` +
		`"hint":{"wait":1000000000,"source":"Retry-After"},"exhausted":true,"quota":{"remaining":1,"reset":1000000000},"should_retry":true,` +
		`"renewed":true,"not_modified":true,"following":{"start":true,"monitor":2,"next":"n","earlier":"e","missing":"m","each":true,` +
		`"untrusted":true,"due":true},"doubt":"d","elsewhere":true,"redirect":"/login","remarks":["x"]}`
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
