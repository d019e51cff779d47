package connect

import (
	"os"
	"strings"
	"testing"
)

// Where a connection leads to a local address, another machine reaches another server.
func TestIDTellsMachinesApart(t *testing.T) {
	variables := [...]string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"}
	for _, name := range variables {
		t.Setenv(name, "")
	}
	for _, test := range []struct {
		options        Options
		variable, text string
		local          bool
	}{
		{Options{}, "", "", false},
		{Options{Proxy: "http://127.0.0.1:3128"}, "", "", true},
		{Options{Proxy: "socks5://me:secret@proxy:1080"}, "", "", true},
		{Options{Proxy: "http://proxy.example.com:3128"}, "", "", false},
		{Options{Proxy: "direct"}, "", "", false},
		{Options{UnixSocket: "api.sock"}, "", "", true},
		{Options{}, "HTTPS_PROXY", "10.0.0.1:3128", true},
		{Options{}, "http_proxy", "localhost:3128", true},
		{Options{}, "HTTP_PROXY", "http://proxy.example.com", false},
		{Options{}, "NO_PROXY", "localhost", false},
		{Options{Routes: map[string][]string{"app.example.com:443": {"8.8.8.8:443"}, "app.example.com:18471": {"127.0.0.1:18471"}}}, "", "", true},
		{Options{Routes: map[string][]string{"app.example.com:": {"[fe80::1%eth0]:"}}}, "", "", true},
		{Options{Routes: map[string][]string{"localhost:80": {"app.example.com:80"}}}, "", "", false},
		{Options{Routes: map[string][]string{":80": {":8080"}}}, "", "", false},
	} {
		if test.variable != "" {
			t.Setenv(test.variable, test.text)
		}
		id := test.options.ID()
		for range 20 {
			if again := test.options.ID(); again != id {
				t.Fatalf("%+v: once %s, then %s", test.options, id, again)
			}
		}
		if name, _ := os.Hostname(); strings.Contains(id, `"`+name+`\n`) != test.local {
			t.Errorf("%+v with %s=%s: %s", test.options, test.variable, test.text, id)
		}
		if test.variable != "" {
			t.Setenv(test.variable, "")
		}
	}
}
