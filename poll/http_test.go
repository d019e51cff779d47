package poll

import (
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/pollcli/poll/status"
)

func TestHTTPCheck(t *testing.T) {
	const at = "https://api.example.com/"
	for _, test := range []struct {
		name string
		h    HTTP
		want string // "" for no error
	}{
		{"good", HTTP{URL: at}, ""},
		{"no URL", HTTP{}, "no URL"},
		{"no scheme", HTTP{URL: "api.example.com/s3cret"}, "scheme"},
		{"another scheme", HTTP{URL: "ftp://api.example.com/?s3cret"}, "scheme"},
		{"no host", HTTP{URL: "https:///s3cret"}, "host"},
		{"malformed", HTTP{URL: "https://me:s3c%ret@host/"}, "malformed"},
		{"method", HTTP{URL: at, Method: "GE T"}, "method"},
		{"header name", HTTP{URL: at, Header: http.Header{"a b": {"x"}}}, "header name"},
		{"line break in a header", HTTP{URL: at, Header: http.Header{"X": {"s3cret\r\nY: z"}}}, "line break"},
		{"control character in a header", HTTP{URL: at, Header: http.Header{"X": {"s3cret\x01"}}}, "control character"},
		{"tab and UTF-8 in a header", HTTP{URL: at, Header: http.Header{"X": {"a\té"}}}, ""},
		{"blank in the host", HTTP{URL: at, Header: http.Header{"host": {"a s3cret"}}}, "Host is no host"},
		{"path in the host", HTTP{URL: at, Header: http.Header{"Host": {"a/s3cret"}}}, "Host is no host"},
		{"host and port", HTTP{URL: at, Header: http.Header{"Host": {"[::1]:80"}}}, ""},
		{"limit", HTTP{URL: at, MaxBody: -1}, "limit"},
		{"next page", HTTP{URL: at, Next: "?key=s3cret"}, "the same on every page"},
		{"expression of the next page", HTTP{URL: at, Next: ".a =="}, "column 6"},
	} {
		err := test.h.Plan().Invalid
		if test.want == "" {
			if err != nil {
				t.Errorf("%s: %v", test.name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: have error %v, want one with %q", test.name, err, test.want)
		}
		o := test.h.Check(t.Context(), Attempt{Number: 1})
		if o.Failure == nil || o.Failure.Kind != status.FailureHopeless {
			t.Errorf("%s: have failure %v, want one for good", test.name, o.Failure)
		}
	}
}

// TestRedirectsForEver meets servers that redirect without an end.
func TestRedirectsForEver(t *testing.T) {
	for _, test := range []struct {
		location string
		limit    int
		requests int
		reason   string // "" for the redirect itself
	}{
		{"/again", math.MaxInt, 1000 + 1, "redirect loop: more than 1000 redirects"},
		{"/again", 1000 + 1, 1000 + 1, "redirect loop: more than 1000 redirects"},
		{"/again", 3, 4, "redirect loop: more than 3 redirects"},
		{strings.Repeat("a", 1000) + "/", math.MaxInt, 16<<10/1001 + 1, ""}, // each URL is longer than the last
	} {
		requests := 0
		o := HTTP{URL: "http://h/", MaxRedirects: test.limit, Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			requests++
			resp := response(302, strings.NewReader(""))
			resp.Header.Set("Location", test.location)
			return resp, nil
		})}.Check(t.Context(), Attempt{Number: 1})
		reason := ""
		if o.Failure != nil {
			reason = o.Failure.Reason
		}
		if requests != test.requests || !strings.HasPrefix(reason, test.reason) || (test.reason == "") != (reason == "") {
			t.Errorf("%.10s up to %d: have %d requests, %.100q", test.location, test.limit, requests, reason)
		}
	}
}
