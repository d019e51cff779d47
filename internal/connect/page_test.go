package connect

import (
	"net/url"
	"testing"
)

func TestPage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"http://h/x", "http://H:80/x", true},
		{"https://h", "HTTPS://h:443/#f", true},
		{"http://h/x?", "http://ann:s3cret@h/x", true},
		{"http://[::1]/x", "http://[::1]:80/x", true},
		{"tcp://DB:5432", "tcp://db:5432", true},
		{"http://h/x", "https://h/x", false},
		{"http://h/x", "http://h:8080/x", false},
		{"http://h/x", "http://h/x/", false},
		{"http://h/x", "http://h/X", false},
		{"http://h/x?a=1", "http://h/x?a=2", false},
		{"http://h/x?a=1&b=2", "http://h/x?b=2&a=1", false},
		{"http://h/a%2Fb", "http://h/a/b", false},
		{"KUBECTL", "kubectl", false}, // no URL
	} {
		a, _ := PageOf(test.a)
		if b, _ := PageOf(test.b); test.want != (a == b) {
			t.Errorf("%s and %s: want %t", test.a, test.b, test.want)
		}
	}
}

// TestSameHost has hosts that Unicode's case folding would make the same.
func TestSameHost(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"api.example.com", "API.Example.COM", true},
		{"aZ.example", "Az.example", true},
		{"Straße.example", "straße.example", false}, // the safe side, too
		{"straße.example", "straẞe.example", false},
		{"φίλος.example", "φίλοσ.example", false},
		{"secure.example", "ſecure.example", false},
		{"kelvin.example", "\u212aelvin.example", false},
		{"straße.example", "xn--strae-oqa.example", false}, // the safe side: two spellings are two hosts
		{"ä.example", "Ä.example", false},
		{"\xff.example", "\xfe.example", false},
		{"a.example", "a.example.", false},
		{"@.example", "`.example", false},
		{"[.example", "{.example", false},
		{"a.example", "a.example.evil", false},
	} {
		if have := Origin(&url.URL{Host: test.a}) == Origin(&url.URL{Host: test.b}); have != test.want {
			t.Errorf("%q and %q: want %t", test.a, test.b, test.want)
		}
	}
}
