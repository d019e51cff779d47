package poll

import (
	"os"
	"strings"
	"testing"
)

// Where a connection leads to a local address, another machine reaches another server.
func TestThroughTellsMachinesApart(t *testing.T) {
	variables := [...]string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"}
	for _, name := range variables {
		t.Setenv(name, "")
	}
	for _, test := range []struct {
		connect        Connect
		variable, text string
		local          bool
	}{
		{Connect{}, "", "", false},
		{Connect{Proxy: "http://127.0.0.1:3128"}, "", "", true},
		{Connect{Proxy: "socks5://me:secret@proxy:1080"}, "", "", true},
		{Connect{Proxy: "http://proxy.example.com:3128"}, "", "", false},
		{Connect{Proxy: "direct"}, "", "", false},
		{Connect{UnixSocket: "api.sock"}, "", "", true},
		{Connect{}, "HTTPS_PROXY", "10.0.0.1:3128", true},
		{Connect{}, "http_proxy", "localhost:3128", true},
		{Connect{}, "HTTP_PROXY", "http://proxy.example.com", false},
		{Connect{}, "NO_PROXY", "localhost", false},
		{Connect{Routes: map[string][]string{"app.example.com:443": {"8.8.8.8:443"}, "app.example.com:18471": {"127.0.0.1:18471"}}}, "", "", true},
		{Connect{Routes: map[string][]string{"app.example.com:": {"[fe80::1%eth0]:"}}}, "", "", true},
		{Connect{Routes: map[string][]string{"localhost:80": {"app.example.com:80"}}}, "", "", false},
		{Connect{Routes: map[string][]string{":80": {":8080"}}}, "", "", false},
	} {
		if test.variable != "" {
			t.Setenv(test.variable, test.text)
		}
		through := test.connect.Through()
		for range 20 {
			if again := test.connect.Through(); again != through {
				t.Fatalf("%+v: once %s, then %s", test.connect, through, again)
			}
		}
		if name, _ := os.Hostname(); strings.Contains(through, `"`+name+`\n`) != test.local {
			t.Errorf("%+v with %s=%s: %s", test.connect, test.variable, test.text, through)
		}
		if test.variable != "" {
			t.Setenv(test.variable, "")
		}
	}
}
