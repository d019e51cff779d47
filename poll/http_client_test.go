package poll_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/poll"
)

// If Refresh fails or returns a malformed field, the header stays unchanged, and the attempt has a note.
func TestHTTPRefreshFails(t *testing.T) {
	var sent []string
	transport := roundTrip(func(r *http.Request) *http.Response {
		sent = append(sent, r.Header.Get("Authorization"))
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody}
	})
	renewed, failure := http.Header{"Authorization": {"renewed"}}, error(nil)
	check := poll.InTurn(poll.HTTP{
		URL: "https://api.example.com/", Header: http.Header{"Authorization": {"old"}}, Transport: transport,
		Refresh: func(*http.Request, bool) (http.Header, error) { return renewed, failure },
	})
	for want, change := range map[string]func(){
		"the value of header Authorization contains a line break": func() { renewed = http.Header{"Authorization": {"a\nb"}} },
		"it is gone": func() { renewed, failure = nil, errors.New("it is gone") },
	} {
		change()
		o := check(t.Context(), poll.Attempt{Number: 1})
		if have := fmt.Sprint(o.Hints); !strings.Contains(have, "not all header fields are renewed: "+want) {
			t.Errorf("have %q, want %s", have, want)
		}
		failure = nil
	}
	if !slices.Equal(sent, []string{"old", "old"}) {
		t.Errorf("sent %q", sent)
	}
}

// Refresh gets the request that would be sent, with its fields, before the request and after a 401.
func TestHTTPRefreshSigns(t *testing.T) {
	var signed []string
	check := poll.InTurn(poll.HTTP{
		URL: "https://api.example.com/jobs?id=1", Method: "PUT", Body: []byte("table=users"), Header: http.Header{"X-Table": {"users"}},
		Transport: roundTrip(func(r *http.Request) *http.Response {
			signed = append(signed, "sent "+r.Header.Get("Authorization"))
			return &http.Response{StatusCode: 401, Header: http.Header{}, Body: http.NoBody}
		}),
		Refresh: func(r *http.Request, refused bool) (http.Header, error) {
			body, _ := io.ReadAll(r.Body)
			signed = append(signed, fmt.Sprint(r.Method, " ", r.URL, " ", r.Header.Get("X-Table"), " ", string(body), " ", refused, " ", r.Context().Err()))
			return http.Header{"Authorization": {fmt.Sprint(len(signed))}}, nil
		},
	})
	check(t.Context(), poll.Attempt{Number: 1})
	request := "PUT https://api.example.com/jobs?id=1 users table=users "
	if want := []string{request + "false <nil>", "sent 1", request + "true <nil>"}; !slices.Equal(signed, want) {
		t.Errorf("have %q, want %q", signed, want)
	}
}

type roundTrip func(*http.Request) *http.Response

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := f(r)
	answer.Request = r
	return answer, nil
}

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
		first := must(test.request.Plan().Resume(nil))
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

// A page that the server always rejects ends the attempt.
func TestPages_pageThatIsAlwaysRejected(t *testing.T) {
	bubble(t, func(t *testing.T) {
		asked := 0
		transport := roundTrip(func(r *http.Request) *http.Response {
			if r.URL.Path == "/jobs" {
				return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"next":"/2"}`))}
			}
			asked++
			return &http.Response{StatusCode: 429, Header: http.Header{}, Body: http.NoBody}
		})
		p := poll.Poller{
			Probe: poll.HTTP{URL: "http://h/jobs", Next: ".next", Transport: transport}, Limiter: &poll.Pacer{}, MaxAttempts: 1,
		}
		if p.Run(t.Context()); asked != 10 {
			t.Errorf("asked %d times", asked)
		}
	})
}

// An attempt waits for a page that the server rejects, also after a redirect to another host. Otherwise the
// attempt would never get past the page.
func TestPages_rejectedPageAfterARedirect(t *testing.T) {
	for name, next := range map[string]string{"pages there": "/2", "pages here": "http://a/2"} {
		synctest.Test(t, func(t *testing.T) {
			asked := map[string]int{}
			transport := roundTrip(func(r *http.Request) *http.Response {
				at := r.URL.Host + r.URL.Path
				asked[at]++
				code, header := 200, http.Header{"Link": {"<" + next + `>; rel="next"`}}
				switch {
				case r.URL.Host == "a":
					code, header = 302, http.Header{"Location": {"http://b" + r.URL.Path}}
				case at == "b/2" && asked[at] == 1:
					code, header = 429, http.Header{"Retry-After": {"20"}}
				case at == "b/2":
					header = http.Header{}
				}
				return &http.Response{StatusCode: code, Header: header, Body: io.NopCloser(strings.NewReader(`[]`))}
			})
			p := poll.Poller{Probe: poll.HTTP{URL: "http://a/1", Next: "auto", Transport: transport}, Limiter: &poll.Pacer{}, MaxAttempts: 1}
			if o, err := p.Run(t.Context()); err != nil || asked["b/2"] != 2 {
				t.Errorf("%s: %v, %v, requests %v", name, err, o.Reason, asked)
			}
		})
	}
}

// A run that ends with an attempt hands its response on: a copy in a cache confirms nothing in the next run.
func TestACopyConfirmsNothingInTheNextRun(t *testing.T) {
	for _, test := range []struct {
		name      string
		elements  *poll.Elements
		threshold int
		fresh     int // responses that the next run needs
	}{
		{"one", nil, 3, 2}, {"list", &poll.Elements{Expect: 1}, 3, 2}, {"list of unknown length", &poll.Elements{}, 1, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began, requests := time.Now(), 0
				transport := roundTripper(func(r *http.Request) (*http.Response, error) {
					header := make(http.Header)
					switch requests++; {
					case requests == 1:
						time.Sleep(980 * time.Millisecond) // no time is left for another attempt
					case !slices.Contains(r.Header["Cache-Control"], "no-cache"):
						t.Errorf("a cache may answer request %d", requests)
					case requests < 5:
						header.Set("Age", strconv.Itoa(int(time.Since(began)/time.Second)))
					}
					body := `{"state":"done","jobs":[{"id":"a","state":"done"}]}`
					return &http.Response{StatusCode: 200, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
				})
				p := ofJobs(t, poll.Elements{})
				continued(&p)
				if p.Probe = (poll.HTTP{URL: "http://a.example.com/", Transport: transport}); test.elements == nil {
					p.Elements = nil
				} else {
					p.Elements.Expect, p.Elements.Past = test.elements.Expect, make(map[string]poll.State)
				}
				p.SuccessThreshold = poll.Threshold{Times: test.threshold}
				var summary poll.Summary
				for _, timeout := range []time.Duration{time.Second, time.Minute} {
					for e := range (&poll.Group{Timeout: timeout}).Events(t.Context(), slices.Values([]poll.Poller{p})) {
						switch {
						case e.Summary != nil:
							summary = *e.Summary
						case e.N > 0 && p.Elements != nil:
							p.Elements.Past[e.Target] = reread(t, e.State)
						default:
							p.Past = new(reread(t, e.State))
						}
					}
				}
				if summary.Err() != nil || requests != 4+test.fresh {
					t.Errorf("%v after %d requests", summary.Err(), requests)
				}
			})
		})
	}
}
