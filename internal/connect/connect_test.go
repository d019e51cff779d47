package connect

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDialLocalhost(t *testing.T) {
	t.Parallel()
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

// What can never connect is an error at once, without the password of a proxy.
func TestMistakes(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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
