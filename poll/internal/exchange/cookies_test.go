package exchange

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
	for i := range 2 * maxCookiePlace {
		u, _ := url.Parse(fmt.Sprintf("https://h%d.example.com/", i))
		for k := range 2 * maxCookies {
			c.keep(place{url: u, trusted: true}, http.Header{"Set-Cookie": {fmt.Sprintf("c%d=v; Path=/p%d", k, k)}})
		}
	}
	if len(c.places) != maxCookiePlace {
		t.Errorf("cookies of %d places are kept, want %d", len(c.places), maxCookiePlace)
	}
	for where, pot := range c.places {
		if len(pot.names) != maxCookies {
			t.Errorf("%v: %d cookies are kept, want %d", where, len(pot.names), maxCookies)
		}
	}
	first := place{url: &url.URL{Scheme: "https", Host: "h0.example.com", Path: "/"}, trusted: true}
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
