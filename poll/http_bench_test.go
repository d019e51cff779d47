package poll_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pollcli/poll/poll"
)

// running is what the servers of the benchmarks answer.
var running = `{"id":42,"state":"running","detail":"` + strings.Repeat("x", 263) + `"}`

// canned answers without a connection.
type canned struct{}

func (canned) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		Status: "200 OK", StatusCode: 200, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header:        http.Header{"Content-Type": {"application/json"}, "Date": {"Sat, 21 Nov 2026 21:00:00 GMT"}},
		ContentLength: int64(len(running)), Body: io.NopCloser(strings.NewReader(running)),
	}, nil
}

// BenchmarkHTTP compares an attempt with a bare loop over net/http that keeps as much:
// over loopback, and without a connection, which leaves what each does itself.
func BenchmarkHTTP(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, running)
	}))
	defer server.Close()
	connected, err := poll.Connect{}.Transport()
	if err != nil {
		b.Fatal(err)
	}
	defer connected.CloseIdleConnections()
	for name, transport := range map[string]http.RoundTripper{"loopback": connected, "canned": canned{}} {
		url := server.URL + "/jobs/42?a=b"
		b.Run(name+"/attempt", func(b *testing.B) {
			session := poll.HTTP{URL: url, Transport: transport}.Session()
			b.ReportAllocs()
			for b.Loop() {
				if o := session.Probe(b.Context(), poll.Attempt{Number: 1}); o.Failure != nil {
					b.Fatal(o.Failure)
				}
			}
		})
		b.Run(name+"/bare", func(b *testing.B) {
			client := http.Client{Transport: transport}
			b.ReportAllocs()
			for b.Loop() {
				get(b, client, url)
			}
		})
	}
}

func get(b *testing.B, client http.Client, url string) {
	req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, url, nil)
	if err != nil {
		b.Fatal(err)
	}
	resp, err := client.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.ReadAll(resp.Body); err != nil {
		b.Fatal(err)
	}
}
