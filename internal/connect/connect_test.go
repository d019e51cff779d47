package connect

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDialLocalhost(t *testing.T) {
	for _, test := range []struct{ listens, address, want string }{
		{"127.0.0.1:80", "localhost:80", "localhost:80 [::1]:80 127.0.0.1:80"},
		{"[::1]:80", "LOCALHOST.:80", "LOCALHOST.:80 [::1]:80"},
		{"[::1]:80", "a.localhost:80", "a.localhost:80 [::1]:80"},
		{"[::1]:80", "localhost.example.com:80", "localhost.example.com:80"},
		{"h:80", "h:80", "h:80"},
	} {
		var asked []string
		dial := func(_ context.Context, _, address string) (net.Conn, error) {
			asked = append(asked, address)
			if address != test.listens {
				return nil, net.ErrClosed
			}
			return nil, nil
		}
		DialFirst(t.Context(), dial, "tcp", test.address)
		if have := strings.Join(asked, " "); have != test.want {
			t.Errorf("%s: have %s, want %s", test.address, have, test.want)
		}
	}
}

// Settings that can never connect are an error at once. The error has no password of a proxy.
func TestMistakes(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []Options{
		{CACert: empty}, {CACert: empty + ".none"}, {Cert: empty}, {Cert: empty + ".none"}, {Key: empty},
		{Proxy: "ftp://h"}, {Proxy: "http://"}, {Proxy: "h:8o"}, {Proxy: "http://me:s3cret%@h"},
	} {
		if _, err := c.Transport(); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%+v: have %v", c, err)
		}
	}
}

func TestCheckProxies(t *testing.T) {
	for _, test := range []struct {
		name, value string
		good        bool
	}{
		{"HTTP_PROXY", "http://proxy.example:3128", true},
		{"https_proxy", "socks5://me:s3cret@proxy.example", true},
		{"http_proxy", "proxy.example:3128", true},
		{"http_proxy", "proxy.example", true},
		{"HTTPS_PROXY", "me:s3cret@proxy.example:3128", true},
		{"HTTPS_PROXY", "[::1]:3128", true},
		{"http_proxy", "", true},
		{"NO_PROXY", "http://[", true},
		{"HTTP_PROXY", "http://me:s3cret%@proxy.example", false},
		{"http_proxy", "http://me:s3cret@[::1", false},
		{"HTTPS_PROXY", "http://s3cret proxy:3128", false},
		{"https_proxy", "http://", false},
		{"https_proxy", "http:///s3cret", false},
		{"https_proxy", "proxy.example:s3cret", false},
		{"https_proxy", "http://s3cret:99999", false},
		{"https_proxy", "s3cret:99999", false},
		{"https_proxy", "proxy.example:65535", true},
	} {
		err := checkProxies(func(name string) string {
			if name == test.name {
				return test.value
			}
			return ""
		})
		if test.good != (err == nil) {
			t.Errorf("%s=%s: have %v", test.name, test.value, err)
		}
		if err != nil && (!errors.Is(err, errProxy) || !strings.HasPrefix(err.Error(), test.name+" is not") || strings.Contains(err.Error(), "s3cret")) {
			t.Errorf("%s=%s: have %v", test.name, test.value, err)
		}
	}
}

func TestRoutes(t *testing.T) {
	for name, test := range map[string]struct {
		routes          map[string][]string
		address, dialed string
	}{
		"host and port":   {map[string][]string{"a.test:80": {"10.0.0.7:8080"}}, "a.test:80", "10.0.0.7:8080"},
		"any host":        {map[string][]string{":80": {"10.0.0.7:8080"}}, "a.test:80", "10.0.0.7:8080"},
		"any port":        {map[string][]string{"a.test:": {"10.0.0.7:8080"}}, "a.test:81", "10.0.0.7:8080"},
		"any":             {map[string][]string{":": {"10.0.0.7:8080"}}, "a.test:81", "10.0.0.7:8080"},
		"the same port":   {map[string][]string{"a.test:": {"10.0.0.7:"}}, "A.test:81", "10.0.0.7:81"},
		"the same host":   {map[string][]string{":80": {":8080"}}, "a.test:80", "a.test:8080"},
		"a trailing dot":  {map[string][]string{"a.test:80": {"10.0.0.7:"}}, "a.test.:80", "10.0.0.7:80"},
		"IPv6":            {map[string][]string{"[::1]:80": {"[::2]:"}}, "[::1]:80", "[::2]:80"},
		"no other host":   {map[string][]string{"b.test:80": {"10.0.0.7:8080"}}, "a.test:80", "a.test:80"},
		"no other port":   {map[string][]string{"a.test:81": {"10.0.0.7:8080"}}, "a.test:80", "a.test:80"},
		"the first":       {map[string][]string{"a.test:80": {"10.0.0.7:8080", "10.0.0.8:8080"}}, "a.test:80", "10.0.0.7:8080"},
		"the next":        {map[string][]string{"a.test:80": {"closed.test:1", "10.0.0.7:8080"}}, "a.test:80", "closed.test:1 10.0.0.7:8080"},
		"the closest":     {map[string][]string{":80": {"10.0.0.6:1"}, "a.test:80": {"10.0.0.7:8080"}}, "a.test:80", "10.0.0.7:8080"},
		"none that opens": {map[string][]string{"a.test:80": {"closed.test:1"}, ":80": {"closed.test:2"}}, "a.test:80", "closed.test:1 closed.test:2"},
	} {
		t.Run(name, func(t *testing.T) {
			var dialed []string
			dial := Options{Routes: test.routes}.dial(func(_ context.Context, _, address string) (net.Conn, error) {
				dialed = append(dialed, address)
				if strings.HasPrefix(address, "closed.test:") {
					return nil, errors.New(address + " is closed")
				}
				return &net.TCPConn{}, nil
			})
			conn, err := dial(t.Context(), "tcp", test.address)
			if have := strings.Join(dialed, " "); have != test.dialed {
				t.Errorf("connected to %q, want %q", have, test.dialed)
			}
			isClosed := strings.HasPrefix(dialed[len(dialed)-1], "closed.test:")
			if want := strings.Join(dialed, " is closed\n") + " is closed"; isClosed != (conn == nil) || isClosed && err.Error() != want {
				t.Errorf("have connection %v and error %v", conn, err)
			}
		})
	}
}

func TestRoutesPastTheProxy(t *testing.T) {
	transport, err := Options{Proxy: "http://proxy.test:3128", Routes: map[string][]string{
		"a.test:80": {"10.0.0.7:8080"}, "b.test:443": {"10.0.0.7:8443"},
	}}.Transport()
	if err != nil {
		t.Fatal(err)
	}
	for url, proxied := range map[string]bool{
		"http://a.test/": false, "http://a.test:80/": false, "http://a.test:81/": true, "https://a.test/": true,
		"https://b.test/": false, "http://b.test/": true, "http://b.test:443/": false, "http://c.test/": true,
	} {
		request, _ := http.NewRequest("GET", url, nil)
		proxy, err := transport.Proxy(request)
		if err != nil || (proxy != nil) != proxied {
			t.Errorf("%s: have proxy %v and error %v, want one: %t", url, proxy, err, proxied)
		}
	}
}

func TestPage(t *testing.T) {
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

func TestNetrc(t *testing.T) {
	const file = `# machine commented.example.com login no password no
machine one.example.com login me password p1
machine two.example.com
	login machine
	password login
machine three.example.com login half
machine six.example.com password alone
machine four.example.com account x login a password #not-a-comment port 21
default login anonymous password guest
machine five.example.com login late password late
`
	for _, test := range []struct{ host, want string }{
		{"one.example.com", "me p1"},
		{"ONE.example.com", "me p1"},
		{"two.example.com", "machine login"},
		{"three.example.com", "half "},
		{"four.example.com", "a #not-a-comment"},
		{"commented.example.com", "anonymous guest"},
		{"five.example.com", "anonymous guest"},
		{"six.example.com", "anonymous guest"}, // it has no login
	} {
		user, err := Netrc(file, test.host)
		if err != nil || user == nil {
			t.Errorf("%s: have %v, %v", test.host, user, err)
			continue
		}
		password, _ := user.Password()
		if have := user.Username() + " " + password; have != test.want {
			t.Errorf("%s: have %q, want %q", test.host, have, test.want)
		}
	}
	if user, err := Netrc("machine a login b password c", "other"); user != nil || err != nil {
		t.Errorf("have %v, %v", user, err)
	}
	if user, err := Netrc("machine secure login b password c", "ſecure"); user != nil || err != nil {
		t.Errorf("for a host that only Unicode folds to the machine: have %v, %v", user, err)
	}
	for _, unread := range []string{`machine a login "s3cret" password b`, "macdef s3cret\n\n"} {
		if _, err := Netrc(unread, "a"); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("have error %v", err)
		}
	}
}

func TestIsLoopback(t *testing.T) {
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
	network, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Skip("there are no network namespaces: ", err)
	}
	if got := Machine(); !strings.HasSuffix(got, network) {
		t.Errorf("Machine is %q without %s", got, network)
	}
}
