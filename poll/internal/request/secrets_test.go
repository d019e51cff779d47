package request

import (
	"net/url"
	"strings"
	"testing"
)

func TestTargetName(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ in, want string }{
		{"https://me:s3cret@api.example.com:8443/a/b%20c?token=s3cret#s3cret", "https://api.example.com:8443/a/b%20c"},
		{"http://api.example.com", "http://api.example.com"},
		{"http://[::1]:80/x?s3cret", "http://[::1]:80/x"},
		{"https://api.example.com/a;jsessionid=s3cret/b;v=s3cret", "https://api.example.com/a/b"},
		{"https://api.example.com/a;b/c", "https://api.example.com/a;b/c"},
		{"https://cache.example.com/fetch/https://me:s3cret@host/a?s3cret", "https://cache.example.com/fetch/https://host/a"},
		{"/://me:s3cret@host/", "host"},
		{"tcp://db:5432", "tcp://db:5432"},
		{"https://me:s3c%ret@host/", "https://"},
		{"https://host:s3cret/", "https://"},
		{"/usr/local/bin/kubectl", "kubectl"},
		{"kubectl", "kubectl"},
		{"", ""},
	} {
		if have := TargetName(test.in); have != test.want {
			t.Errorf("%q: have %q, want %q", test.in, have, test.want)
		}
	}
}

func TestRedact(t *testing.T) {
	t.Parallel()
	u, err := url.Parse("https://me:passw0rd@host/p?token=s3cret%2F1&n=7")
	if err != nil {
		t.Fatal(err)
	}
	have := redact(`Get "https://me:passw0rd@host/p?token=s3cret%2F1&n=7": proxy http://x:y@p/?q said s3cret/1, passw0rd and Bearer abc.def, not 7`, append(secretsOf(u), "Bearer abc.def"))
	want := `Get "https://host/p": proxy http://p/ said ***, *** and ***, not 7`
	if have != want {
		t.Errorf("have %s\nwant %s", have, want)
	}
}

func FuzzTargetName(f *testing.F) {
	f.Add("https", "me", "passw0rd", "host", "/p", "q=s3cret")
	f.Add("", "me", "passw0rd", "host", "/p", "q=s3cret")
	f.Add("", "me", "passw0rd", "host", "", "q=s3cret")
	f.Add("", "me", "passw0rd", "host:", "//", "q=s3cret")
	f.Add("1http", "me", "passw0rd", "host", "/p", "q=s3cret")
	f.Fuzz(func(t *testing.T, scheme, login, password, host, path, query string) {
		u := url.URL{Scheme: scheme, Host: host, Path: path, User: url.UserPassword("L0GIN"+login, "PASSW0RD"+password), RawQuery: "QU3RY" + query}
		have := TargetName(u.String())
		for _, secret := range []string{"L0GIN", "PASSW0RD", "QU3RY"} {
			if strings.Contains(have, secret) && !strings.Contains(scheme+host+path, secret[:3]) {
				t.Errorf("%s: have %s", u.String(), have)
			}
		}
	})
}
