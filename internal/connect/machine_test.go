package connect

import (
	"os"
	"strings"
	"testing"
)

func TestIsLocal(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]struct{ local, loopback bool }{
		"":                 {false, false},
		"example.com":      {false, false},
		"8.8.8.8":          {false, false},
		"2001:db8::1":      {false, false},
		"localhost":        {true, true},
		"LOCALHOST.":       {true, true},
		"app.localhost":    {true, true},
		"127.0.0.2":        {true, true},
		"::1":              {true, true},
		"::ffff:127.0.0.1": {true, true},
		"0.0.0.0":          {true, true},
		"10.0.0.1":         {true, false},
		"fd00::1":          {true, false},
		"fe80::1%eth0":     {true, false},
		"web":              {true, false},
		"nas.local":        {true, false},
		"a.home.arpa":      {true, false},
	} {
		if local, loopback := IsLocal(host), IsLoopback(host); local != want.local || loopback != want.loopback {
			t.Errorf("%q: local %v, loopback %v", host, local, loopback)
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
