package poll_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pollcli/poll/poll"
)

func TestConnectRoutes(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write([]byte(r.Host)) }))
	t.Cleanup(server.Close) // after the parallel tests
	there := strings.TrimPrefix(server.URL, "http://")
	_, port, _ := strings.Cut(there, ":")
	const closed = "127.0.0.1:1"
	for name, test := range map[string]struct{ routes, url string }{
		"host and port":  {"a.test:80=" + there, "http://a.test/"},
		"any host":       {":80=" + there, "http://a.test/"},
		"any port":       {"a.test:=" + there, "http://a.test:81/"},
		"any":            {":=" + there, "http://a.test:81/"},
		"the same port":  {"A.test:=127.0.0.1:", "http://a.test:" + port + "/"},
		"the same host":  {":80=:" + port, "http://127.0.0.1/"},
		"the next":       {"a.test:80=" + closed + " a.test:80=" + there, "http://a.test/"},
		"others not":     {"b.test:80=" + closed + " a.test:81=" + closed + " a.test:80=" + there, "http://a.test/"},
		"not by a proxy": {"a.test:80=" + there, "http://a.test/"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			connect := poll.Connect{Routes: test.routes}
			if name == "not by a proxy" {
				connect.Proxy = "http://" + closed
			}
			transport, err := connect.Transport()
			if err != nil {
				t.Fatal(err)
			}
			defer transport.CloseIdleConnections()
			o := poll.HTTP{URL: test.url, Transport: transport}.Probe(t.Context(), poll.Attempt{})
			if o.Failure != nil {
				t.Fatal(o.Failure)
			}
			if host := strings.Split(test.url, "/")[2]; string(o.Body) != host {
				t.Errorf("the server was asked for %q, want %q", o.Body, host)
			}
		})
	}
	for _, bad := range []string{"a", "a:80", "a:80=b", "a=b:80", "a:80=b:99999", "a:http2=b:80"} {
		if _, err := (poll.Connect{Routes: bad}).Transport(); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: have error %v", bad, err)
		}
	}
}

func TestConnectProxy(t *testing.T) {
	t.Parallel()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte(r.RequestURI + " " + r.Header.Get("Proxy-Authorization")))
	}))
	defer proxy.Close()
	transport, err := poll.Connect{Proxy: strings.Replace(proxy.URL, "//", "//me:pw@", 1)}.Transport()
	if err != nil {
		t.Fatal(err)
	}
	defer transport.CloseIdleConnections()
	o := poll.HTTP{URL: "http://a.test/x", Transport: transport}.Probe(t.Context(), poll.Attempt{})
	if want := "http://a.test/x Basic bWU6cHc="; string(o.Body) != want {
		t.Errorf("have %q, want %q; %v", o.Body, want, o.Failure)
	}
	if direct, err := (poll.Connect{Proxy: "direct"}).Transport(); err != nil || direct.Proxy != nil {
		t.Errorf("direct: a proxy is asked, or %v", err)
	}
	for _, bad := range []string{"ftp://h", "http://", "h:80", "http://me:s3cret%@h"} {
		if _, err := (poll.Connect{Proxy: bad}).Transport(); !errors.Is(err, poll.ErrProxy) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: have error %v", bad, err)
		}
	}
}
