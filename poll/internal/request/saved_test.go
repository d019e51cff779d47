package request

import (
	"encoding/json"

	"net/url"

	"testing"
)

// What is trusted when a session goes on is decided anew: whoever can write what was kept
// gets no credentials by that.
func TestResumeTrustsNoMoreThanANewSession(t *testing.T) {
	t.Parallel()
	for kept, want := range map[string]struct {
		at      string
		trusted bool
	}{
		`{"at":"https://api.example.com/jobs/1?sig=x","trusted":true}`: {"https://api.example.com/jobs/1?sig=x", true},
		`{"at":"https://api.example.com/jobs/1"}`:                      {"https://api.example.com/jobs/1", false}, // another origin led there
		`{"at":"https://evil.example.com/","trusted":true}`:            {"https://evil.example.com/", false},
		`{"at":"https://me:pass@api.example.com/","trusted":true}`:     {"https://api.example.com/", true},
		`{"at":"http://other.example.com/"}`:                           {"http://other.example.com/", false},
		`{"at":"http://api.example.com/","trusted":true}`:              {"", false}, // from https to http
		`{"at":"file:///etc/passwd","trusted":true}`:                   {"", false},
	} {
		s, err := NewSession(Request{URL: "https://api.example.com/jobs", Method: "POST", User: url.UserPassword("me", "s3cret")})
		if err != nil {
			t.Fatal(err)
		}
		err = s.Resume(json.RawMessage(kept))
		switch {
		case want.at == "" && err == nil:
			t.Errorf("%s: no error, at %s", kept, s.at.url)
		case want.at != "" && (err != nil || s.at.url.String() != want.at || s.at.trusted != want.trusted || s.client.guards(s.at) != want.trusted || s.StartDue()):
			t.Errorf("%s: %v, at %s, trusted %t, guarded %t, start due %t", kept, err, s.at.url, s.at.trusted, s.client.guards(s.at), s.StartDue())
		}
	}
}

func TestKeepsEnviron(t *testing.T) {
	t.Parallel()
	for follow, want := range map[string]bool{
		"": false, "none": false, ".url": false, "/jobs/{.id}": false, "/jobs/{.id}?env=ENV": false,
		"/jobs/{.id}?key={$ENV.KEY}": true, "?id={.id}&key={$ENV.KEY}": true, "?id={jq: env.KEY + .id}": true,
	} {
		s, err := NewSession(Request{URL: "https://api.example.com/jobs", Method: "POST", Follow: follow, LookupEnv: func(string) (string, bool) { return "x", true }})
		if err != nil {
			t.Errorf("%s: %v", follow, err)
		} else if s.KeepsEnviron() != want {
			t.Errorf("%s: %t, want %t", follow, !want, want)
		}
	}
}
