package connect

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"testing"
)

func TestRoutes(t *testing.T) {
	t.Parallel()
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
			t.Parallel()
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
	t.Parallel()
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
