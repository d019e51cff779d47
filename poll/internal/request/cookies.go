package request

import (
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"slices"
	"sync"
)

// The most that is kept of cookies (RFC 6265 section 6.1 asks for at least 50 of 4096 bytes
// for each place): a server that sets new ones with every answer must not fill the memory.
const (
	maxCookies = 100
	maxCookie  = 4 << 10
	maxSaved   = 4 << 10 // in all
)

// cookies keeps what answers set, for later requests of the same run. Unlike in a browser
// a cookie stays with the origin that has set it, whatever its Domain, and what an origin
// sets that is not trusted is not sent when it is.
type cookies struct {
	mu    sync.Mutex
	jars  map[cookiePlace]*cookiejar.Jar
	names map[string]bool // with their places and paths
}

type cookiePlace struct {
	origin  string
	trusted bool
}

// keep takes the cookies of an answer.
func (c *cookies) keep(from place, header http.Header) {
	if len(header["Set-Cookie"]) > 0 {
		c.add(from, (&http.Response{Header: header}).Cookies())
	}
}

func (c *cookies) add(from place, list []*http.Cookie) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.jars == nil {
		c.jars, c.names = make(map[cookiePlace]*cookiejar.Jar), make(map[string]bool)
	}
	key := cookiePlace{from.origin(), from.trusted}
	for _, cookie := range list {
		name := fmt.Sprint(key, cookie.Path, cookie.Name)
		if len(cookie.Name)+len(cookie.Value) > maxCookie || len(c.names) == maxCookies && !c.names[name] {
			continue
		}
		c.names[name] = true
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
	if len(c.jars) == 0 { // as in most runs
		return nil
	}
	if jar := c.jars[cookiePlace{at.origin(), at.trusted}]; jar != nil {
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
	given := req.Cookies()
	delete(req.Header, "Cookie") // not changed in place: it is the user's
	for _, cookie := range given {
		if !slices.ContainsFunc(kept, func(k *http.Cookie) bool { return k.Name == cookie.Name }) {
			req.AddCookie(cookie)
		}
	}
	for _, cookie := range kept {
		req.AddCookie(cookie)
	}
}

// save returns the cookies of a place, as [cookies.restore] reads them.
func (c *cookies) save(at place) (lines []string) {
	size := 0
	for _, cookie := range c.of(at) {
		line := cookie.String()
		if size += len(line); size <= maxSaved {
			lines = append(lines, line)
		}
	}
	return lines
}

// restore keeps what save returned, for all paths of the same origin.
func (c *cookies) restore(at place, lines []string) {
	var list []*http.Cookie
	for _, line := range lines {
		if cookie, err := http.ParseSetCookie(line); err == nil {
			list = append(list, &http.Cookie{Name: cookie.Name, Value: cookie.Value, Quoted: cookie.Quoted, Path: "/"})
		}
	}
	if len(list) > 0 {
		c.add(at, list)
	}
}
