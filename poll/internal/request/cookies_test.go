package request

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// However many cookies a server sets, few are kept.
func TestCookies_areFew(t *testing.T) {
	t.Parallel()
	var c cookies
	first := placeOf(t, "https://h.example.com/")
	for i := range 2 * maxCookies / 100 {
		c.keep(first, []string{fmt.Sprintf("c%d=%0100d; Path=/p%d", i, i, i)})
	}
	for i := range 2 * maxCookies / 100 {
		c.keep(placeOf(t, fmt.Sprintf("https://h%d.example.com/", i)), []string{fmt.Sprintf("c=%0100d", i)})
	}
	if c.size > maxCookies || len(c.sizes) > maxCookies/100 || len(c.jars) != 1 {
		t.Errorf("%d cookies of %d places are kept, %d bytes", len(c.sizes), len(c.jars), c.size)
	}
	c.keep(first, []string{"c0=new; Path=/p0", "c1=" + strings.Repeat("x", maxCookies) + "; Path=/p1"})
	for path, want := range map[string]string{"/p0": "c0=new", "/p1": fmt.Sprintf("c1=%0100d", 1)} {
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
	c.keep(at, []string{"node=a", `q="x y"`, "elsewhere=1; Path=/other", "long=" + strings.Repeat("x", maxCookies)})
	later.restore(at, append(c.save(at), "; no cookie", "big="+strings.Repeat("x", maxCookies)))
	for address, want := range map[string]string{
		"https://h.example.com/jobs/2": `node=a; q="x y"`, "https://h.example.com/": `node=a; q="x y"`,
		"https://h.example.com:8443/jobs/1": "", "http://h.example.com/jobs/1": "", "https://www.h.example.com/jobs/1": "",
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
