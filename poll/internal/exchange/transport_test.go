package exchange

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestHasCredentials(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		probe Request
		want  bool
	}{
		"none":                      {Request{Header: http.Header{"Accept": {"x"}, "Host": {"h"}}}, false},
		"a header":                  {Request{Header: http.Header{"X-Key": {"x"}}}, true},
		"a header that is not sent": {Request{Header: http.Header{"X-Key": {}}}, false},
		"a user":                    {Request{User: url.User("me")}, true},
		"a certificate": {Request{Transport: &http.Transport{TLSClientConfig: &tls.Config{
			Certificates: []tls.Certificate{{}}}}}, true},
		"a function for one": {Request{Transport: &http.Transport{TLSClientConfig: &tls.Config{
			GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return nil, nil }}}}, true},
		"TLS without one": {Request{Transport: &http.Transport{TLSClientConfig: &tls.Config{}}}, false},
	} {
		if have := newClient(test.probe, placeOf(t, "https://h/")).hasCredentials(); have != test.want {
			t.Errorf("%s: have %t", name, have)
		}
	}
}

func TestDialLocalhost(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ listens, address, want string }{
		{"127.0.0.1:80", "localhost:80", "localhost:80 [::1]:80 127.0.0.1:80"},
		{"[::1]:80", "LOCALHOST.:80", "LOCALHOST.:80 [::1]:80"},
		{"[::1]:80", "a.localhost:80", "a.localhost:80 [::1]:80"},
		{"[::1]:80", "localhost.example.com:80", "localhost.example.com:80"},
		{"h:80", "h:80", "h:80"},
	} {
		var asked []string
		dial := DialLocalhost(func(_ context.Context, _, address string) (net.Conn, error) {
			asked = append(asked, address)
			if address != test.listens {
				return nil, net.ErrClosed
			}
			return nil, nil
		})
		dial(t.Context(), "tcp", test.address)
		if have := strings.Join(asked, " "); have != test.want {
			t.Errorf("%s: have %s, want %s", test.address, have, test.want)
		}
	}
}
