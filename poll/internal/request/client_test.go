package request

import (
	"errors"
	"fmt"
	"net/http"

	"testing"
)

// A client can read its transport while another goroutine sends the first request through the transport, which may be
// http.DefaultTransport. The race detector checks this.
func TestTransportConcurrent(t *testing.T) {
	transport := &http.Transport{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		transport.CloseIdleConnections() // sets the transport up, as the first request does
	}()
	session, err := NewOperation(Request{URL: "https://api.example.com/", Transport: transport})
	<-done
	if err != nil || session.Credentials() != "" {
		t.Errorf("have credentials %q and error %v", session.Credentials(), err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A renewed value is a secret, too, until maxRenewed later values have replaced it.
func TestRenewedSecrets(t *testing.T) {
	t.Parallel()
	n := -1
	c := clientOf(t, Request{URL: "http://h/", Header: http.Header{"X-Key": {"first-key"}}, Refresh: func(*http.Request, bool) (http.Header, error) {
		n++
		return http.Header{"X-Key": {fmt.Sprintf("key-%d.", n)}, "Accept": {fmt.Sprint("any-", n)}}, nil
	}})
	for range maxRenewed + 1 {
		c.renew(t.Context(), call{at: c.given}, false)
	}
	have := c.clean(errors.New("first-key key-0. key-1. key-64. any-64"), c.given.url)
	if want := "*** key-0. *** *** any-64"; have != want {
		t.Errorf("have %s, want %s", have, want)
	}
}
