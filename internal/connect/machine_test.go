package connect

import (
	"os"
	"strings"
	"testing"
)

func TestIsLoopback(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"":                 false,
		"example.com":      false,
		"8.8.8.8":          false,
		"2001:db8::1":      false,
		"localhost":        true,
		"LOCALHOST.":       true,
		"app.localhost":    true,
		"127.0.0.2":        true,
		"::1":              true,
		"::ffff:127.0.0.1": true,
		"0.0.0.0":          true,
		"10.0.0.1":         false,
		"fe80::1%eth0":     false,
		"web":              false,
	} {
		if have := IsLoopback(host); have != want {
			t.Errorf("%q: have %v", host, have)
		}
	}
}

// Two containers may have one host name and one kernel.
func TestMachine_tellsNetworksApart(t *testing.T) {
	t.Parallel()
	network, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Skip("there are no network namespaces: ", err)
	}
	if got := Machine(); !strings.HasSuffix(got, network) {
		t.Errorf("Machine is %q without %s", got, network)
	}
}
