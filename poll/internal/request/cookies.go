package request

import (
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"slices"
	"strings"
)

const (
	// maxSetCookie is the largest size of the Set-Cookie fields of one response, in bytes. The cookies of a larger
	// response are ignored, because servers reject requests with about that many bytes of cookies.
	maxSetCookie = 16 << 10
	// maxCookies limits the total size of the cookies of all responses, in bytes. If a response exceeds the limit,
	// all earlier cookies are dropped. Otherwise a server that sets new cookies in every response could fill the
	// memory.
	maxCookies = 1 << 20
)

// cookies stores the cookies of responses for later requests of the same run. Unlike a browser, it sends a cookie
// only to the origin that has set the cookie, even if the cookie has a Domain. A cookie that an untrusted location
// has set is not sent to a trusted location, even at the same origin. (A trusted location receives the user's
// credentials.)
type cookies struct {
	jars map[string]*cookiejar.Jar // indexed by cookieKey
	size int                       // total size of all stored Set-Cookie values, in bytes
}

// cookieKey returns the key of p's cookie jar. Locations share a jar if they have the same origin and are equally
// trusted.
func cookieKey(p location) string { return fmt.Sprint(p.origin, p.trusted) }

// keep stores the cookies of a response. from is the location that returned the response, and values are its
// Set-Cookie fields. Fields of more than maxSetCookie bytes in total are ignored.
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
	resp := http.Response{Header: http.Header{"Set-Cookie": values}}
	c.jars[key].SetCookies(from.url, resp.Cookies())
}

// of returns the stored cookies that apply to the given location. It returns nil if there are none.
func (c *cookies) of(at location) []*http.Cookie {
	if len(c.jars) == 0 {
		return nil
	}
	if jar := c.jars[cookieKey(at)]; jar != nil {
		return jar.Cookies(at.url)
	}
	return nil
}

// set adds stored cookies to req. The argument to is the request's location; only cookies for that location are
// added. A stored cookie replaces the user's cookie with the same name.
func (c *cookies) set(req *http.Request, to location) {
	kept := c.of(to)
	if len(kept) == 0 {
		return
	}
	given := slices.DeleteFunc(req.Cookies(), func(g *http.Cookie) bool {
		return slices.ContainsFunc(kept, func(k *http.Cookie) bool { return k.Name == g.Name })
	})
	delete(req.Header, "Cookie") // AddCookie would change the field's slice in place, but the slice belongs to the user
	for _, cookie := range append(given, kept...) {
		req.AddCookie(cookie)
	}
}

// save returns the stored cookies that apply to the given location, as Set-Cookie values for a later run. The values
// have at most maxSetCookie bytes in total: save leaves out a cookie that would exceed this limit.
func (c *cookies) save(at location) (values []string) {
	size := 0
	for _, cookie := range c.of(at) {
		if value := cookie.String(); size+len(value) <= maxSetCookie {
			values, size = append(values, value), size+len(value)
		}
	}
	return values
}

// restore stores cookies that save has returned in an earlier run. save does not return the paths of cookies, so
// restored cookies apply to every path of the origin.
func (c *cookies) restore(at location, values []string) {
	for _, value := range values {
		c.keep(at, []string{value + "; Path=/"})
	}
}
