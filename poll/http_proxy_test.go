package poll

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"testing"

	"github.com/pollcli/poll/status"
)

// TestRefusedByProxy asks a proxy that does not connect, and whose words are
// not to be repeated.
func TestRefusedByProxy(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		code int
		want string
		kind status.FailureKind
	}{
		{407, "the proxy: HTTP 407 Proxy Authentication Required", status.Hopeless},
		{503, "the proxy: HTTP 503 Service Unavailable", status.Transient},
		{299, "the proxy: HTTP 299", status.Transient},
	} {
		transport, err := Connect{}.Transport()
		if err != nil {
			t.Fatal(err)
		}
		transport.Proxy = http.ProxyURL(&url.URL{Scheme: "http", User: url.UserPassword("me", "s3cret"), Host: "proxy.example:3128"})
		transport.DialContext = pipeTo(func(conn net.Conn) {
			conn.Read(make([]byte, 4096))
			fmt.Fprintf(conn, "HTTP/1.1 %d \x1b[31ms3cret\r\nContent-Length: 0\r\n\r\n", test.code)
			conn.Close()
		})
		h := HTTP{URL: "https://api.example.com/", Method: http.MethodPost, Transport: transport}
		o := h.Probe(t.Context(), Attempt{Number: 1})
		if o.Failure == nil || o.Failure.Reason != test.want || o.Failure.Kind != test.kind {
			t.Errorf("%d: have %+v", test.code, o.Failure)
		}
	}
}
