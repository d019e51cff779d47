package request

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// A client can read its transport while another goroutine sends the first request through the transport, which may be
// http.DefaultTransport. The race detector checks this.
func TestTransportConcurrent(t *testing.T) {
	transport := &http.Transport{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		transport.CloseIdleConnections() // sets the transport up, as the first request does
	}()
	session, err := NewOperation(Request{URL: "https://api.example.com/", Transport: transport})
	<-done
	if err != nil || session.Credentials() != "" {
		t.Errorf("have credentials %q and error %v", session.Credentials(), err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A renewed value is a secret, too, until maxRenewed later values have replaced it.
func TestRenewedSecrets(t *testing.T) {
	n := -1
	c := clientOf(t, Request{URL: "http://h/", Header: http.Header{"X-Key": {"first-key"}}, Refresh: func(*http.Request, bool) (http.Header, error) {
		n++
		return http.Header{"X-Key": {fmt.Sprintf("key-%d.", n)}, "Accept": {fmt.Sprint("any-", n)}}, nil
	}})
	for range maxRenewed + 1 {
		c.renew(t.Context(), call{at: c.given}, false)
	}
	have := c.withoutSecrets(errors.New("first-key key-0. key-1. key-64. any-64"), c.given.url)
	if want := "*** key-0. *** *** any-64"; have != want {
		t.Errorf("have %s, want %s", have, want)
	}
}

func TestConditionsOn(t *testing.T) {
	const now, second, two = "Fri, 20 Nov 2026 12:00:10 GMT", "Fri, 20 Nov 2026 12:00:09 GMT", "Fri, 20 Nov 2026 12:00:08 GMT"
	for _, test := range []struct {
		name   string
		header []string
		want   []string
	}{
		{"both", []string{`ETag: "a"`, "Date: " + now, "Last-Modified: " + two}, []string{`"a"`, two}},
		{"a second old", []string{"Date: " + now, "Last-Modified: " + second}, []string{}},
		{"two seconds old", []string{"Date: " + now, "Last-Modified: " + two}, []string{"", two}},
		{"from the future", []string{"Date: " + two, "Last-Modified: " + now}, []string{}},
		{"no date at all", []string{`ETag: "a"`, "Last-Modified: soon"}, []string{`"a"`}},
		{"strong and fresh", []string{`ETag: "a"`, "Date: " + now, "Last-Modified: " + second}, []string{}},
		{"weak and not fresh", []string{`ETag: W/"a"`, "Date: " + now, "Last-Modified: " + two}, []string{`W/"a"`, two}},
	} {
		want := http.Header{}
		for i, value := range test.want {
			if value != "" {
				want.Set([]string{"If-None-Match", "If-Modified-Since"}[i], value)
			}
		}
		if have := conditionsOn(headerOf(test.header...)); !maps.EqualFunc(have, want, slices.Equal) {
			t.Errorf("%s: have %+v, want %+v", test.name, have, want)
		}
	}
}

// A response with a long body is not kept, so the next request is unconditional.
func TestCacheIsBounded(t *testing.T) {
	for size, want := range map[int]string{maxKept: `"a"`, maxKept + 1: ""} {
		var asked string
		server := roundTrip(func(r *http.Request) (*http.Response, error) {
			asked = r.Header.Get("If-None-Match")
			text := io.NopCloser(strings.NewReader(strings.Repeat("x", size)))
			return &http.Response{StatusCode: 200, Header: http.Header{"Etag": {`"a"`}}, ContentLength: -1, Body: text}, nil
		})
		s := newTestSession(t, Request{URL: "http://h/", Transport: server})
		s.Check(t.Context(), Attempt{})
		if s.Check(t.Context(), Attempt{}); asked != want {
			t.Errorf("after %d bytes: asked with %q, want %q", size, asked, want)
		}
	}
}

// headerOf returns the header in lines of the form "Name: value".
func headerOf(lines ...string) http.Header {
	header := http.Header{}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		header.Add(name, value)
	}
	return header
}

// The kept cookies have a bounded size, even if a server sets new cookies in every response.
func TestCookies_areFew(t *testing.T) {
	var c cookies
	at := locationOf(t, "https://h.example.com/")
	c.keep(at, []string{"long=" + strings.Repeat("x", maxSetCookie)})
	if have := c.of(at); len(have) > 0 {
		t.Errorf("%d cookies are kept that are too long", len(have))
	}
	kept := 0
	for i := range 4 * maxCookies / 2000 {
		c.keep(at, []string{fmt.Sprintf("c%d=%02000d", i, i)})
		if i%50 != 0 {
			continue
		}
		have := c.of(at)
		if kept = max(kept, len(have)); len(have) == 0 || !slices.ContainsFunc(have, func(x *http.Cookie) bool { return x.Name == fmt.Sprint("c", i) }) {
			t.Fatalf("of %d cookies the last one is not kept", i+1)
		}
	}
	if size := len(strings.Join(c.save(at), "")); size > maxSetCookie || size < maxSetCookie/2 {
		t.Errorf("%d bytes are saved", size)
	}
	if most := maxCookies / 2000; kept > most || kept < most/2 {
		t.Errorf("%d cookies are kept", kept)
	}
}

// A cookie that would exceed the limit of saved cookies does not displace a later small cookie.
func TestCookies_smallAfterLarge(t *testing.T) {
	var c cookies
	at := locationOf(t, "https://h.example.com/")
	for i := range 5 {
		c.keep(at, []string{fmt.Sprintf("c%d=%04000d", i, i)})
	}
	c.keep(at, []string{"session=1"})
	if saved := c.save(at); len(saved) != 5 || saved[4] != "session=1" {
		t.Errorf("the %d saved cookies lack the last one", len(saved))
	}
}

// A later run sends saved cookies to the same origin. Their size is bounded.
func TestCookies_saved(t *testing.T) {
	var c, later cookies
	at := locationOf(t, "https://h.example.com/jobs/1")
	c.keep(at, []string{"node=a", `q="x y"`, "elsewhere=1; Path=/other"})
	later.restore(at, append(c.save(at), "; no cookie", "big="+strings.Repeat("x", maxSetCookie)))
	for address, want := range map[string]string{
		"https://h.example.com/jobs/2": `node=a; q="x y"`, "https://h.example.com/": `node=a; q="x y"`,
		"https://h.example.com:8443/jobs/1": "", "http://h.example.com/jobs/1": "", "https://www.h.example.com/jobs/1": "",
	} {
		r := &http.Request{Header: http.Header{}}
		later.set(r, locationOf(t, address))
		if have := r.Header.Get("Cookie"); have != want {
			t.Errorf("%s: have %q, want %q", address, have, want)
		}
	}
	r := &http.Request{Header: http.Header{}}
	at.trusted = false
	if later.set(r, at); r.Header.Get("Cookie") != "" {
		t.Errorf("sent where it is not trusted: %q", r.Header.Get("Cookie"))
	}
}

func TestTargetName(t *testing.T) {
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
	u := must(url.Parse("https://me:passw0rd@host/p?token=s3cret%2F1&n=7"))
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

// Resume does not rely on the saved trust alone. So a forged saved position does not obtain credentials.
func TestResumeTrustsNoMoreThanANewOperation(t *testing.T) {
	for kept, want := range map[string]struct {
		at      string
		trusted bool
	}{
		`{"phase":"follow","at":{"url":"https://api.example.com/jobs/1?sig=x","trusted":true}}`: {"https://api.example.com/jobs/1?sig=x", true},
		`{"phase":"follow","at":{"url":"https://api.example.com/jobs/1"}}`:                      {"https://api.example.com/jobs/1", false}, // another origin led there
		`{"phase":"follow","at":{"url":"https://evil.example.com/","trusted":true}}`:            {"https://evil.example.com/", false},
		`{"phase":"follow","at":{"url":"https://me:pass@api.example.com/","trusted":true}}`:     {"https://api.example.com/", true},
		`{"phase":"follow","at":{"url":"http://other.example.com/"}}`:                           {"http://other.example.com/", false},
		`{"phase":"follow","at":{"url":"http://api.example.com/","trusted":true}}`:              {"", false}, // from https to http
		`{"phase":"follow","at":{"url":"file:///etc/passwd","trusted":true}}`:                   {"", false},
	} {
		s := must(NewOperation(Request{URL: "https://api.example.com/jobs", Method: "POST", User: url.UserPassword("me", "s3cret")}))
		p, err := s.Resume(json.RawMessage(kept))
		switch {
		case want.at == "" && err == nil:
			t.Errorf("%s: no error, at %s", kept, p.At.url)
		case want.at != "" && (err != nil || p.At.url.String() != want.at || p.At.trusted != want.trusted || s.client.guards(p.At) != want.trusted || p.IsStart()):
			t.Errorf("%s: %v, at %s, trusted %t, guarded %t, start due %t", kept, err, p.At.url, p.At.trusted, s.client.guards(p.At), p.IsStart())
		}
	}
}

func TestKeepsEnviron(t *testing.T) {
	for follow, want := range map[string]bool{
		"": false, "none": false, ".url": false, "/jobs/{.id}": false, "/jobs/{.id}?env=ENV": false,
		"/jobs/{.id}?key={$ENV.KEY}": true, "?id={.id}&key={$ENV.KEY}": true, "?id={jq: env.KEY + .id}": true,
	} {
		s, err := NewOperation(Request{URL: "https://api.example.com/jobs", Method: "POST", Follow: follow, LookupEnv: func(string) (string, bool) { return "x", true }})
		if err != nil {
			t.Errorf("%s: %v", follow, err)
		} else if s.KeepsEnviron() != want {
			t.Errorf("%s: %t, want %t", follow, !want, want)
		}
	}
}

// A strictConn replaces the failure codes of a name server by SERVFAIL, and keeps the code of a missing name.
func TestStrictConn(t *testing.T) {
	server := must(net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}))
	defer server.Close()
	client := must(net.DialUDP("udp", nil, server.LocalAddr().(*net.UDPAddr)))
	defer client.Close()
	for code, want := range []byte{0, 2, 2, 3, 2, 2} {
		header := make([]byte, 12)
		header[3] = 0x80 | byte(code)
		must(server.WriteTo(header, client.LocalAddr()))
		have := make([]byte, 512)
		if n, err := (strictConn{client}).Read(have); n != 12 || err != nil || have[3] != 0x80|want {
			t.Errorf("code %d: have %x and %v, want code %d", code, have[:n], err, want)
		}
	}
}

// must returns value, and panics if err is not nil: the preparation of a test has failed.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
