package cli

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pollcli/poll/internal/ui"
	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
)

// Whose limit holds depends on what is sent only to its place.
func TestCredentialsOf(t *testing.T) {
	t.Parallel()
	const api = "https://api.example.com"
	me, you := url.UserPassword("me", "secret"), url.UserPassword("you", "secret")
	at := func(place string, requests ...poll.HTTP) string {
		var pollers []*poll.Poller
		var specs []*Spec
		for i := range requests {
			pollers, specs = append(pollers, &poll.Poller{Probe: &requests[i]}), append(specs, new(Spec))
		}
		return credentialsOf(pollers, specs).at(place)
	}
	const place = api + ":443"
	plain := poll.HTTP{URL: api + "/a"}
	mine := poll.HTTP{URL: api + "/a", User: me}
	yours := poll.HTTP{URL: api + "/b", User: you}
	key := poll.HTTP{URL: api, Header: http.Header{"X-Api-Key": {"k"}}}
	accepts := poll.HTTP{URL: api, Header: http.Header{"Accept": {"text/html"}, "User-Agent": {"curl"}}}
	trusting := poll.HTTP{URL: api, User: me, LocationTrusted: true}
	for name, test := range map[string]struct {
		one, other string
		same       bool
	}{
		"another path":           {at(place, plain), at(place, poll.HTTP{URL: "https://API.example.com:443/c?d"}), true},
		"what goes anywhere":     {at(place, plain), at(place, accepts), true},
		"a user":                 {at(place, plain), at(place, mine), false},
		"another user":           {at(place, yours), at(place, mine), false},
		"the URL's user":         {at(place, mine), at(place, poll.HTTP{URL: "https://me:secret@api.example.com/"}), true},
		"a header field":         {at(place, plain), at(place, key), false},
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

// What is to be told before there is somebody to tell it to is told then.
func TestShare_tell(t *testing.T) {
	t.Parallel()
	streams, _, said := term.Buffers("")
	reporter := ui.New(ui.Config{Streams: streams, Face: ui.Lines})
	defer reporter.Close()
	var s share
	s.notes.add("before")
	s.tell(reporter)
	s.notes.add("then")
	reporter.Event(poll.Event{Kind: poll.EventWait, At: time.Now()})
	if have := said.String(); strings.Count(have, "poll: note: before\npoll: note: then\n") != 1 {
		t.Errorf("have %q", have)
	}
	(*share)(nil).tell(reporter)
}
