package request

import (
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"slices"
	"strings"
)

const (
	// maxSetCookie limits the cookies of one response, in bytes. Servers accept about as many bytes in a request. The
	// cookies of a larger response are ignored.
	maxSetCookie = 16 << 10
	// maxCookies limits the cookies of all responses, in bytes. Beyond the limit all earlier cookies are dropped: a server
	// that sets new cookies in every response must not fill the memory.
	maxCookies = 1 << 20
)

// cookies keeps the cookies of responses for later requests of the same run. Unlike a browser, it sends a cookie only to
// the origin that has set the cookie, even if the cookie has a Domain. A cookie from an untrusted location is not sent to
// a trusted location of the same origin.
type cookies struct {
	jars map[string]*cookiejar.Jar // by cookieKey
	size int                       // total size of the values of Set-Cookie, in bytes
}

// cookieKey returns the key of the jar for p: locations with the same origin and the same trust share a jar.
func cookieKey(p location) string { return fmt.Sprint(p.origin(), p.trusted) }

// keep keeps the values of Set-Cookie in a response from a location.
func (c *cookies) keep(from location, values []string) {
	size := len(strings.Join(values, ""))
	if size == 0 || size > maxSetCookie {
		return
	}
	if c.size += size; c.jars == nil || c.size > maxCookies {
		c.jars, c.size = make(map[string]*cookiejar.Jar), size
	}
	key := cookieKey(from)
	if c.jars[key] == nil {
		c.jars[key], _ = cookiejar.New(nil) // never fails
	}
	answer := http.Response{Header: http.Header{"Set-Cookie": values}}
	c.jars[key].SetCookies(from.url, answer.Cookies())
}

// of returns the cookies that are sent to a location.
func (c *cookies) of(at location) []*http.Cookie {
	if len(c.jars) == 0 {
		return nil
	}
	if jar := c.jars[cookieKey(at)]; jar != nil {
		return jar.Cookies(at.url)
	}
	return nil
}

// set adds the kept cookies of the location to req. A kept cookie replaces the user's cookie of the same name.
func (c *cookies) set(req *http.Request, to location) {
	kept := c.of(to)
	if len(kept) == 0 {
		return
	}
	given := slices.DeleteFunc(req.Cookies(), func(g *http.Cookie) bool {
		return slices.ContainsFunc(kept, func(k *http.Cookie) bool { return k.Name == g.Name })
	})
	delete(req.Header, "Cookie") // the slice belongs to the user, so it is not changed in place
	for _, cookie := range append(given, kept...) {
		req.AddCookie(cookie)
	}
}

// save returns the cookies of a location for a later run, up to maxSetCookie bytes.
func (c *cookies) save(at location) (values []string) {
	size := 0
	for _, cookie := range c.of(at) {
		value := cookie.String()
		if size += len(value); size <= maxSetCookie {
			values = append(values, value)
		}
	}
	return values
}

// restore keeps the cookies that save returned. They apply to all paths of the origin, because save does not return
// their paths.
func (c *cookies) restore(at location, values []string) {
	for _, value := range values {
		c.keep(at, []string{value + "; Path=/"})
	}
}
