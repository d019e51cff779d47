package poll

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/pollcli/poll/status"
)

func TestHTTPGet(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.Header.Get("X-Job") != "7" || r.URL.RawQuery != "a=1" {
			t.Errorf("have %s %s with X-Job %q", r.Method, r.URL, r.Header.Get("X-Job"))
		}
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(http.StatusAccepted)
		w.Write([]byte(`{"state":"running"}`))
	}))
	defer server.Close()

	probe := HTTP{URL: server.URL + "/jobs/7?a=1", Header: http.Header{"x-job": {"7"}}, MaxBody: 10}
	o := probe.Probe(t.Context(), Attempt{Number: 4, Elapsed: time.Second})
	if o.Failure != nil {
		t.Fatal(o.Failure.Reason)
	}
	if o.Kind != status.HTTP || *o.Code != 202 || o.Attempt != 4 || o.Elapsed != time.Second {
		t.Errorf("have %+v", o)
	}
	if string(o.Body) != `{"state":"` || o.Size != 19 || !o.Truncated {
		t.Errorf("have body %q of %d bytes, truncated %t", o.Body, o.Size, o.Truncated)
	}
	if o.Hint == nil || o.Hint.Wait != 3*time.Second {
		t.Errorf("have hint %v, want 3s", o.Hint)
	}
}

func TestHTTPRefused(t *testing.T) {
	t.Parallel()
	o := HTTP{URL: "http://127.0.0.1:1/x?token=s3cret"}.Probe(t.Context(), Attempt{Number: 1})
	if o.Failure == nil || o.Failure.Reason != "connection refused" || o.Failure.Kind != status.Transient {
		t.Errorf("have %+v", o.Failure)
	}
	tcp := TCP{Address: "localhost:1"}.Probe(t.Context(), Attempt{Number: 1})
	if tcp.Failure == nil || tcp.Failure.Reason != "connection refused" {
		t.Errorf("have %+v", tcp.Failure)
	}
}
