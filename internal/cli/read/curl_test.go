package read

import (
	"strings"
	"testing"
)

func TestRoutesAndProxy(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		flag, value, want string // "" for an error
	}{
		{"--resolve", "www.test:443:10.0.0.7", "www.test:443=10.0.0.7:443"},
		{"--resolve", "+www.test:443:10.0.0.7,[fe80::1]", "www.test:443=10.0.0.7:443,[fe80::1]:443"},
		{"--resolve", "*:443:10.0.0.7", ":443=10.0.0.7:443"},
		{"--resolve", "[::1]:443:fe80::1", "[::1]:443=[fe80::1]:443"},
		{"--resolve", "www.test.:443:10.0.0.7", "www.test:443=10.0.0.7:443"},
		{"--resolve", "bücher.test:443:10.0.0.7", ""},
		{"--connect-to", "www.test:443:bücher.test:443", ""},
		{"--resolve", "www.test:443", ""},
		{"--resolve", "www.test:443:other.test", ""},
		{"--connect-to", "www.test:443:other.test:8443", "www.test:443=other.test:8443"},
		{"--connect-to", "[::1]:443:[::2]:8443", "[::1]:443=[::2]:8443"},
		{"--connect-to", "www.test:443:other.test", ""},
		{"--connect-to", "a=b:443:other.test:443", ""},
		{"--connect-to", "[::1:443", ""},
		{"--resolve", "a]b:443:10.0.0.7", ""},
		{"-x", "proxy.test", "http://proxy.test:1080"},
		{"-x", "https://me:pw@proxy.test", "https://me:pw@proxy.test"},
		{"-x", "socks5h://[::1]", "socks5h://[::1]:1080"},
		{"-x", "", "direct"},
		{"-x", "ftp://proxy.test", ""},
		{"-x", "http://me:pw%@proxy.test", ""},
	} {
		var have string
		s, _, err := lineOf(t, test.flag, test.value, "http://h")
		if err == nil {
			have = s.Connect.Proxy
			for from, to := range s.Connect.Routes {
				have += from + "=" + strings.Join(to, ",")
			}
		}
		if err != nil {
			have = ""
		}
		if have != test.want {
			t.Errorf("%s %s: have %q, want %q", test.flag, test.value, have, test.want)
		}
	}
}

// A limit of 0 means no limit, not the default of the library.
func TestMaxBody_none(t *testing.T) {
	t.Parallel()
	if s, _, err := lineOf(t, "--max-body", "0", "http://h"); err != nil || s.HTTP.MaxBody < 1<<40 {
		t.Errorf("have %d and %v", s.HTTP.MaxBody, err)
	}
}
