package request

import (
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"slices"
	"sync"
)

// maxCookies is how much is kept of cookies in all, in bytes, about as much as servers accept
// in a request. A server that sets new ones with every answer must not fill the memory.
const maxCookies = 16 << 10

// cookies keeps what answers set, for later requests of the same run. Unlike in a browser
// a cookie stays with the origin that has set it, whatever its Domain, and what an origin
// sets that is not trusted is not sent when it is.
type cookies struct {
	mu    sync.Mutex
	jars  map[string]*cookiejar.Jar // of each place
	sizes map[string]int            // of each cookie, by its place, path and name
	size  int                       // of all
}

func cookieKey(p place) string { return fmt.Sprint(p.origin(), p.trusted) }

// keep takes the values of Set-Cookie.
func (c *cookies) keep(from place, values []string) {
	if len(values) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.jars == nil {
		c.jars, c.sizes = make(map[string]*cookiejar.Jar), make(map[string]int)
	}
	key := cookieKey(from)
	for _, cookie := range (&http.Response{Header: http.Header{"Set-Cookie": values}}).Cookies() {
		name := fmt.Sprint(key, cookie.Path, cookie.Name)
		more := len(name) + len(cookie.Value) - c.sizes[name]
		if c.size+more > maxCookies {
			continue
		}
		c.sizes[name] += more
		c.size += more
		if c.jars[key] == nil {
			c.jars[key], _ = cookiejar.New(nil) // never fails
		}
		c.jars[key].SetCookies(from.url, []*http.Cookie{cookie})
	}
}

// of returns the cookies that are sent to a place.
func (c *cookies) of(at place) []*http.Cookie {
	c.mu.Lock()
	defer c.mu.Unlock()
	if jar := c.jars[cookieKey(at)]; jar != nil {
		return jar.Cookies(at.url)
	}
	return nil
}

// set adds the cookies of a place to a request. They replace those of the same name that
// the user sends there.
func (c *cookies) set(req *http.Request, to place) {
	kept := c.of(to)
	if len(kept) == 0 {
		return
	}
	given := slices.DeleteFunc(req.Cookies(), func(g *http.Cookie) bool {
		return slices.ContainsFunc(kept, func(k *http.Cookie) bool { return k.Name == g.Name })
	})
	delete(req.Header, "Cookie") // not changed in place: it is the user's
	for _, cookie := range append(given, kept...) {
		req.AddCookie(cookie)
	}
}

// save returns the cookies of a place for a later run.
func (c *cookies) save(at place) (values []string) {
	for _, cookie := range c.of(at) {
		values = append(values, cookie.String())
	}
	return values
}

// restore keeps what save returned, for all paths of the same origin.
func (c *cookies) restore(at place, values []string) {
	for _, value := range values {
		c.keep(at, []string{value + "; Path=/"})
	}
}
