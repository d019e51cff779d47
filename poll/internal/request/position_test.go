package request

import (
	"encoding/json"

	"net/url"

	"testing"
)

// Resume does not rely on the saved trust alone. So a forged saved position does not obtain credentials.
func TestResumeTrustsNoMoreThanANewOperation(t *testing.T) {
	t.Parallel()
	for kept, want := range map[string]struct {
		at      string
		trusted bool
	}{
		`{"phase":"follow","at":{"url":"https://api.example.com/jobs/1?sig=x","trusted":true}}`: {"https://api.example.com/jobs/1?sig=x", true},
		`{"phase":"follow","at":{"url":"https://api.example.com/jobs/1"}}`:                      {"https://api.example.com/jobs/1", false}, // another origin led there
		`{"phase":"follow","at":{"url":"https://evil.example.com/","trusted":true}}`:            {"https://evil.example.com/", false},
		`{"phase":"follow","at":{"url":"https://me:pass@api.example.com/","trusted":true}}`:     {"https://api.example.com/", true},
		`{"phase":"follow","at":{"url":"http://other.example.com/"}}`:                           {"http://other.example.com/", false},
		`{"phase":"follow","at":{"url":"http://api.example.com/","trusted":true}}`:              {"", false}, // from https to http
		`{"phase":"follow","at":{"url":"file:///etc/passwd","trusted":true}}`:                   {"", false},
	} {
		s, err := NewOperation(Request{URL: "https://api.example.com/jobs", Method: "POST", User: url.UserPassword("me", "s3cret")})
		if err != nil {
			t.Fatal(err)
		}
		p, err := s.Resume(json.RawMessage(kept))
		switch {
		case want.at == "" && err == nil:
			t.Errorf("%s: no error, at %s", kept, p.At.url)
		case want.at != "" && (err != nil || p.At.url.String() != want.at || p.At.trusted != want.trusted || s.client.guards(p.At) != want.trusted || p.IsStart()):
			t.Errorf("%s: %v, at %s, trusted %t, guarded %t, start due %t", kept, err, p.At.url, p.At.trusted, s.client.guards(p.At), p.IsStart())
		}
	}
}

func TestKeepsEnviron(t *testing.T) {
	t.Parallel()
	for follow, want := range map[string]bool{
		"": false, "none": false, ".url": false, "/jobs/{.id}": false, "/jobs/{.id}?env=ENV": false,
		"/jobs/{.id}?key={$ENV.KEY}": true, "?id={.id}&key={$ENV.KEY}": true, "?id={jq: env.KEY + .id}": true,
	} {
		s, err := NewOperation(Request{URL: "https://api.example.com/jobs", Method: "POST", Follow: follow, LookupEnv: func(string) (string, bool) { return "x", true }})
		if err != nil {
			t.Errorf("%s: %v", follow, err)
		} else if s.KeepsEnviron() != want {
			t.Errorf("%s: %t, want %t", follow, !want, want)
		}
	}
}
