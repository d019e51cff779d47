package poll_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/pollcli/poll/poll"
)

// What cannot be renewed, or is malformed, leaves the header as it was; a remark says so.
func TestHTTPRefreshFails(t *testing.T) {
	t.Parallel()
	var sent []string
	transport := roundTrip(func(r *http.Request) *http.Response {
		sent = append(sent, r.Header.Get("Authorization"))
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody}
	})
	renewed, failure := http.Header{"Authorization": {"renewed"}}, error(nil)
	session := poll.HTTP{
		URL: "https://api.example.com/", Header: http.Header{"Authorization": {"old"}}, Transport: transport,
		Refresh: func(context.Context, bool) (http.Header, error) { return renewed, failure },
	}.Session()
	for want, change := range map[string]func(){
		"the value of header Authorization contains a line break": func() { renewed = http.Header{"Authorization": {"a\nb"}} },
		"it is gone": func() { renewed, failure = nil, errors.New("it is gone") },
	} {
		change()
		o := session.Look(t.Context(), poll.Attempt{Number: 1})
		if have := strings.Join(o.Remarks, "; "); !strings.Contains(have, "not all of the header is renewed: "+want) {
			t.Errorf("have %q, want %s", have, want)
		}
		failure = nil
	}
	if !slices.Equal(sent, []string{"old", "old"}) {
		t.Errorf("sent %q", sent)
	}
}

type roundTrip func(*http.Request) *http.Response

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := f(r)
	answer.Request = r
	return answer, nil
}
