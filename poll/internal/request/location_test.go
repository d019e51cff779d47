package request

import (
	"net/url"
	"strings"
	"testing"

	"github.com/pollcli/poll/internal/connect"
)

func locationOf(t testing.TB, s string) location {
	t.Helper()
	u, err := url.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return location{url: u, trusted: true}
}

func clientOf(t testing.TB, r Request) *client {
	t.Helper()
	c, err := newClient(r)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestRefer(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		from, reference, want string
		trusted               bool
	}{
		{"https://h/a", "//other/c", "https://other/c", false},
		{"https://h/a", "https://H:443/c", "https://H:443/c", true},
		{"https://h/a", "http://h/c", "http://h/c", false},
		{"http://h:80/a", "http://h/c", "http://h/c", true},
		{"https://h/a", "https://h.evil/c", "https://h.evil/c", false},
		{"https://h/a", "https://h@evil/c", "https://evil/c", false},
		{"https://[::1]/a", "https://[::1]:443/c", "https://[::1]:443/c", true},
		{"https://secure.example/a", "https://ſecure.example/c", "https://%C5%BFecure.example/c", false},
	} {
		have, err := locationOf(t, test.from).resolve(test.reference, false)
		if err != nil {
			t.Errorf("%s and %s: %v", test.from, test.reference, err)
			continue
		}
		if have.url.String() != test.want || have.trusted != test.trusted {
			t.Errorf("%s and %s: have %s trusted %t, want %s trusted %t",
				test.from, test.reference, have.url, have.trusted, test.want, test.trusted)
		}
	}
	for _, bad := range []string{"", "ftp://h/", "javascript:alert(1)", "http://", "http://[::1", "http://h:x/", "%zz"} {
		if have, err := locationOf(t, "https://h/a").resolve(bad, false); err == nil {
			t.Errorf("%q: have %s", bad, have.url)
		}
	}
}

// FuzzLocation tests the references in Location, Operation-Location and Azure-AsyncOperation. The client resolves all of
// them in the same way.
func FuzzLocation(f *testing.F) {
	for _, seed := range []string{"/a", "//evil", "https://h/", "https://u:p@h/", "http://h:80", "\\\\evil", "https:evil", "?", "#", "%", "https://h:99999/", "https://H/", "https://ſ/"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, reference string) {
		to, err := locationOf(t, "https://h/a/b").resolve(reference, false)
		if err != nil {
			if len(reference) > 12 && strings.Contains(err.Error(), reference) {
				t.Errorf("the reference is in the error: %v", err)
			}
			return
		}
		if to.url.User != nil || to.url.Host == "" || to.url.Scheme != "https" && to.url.Scheme != "http" {
			t.Errorf("%q: have %s", reference, to.url)
		}
		if to.trusted && (to.url.Scheme != "https" || to.url.Hostname() != "h" && to.url.Hostname() != "H" || connect.Origin(to.url) != "https://h:443") {
			t.Errorf("%q: %s is trusted", reference, to.url)
		}
	})
}
