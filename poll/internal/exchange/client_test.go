package exchange

import (
	"crypto/tls"
	"net/http"
	"net/url"
	"testing"
)

func TestHasCredentials(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		request Request
		want    bool
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
		test.request.URL = "https://h/"
		c, err := newClient(test.request)
		if err != nil || c.given.guarded != test.want {
			t.Errorf("%s: have %+v, %v", name, c, err)
		}
	}
}
