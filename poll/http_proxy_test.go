package poll

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/pollcli/poll/internal/connect"
	"github.com/pollcli/poll/status"
)

// TestRefusedByProxy uses a proxy that does not connect. The reason must not contain text of the proxy.
func TestRefusedByProxy(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		answer string
		want   string
		kind   status.FailureKind
	}{
		{"407 \x1b[31ms3cret", "the proxy: HTTP 407 Proxy Authentication Required", status.FailureHopeless},
		{"403 No", "the proxy: HTTP 403 Forbidden", status.FailureHopeless},
		{"302 To\r\nLocation: http://s3cret/", "the proxy: HTTP 302 Found", status.FailureHopeless},
		{"399 No", "the proxy: HTTP 399", status.FailureHopeless},
		{"400 No", "the proxy: HTTP 400 Bad Request", status.FailureTransient},
		{"503 No", "the proxy: HTTP 503 Service Unavailable", status.FailureTransient},
		{"429 No", "the proxy: HTTP 429 Too Many Requests", status.FailureThrottled},
		{"299 No", "the proxy: HTTP 299", status.FailureTransient},
		{"", "connection closed without an answer", status.FailureTransient},
		{"hang", "timed out after 0s without a connection", status.FailureTransient},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			transport := throughProxy(t, func(conn net.Conn) {
				conn.Read(make([]byte, 4096))
				switch test.answer {
				case "hang":
					cancel(ErrAttemptTimeout)
					conn.Read(make([]byte, 1))
				case "":
				default:
					fmt.Fprintf(conn, "HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n", test.answer)
				}
				conn.Close()
			})
			defer transport.CloseIdleConnections()
			probe := HTTP{URL: "https://api.example.com/", Method: http.MethodPost, Transport: transport}
			o := probe.Check(ctx, Attempt{Number: 1})
			cancel(nil)
			if o.Failure == nil || o.Failure.Kind != test.kind {
				t.Errorf("%s: have %+v", test.answer, o.Failure)
			}
			v := status.Rules{}.Classify(t.Context(), o.Observation)
			if !strings.HasPrefix(v.Reason, test.want) {
				t.Errorf("%s: have %q, want %q", test.answer, v.Reason, test.want)
			}
			if !o.Next.Plan().Once {
				t.Errorf("%s: what was never sent is not due", test.answer)
			}
		})
	}
}

// throughProxy returns a transport that connects through a proxy.
func throughProxy(t *testing.T, proxy func(net.Conn)) *http.Transport {
	transport, err := connect.Options{}.Transport()
	if err != nil {
		t.Fatal(err)
	}
	transport.Proxy = http.ProxyURL(&url.URL{Scheme: "http", User: url.UserPassword("me", "s3cret"), Host: "proxy.example:3128"})
	transport.DialContext = pipeTo(proxy)
	return transport
}
