package request

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// However many cookies a server sets, few are kept.
func TestCookies_areFew(t *testing.T) {
	t.Parallel()
	var c cookies
	first := place{url: &url.URL{Scheme: "https", Host: "h.example.com", Path: "/"}, trusted: true}
	for i := range 2 * maxCookies {
		c.keep(first, http.Header{"Set-Cookie": {fmt.Sprintf("c%d=v; Path=/p%d", i, i)}})
	}
	c.keep(placeOf(t, "https://other.example.com/"), http.Header{"Set-Cookie": {"c=v"}})
	if len(c.names) != maxCookies || len(c.jars) != 1 {
		t.Errorf("%d cookies of %d places are kept, want %d of 1", len(c.names), len(c.jars), maxCookies)
	}
	c.keep(first, http.Header{"Set-Cookie": {"c0=new; Path=/p0", "c1=" + strings.Repeat("x", maxCookie) + "; Path=/p1"}})
	for path, want := range map[string]string{"/p0": "c0=new", "/p1": "c1=v"} {
		at := first
		at.url = first.url.JoinPath(path)
		r := &http.Request{Header: http.Header{}}
		c.set(r, at)
		if have := r.Header.Get("Cookie"); have != want {
			t.Errorf("%s: have %.20q, want %q", path, have, want)
		}
	}
}

// What is saved of cookies is sent to the same origin by a later run, and is bounded.
func TestCookies_saved(t *testing.T) {
	t.Parallel()
	var c, later cookies
	at := placeOf(t, "https://h.example.com/jobs/1")
	c.keep(at, http.Header{"Set-Cookie": {"node=a", `q="x y"`, "elsewhere=1; Path=/other", "long=" + strings.Repeat("x", maxSaved)}})
	lines := c.save(at)
	if size := len(strings.Join(lines, "")); size > maxSaved {
		t.Errorf("%d bytes are saved", size)
	}
	later.restore(at, append(lines, "; no cookie", "big="+strings.Repeat("x", 2*maxCookie)))
	for address, want := range map[string]string{
		"https://h.example.com/jobs/2": `node=a; q="x y"`, "https://h.example.com:8443/jobs/1": "",
		"http://h.example.com/jobs/1": "", "https://www.h.example.com/jobs/1": "",
	} {
		r := &http.Request{Header: http.Header{}}
		later.set(r, placeOf(t, address))
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
