package exchange

import (
	"net/http"
	"net/http/cookiejar"
	"strings"
	"sync"
)

// The most that is kept of a place's cookies (RFC 6265 section 6.1 asks for at least 50 of
// 4096 bytes): a server that sets new ones with every answer must not fill the memory.
const (
	maxCookies     = 50
	maxCookie      = 4 << 10
	maxCookiePlace = 20
)

// cookies keeps what answers set, for later requests of the same run. Unlike in a browser
// a cookie stays with the origin that has set it, whatever its Domain, and what an origin
// sets that is not trusted is not sent when it is.
type cookies struct {
	mu     sync.Mutex
	places map[cookiePlace]*cookiePot
}

type cookiePlace struct {
	origin  string
	trusted bool
}

type cookiePot struct {
	jar   *cookiejar.Jar
	names map[string]bool // with their paths
}

// keep takes the cookies of an answer.
func (c *cookies) keep(from place, header http.Header) {
	if len(header["Set-Cookie"]) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := cookiePlace{from.origin(), from.trusted}
	pot := c.places[key]
	if pot == nil {
		if len(c.places) == maxCookiePlace {
			return
		}
		jar, _ := cookiejar.New(nil) // never fails
		pot = &cookiePot{jar, make(map[string]bool)}
		if c.places == nil {
			c.places = make(map[cookiePlace]*cookiePot)
		}
		c.places[key] = pot
	}
	var kept []*http.Cookie
	for _, cookie := range (&http.Response{Header: header}).Cookies() {
		name := cookie.Name + ";" + cookie.Path
		if len(cookie.Name)+len(cookie.Value) > maxCookie || len(pot.names) == maxCookies && !pot.names[name] {
			continue
		}
		pot.names[name] = true
		kept = append(kept, cookie)
	}
	pot.jar.SetCookies(from.url, kept)
}

// pot returns what is kept for a place, nil if there is nothing.
func (c *cookies) pot(at place) *cookiePot {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.places) == 0 {
		return nil
	}
	return c.places[cookiePlace{at.origin(), at.trusted}]
}

// set adds the cookies of a place to a request. They replace those of the same name that
// the user sends there.
func (c *cookies) set(req *http.Request, to place) {
	pot := c.pot(to)
	if pot == nil {
		return
	}
	kept := pot.jar.Cookies(to.url)
	if len(kept) == 0 {
		return
	}
	given := req.Header["Cookie"]
	delete(req.Header, "Cookie") // not changed in place: it is the user's
	for _, cookie := range kept {
		given = withoutCookie(given, cookie.Name)
	}
	if len(given) > 0 {
		req.Header.Set("Cookie", strings.Join(given, "; "))
	}
	for _, cookie := range kept {
		req.AddCookie(cookie)
	}
}

// withoutCookie returns the pairs of Cookie lines without those of a name.
func withoutCookie(lines []string, name string) []string {
	var others []string
	for _, line := range lines {
		for pair := range strings.SplitSeq(line, ";") {
			pair = strings.TrimSpace(pair)
			if key, _, _ := strings.Cut(pair, "="); pair != "" && key != name {
				others = append(others, pair)
			}
		}
	}
	return others
}
