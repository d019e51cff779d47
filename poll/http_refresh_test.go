package poll_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/pollcli/poll/poll"
)

// If Refresh fails or returns a malformed field, the header stays unchanged, and the attempt has a remark.
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
		if have := strings.Join(o.Remarks, "; "); !strings.Contains(have, "not all of the header is renewed: "+want) {
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
