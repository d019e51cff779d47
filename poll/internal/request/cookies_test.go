package request

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// The kept cookies have a bounded size, even if a server sets new cookies in every response.
func TestCookies_areFew(t *testing.T) {
	t.Parallel()
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

// A later run sends saved cookies to the same origin. Their size is bounded.
func TestCookies_saved(t *testing.T) {
	t.Parallel()
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
