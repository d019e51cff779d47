package request

import (
	"context"

	"errors"
	"fmt"
	"net/http"

	"slices"
	"strings"
	"testing"
)

// TestTransportConcurrent looks at a transport while somebody else makes its first request,
// which the race detector must not mind: it may be http.DefaultTransport.
func TestTransportConcurrent(t *testing.T) {
	transport := &http.Transport{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		transport.CloseIdleConnections() // sets the transport up, as the first request does
	}()
	session, err := NewSession(Request{URL: "https://api.example.com/", Transport: transport})
	<-done
	if err != nil || session.Credentials() != "" {
		t.Errorf("have credentials %q and error %v", session.Credentials(), err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A transport that changes what it is given changes nothing of the next request.
func TestTransportThatChangesTheRequest(t *testing.T) {
	t.Parallel()
	var seen []string
	given := http.Header{"X-Key": append(make([]string, 0, 2), "k")}
	transport := roundTrip(func(r *http.Request) (*http.Response, error) {
		seen = append(seen, r.URL.String()+" "+strings.Join(r.Header["X-Key"], " "))
		r.URL.Host, r.URL.Path = "changed", "/changed"
		r.Header.Add("X-Key", "more")
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody}, nil
	})
	s, err := NewSession(Request{URL: "http://h/a", Header: given, Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if o := s.Look(t.Context(), Attempt{}); !o.Good() {
			t.Error(o.Failure)
		}
	}
	if want := []string{"http://h/a k", "http://h/a k"}; !slices.Equal(seen, want) || given["X-Key"][:2][1] != "" {
		t.Errorf("have %q and %q", seen, given["X-Key"][:2])
	}
}

// What was renewed is a secret, too, until it was renewed often enough.
func TestRenewedSecrets(t *testing.T) {
	t.Parallel()
	n := -1
	c := clientOf(t, Request{URL: "http://h/", Header: http.Header{"X-Key": {"first-key"}}, Refresh: func(context.Context, bool) (http.Header, error) {
		n++
		return http.Header{"X-Key": {fmt.Sprintf("key-%d.", n)}, "Accept": {fmt.Sprint("any-", n)}}, nil
	}})
	for range maxRenewed + 1 {
		renewed{c, c}.renew(t.Context(), false)
	}
	have := c.clean(errors.New("first-key key-0. key-1. key-64. any-64"), c.given.url)
	if want := "*** key-0. *** *** any-64"; have != want {
		t.Errorf("have %s, want %s", have, want)
	}
}
