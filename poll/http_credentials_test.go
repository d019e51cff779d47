package poll_test

import (
	"crypto/tls"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/pollcli/poll/poll"
)

func TestHTTP_Credentials(t *testing.T) {
	me := url.UserPassword("me", "secret")
	certificate := &http.Transport{TLSClientConfig: &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{{0xc0, 0xde}}}}}}
	function := &http.Transport{TLSClientConfig: &tls.Config{
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return nil, nil },
	}}
	for name, test := range map[string]struct {
		request poll.HTTP
		holds   []string // empty for no credentials
	}{
		"none":                   {poll.HTTP{}, nil},
		"what goes anywhere":     {poll.HTTP{Header: http.Header{"Accept": {"a"}, "User-Agent": {"b"}, "Host": {"c"}, "Content-Type": {"d"}}}, nil},
		"a field that is unsent": {poll.HTTP{Header: http.Header{"Cookie": nil}}, nil},
		"a user":                 {poll.HTTP{User: me}, []string{"me:secret"}},
		"Authorization wins":     {poll.HTTP{User: me, Header: http.Header{"Authorization": {"Bearer t"}}}, []string{"Bearer t"}},
		"fields":                 {poll.HTTP{Header: http.Header{"cookie": {"a=b"}, "X-Api-Key": {"k"}}}, []string{"a=b", "X-Api-Key"}},
		"a certificate":          {poll.HTTP{Transport: certificate}, []string{"c0de"}},
		"a function for one":     {poll.HTTP{Transport: function}, []string{"of a function"}},
	} {
		test.request.URL = "https://api.example.com/a"
		first, err := test.request.Resume(nil)
		if err != nil {
			t.Fatal(err)
		}
		have := first.(interface{ Credentials() string }).Credentials()
		if (have == "") != (len(test.holds) == 0) {
			t.Errorf("%s: have %s", name, have)
		}
		for _, want := range test.holds {
			if !strings.Contains(have, want) {
				t.Errorf("%s: no %s in %s", name, want, have)
			}
		}
		if name == "Authorization wins" && strings.Contains(have, "secret") {
			t.Errorf("%s: have %s", name, have)
		}
	}
}
