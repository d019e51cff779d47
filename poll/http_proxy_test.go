package poll

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
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

func TestCheckProxies(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, value string
		good        bool
	}{
		{"HTTP_PROXY", "http://proxy.example:3128", true},
		{"https_proxy", "socks5://me:s3cret@proxy.example", true},
		{"http_proxy", "proxy.example:3128", true},
		{"http_proxy", "proxy.example", true},
		{"HTTPS_PROXY", "me:s3cret@proxy.example:3128", true},
		{"HTTPS_PROXY", "[::1]:3128", true},
		{"http_proxy", "", true},
		{"NO_PROXY", "http://[", true},
		{"HTTP_PROXY", "http://me:s3cret%@proxy.example", false},
		{"http_proxy", "http://me:s3cret@[::1", false},
		{"HTTPS_PROXY", "http://s3cret proxy:3128", false},
		{"https_proxy", "http://", false},
		{"https_proxy", "http:///s3cret", false},
		{"https_proxy", "proxy.example:s3cret", false},
	} {
		err := checkProxies(func(name string) string {
			if name == test.name {
				return test.value
			}
			return ""
		})
		if test.good != (err == nil) {
			t.Errorf("%s=%s: have %v", test.name, test.value, err)
		}
		if err != nil && (!errors.Is(err, ErrProxy) || !strings.HasPrefix(err.Error(), test.name+" is set") || strings.Contains(err.Error(), "s3cret")) {
			t.Errorf("%s=%s: have %v", test.name, test.value, err)
		}
	}
}

// TestProxyNames asks the second name only where the first is not set, as
// net/http does.
func TestProxyNames(t *testing.T) {
	t.Parallel()
	both := map[string]string{"HTTP_PROXY": "proxy.example", "http_proxy": "http://["}
	if err := checkProxies(func(name string) string { return both[name] }); err != nil {
		t.Errorf("have %v", err)
	}
}
