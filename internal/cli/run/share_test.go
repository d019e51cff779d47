package run

import (
	"net/url"
	"testing"

	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/poll"
)

// The credentials of an origin depend only on the secrets that are sent to that origin.
func TestCredentialsOf(t *testing.T) {
	t.Parallel()
	const api = "https://api.example.com"
	me, you := url.UserPassword("me", "secret"), url.UserPassword("you", "secret")
	at := func(place string, requests ...poll.HTTP) string {
		var all []*read.Target
		for _, request := range requests {
			all = append(all, &read.Target{Run: new(read.Run), Poller: poll.Poller{Probe: &request}})
		}
		return credentialsOf(all).at(place)
	}
	const place = api + ":443"
	plain := poll.HTTP{URL: api + "/a"}
	mine := poll.HTTP{URL: api + "/a", User: me}
	yours := poll.HTTP{URL: api + "/b", User: you}
	trusting := poll.HTTP{URL: api, User: me, LocationTrusted: true}
	for name, test := range map[string]struct {
		one, other string
		same       bool
	}{
		"another path":           {at(place, plain), at(place, poll.HTTP{URL: "https://API.example.com:443/c?d"}), true},
		"another user":           {at(place, yours), at(place, mine), false},
		"the URL's user":         {at(place, mine), at(place, poll.HTTP{URL: "https://me:secret@api.example.com/"}), true},
		"both, in any order":     {at(place, mine, yours), at(place, yours, mine, yours), true},
		"both, and one of them":  {at(place, mine, yours), at(place, mine), false},
		"credentials stay there": {at("https://other:443", plain), at("https://other:443", mine), true},
		"unless all are trusted": {at("https://other:443", plain), at("https://other:443", trusting), false},
	} {
		if (test.one == test.other) != test.same {
			t.Errorf("%s: same: %v\n%s\n%s", name, !test.same, test.one, test.other)
		}
	}
}
