package exchange

import (
	"context"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Conditional requests (RFC 9110 section 13) save work for the server and, with some
// servers, quota. They must not hide a change, so they are bounded:
//
//   - a Last-Modified counts whole seconds, and a second change within the same
//     second does not alter it. It is used only if it was at least minAge old
//     when the answer was made;
//   - an entity tag that may be made from such a date waits as long;
//   - what makes an answer the last page of a list is no Link, of which a 304 without one
//     says nothing: a page that was full already is the same when there is another one
//     behind it. So the page that was the last one is asked for as a whole, and all are
//     where an expression reads the next page from the header;
//   - every unconditionalEvery-th look, and the last one, is unconditional.
const (
	minAge             = 2 * time.Second
	unconditionalEvery = 5
)

// validators are what makes a request conditional.
type validators struct{ etag, lastModified string }

func (v validators) set(req *http.Request) {
	if v.etag != "" {
		req.Header.Set("If-None-Match", v.etag)
	}
	if v.lastModified != "" {
		req.Header.Set("If-Modified-Since", v.lastModified)
	}
}

// validatorsOf returns the validators for the request after an answer.
func validatorsOf(header http.Header) validators {
	v := validators{etag: header.Get("ETag"), lastModified: header.Get("Last-Modified")}
	if v.lastModified == "" {
		return v
	}
	modified, err := http.ParseTime(v.lastModified)
	if err != nil {
		return validators{etag: v.etag}
	}
	made, err := http.ParseTime(header.Get("Date"))
	switch {
	case err == nil && made.Sub(modified) >= minAge:
		return v
	case mayCountSeconds(v.etag, modified):
		return validators{}
	}
	return validators{etag: v.etag}
}

// mayCountSeconds reports whether an entity tag may stay the same when there is
// a second change within the second of modified: it is weak, or holds that
// second as nginx's does.
func mayCountSeconds(etag string, modified time.Time) bool {
	return strings.HasPrefix(etag, "W/") ||
		strings.Contains(strings.ToLower(etag), strconv.FormatInt(modified.Unix(), 16))
}

// A cache keeps the last answer that had validators, and those of the further pages of a
// list.
type cache struct {
	most          int // bytes of an answer that is kept; 0 = no limit
	looks         int // since the start, conditional or not
	kept          []*valid
	page          int  // that is asked for, from 0
	links         bool // the Link header says where the next page is
	unconditional bool // the look under way
}

// valid is an answer with its validators.
type valid struct {
	*answer
	validators
}

// newCache returns the cache of a new session, nil if its requests are not to be
// conditional.
func (c *client) newCache() *cache {
	switch {
	case c.NoConditional || asksByItself(c.Header):
		return nil
	case c.Bodies != nil:
		return &cache{most: maxShared}
	}
	return &cache{}
}

// maxShared is how long an answer may be that is kept where answers share a budget, in
// bytes: there may be thousands of them.
const maxShared = 32 << 10

// begin is called before each look; links is true if the Link header says where the next
// page is. Pages behind the last one that was asked for are dropped.
func (c *cache) begin(lastLook, links bool) {
	if c.page+1 < len(c.kept) {
		clear(c.kept[c.page+1:])
		c.kept = c.kept[:c.page+1]
	}
	c.page, c.links = 0, links
	c.looks++
	c.unconditional = lastLook || c.looks%unconditionalEvery == 0
}

// valid returns what is kept of the page that is asked for, nil if nothing is.
func (c *cache) valid() *valid {
	if c.page < len(c.kept) {
		return c.kept[c.page]
	}
	return nil
}

// keep keeps the page that was asked for, unless it is the last one by its Link.
func (c *cache) keep(v *valid) {
	if v != nil && c.links {
		if _, more := nextLink(v.Header["Link"]); !more {
			v = nil
		}
	}
	for len(c.kept) <= c.page {
		c.kept = append(c.kept, nil)
	}
	c.kept[c.page] = v
}

// ask returns the validators for the request to a place.
func (c *cache) ask(at place) validators {
	if c == nil || c.unconditional {
		return validators{}
	}
	if kept := c.valid(); kept != nil && kept.from.same(at) {
		return kept.validators
	}
	return validators{}
}

// ask makes a call, of which a 304 confirms what is kept; remarks are those of the 304.
func (c *client) ask(ctx context.Context, next call) (a *answer, remarks []string) {
	a = c.do(ctx, next)
	if confirmed := next.cache.settle(a); confirmed != nil {
		return confirmed, a.Remarks
	}
	return a, nil
}

// settle keeps a new answer, or returns the answer that a 304 confirms. What the 304
// itself says about asking again is kept, and so is its Link, which is that of the answer
// from now on (RFC 9111 section 3.2).
func (c *cache) settle(a *answer) (confirmed *answer) {
	if c == nil || a.Failure != nil {
		return nil
	}
	if a.code == http.StatusNotModified && c.ask(a.from) != (validators{}) {
		kept := c.valid()
		if links := a.Header["Link"]; links != nil {
			updated := *kept.answer
			updated.Header = maps.Clone(kept.Header)
			updated.Header["Link"] = links
			kept = &valid{&updated, kept.validators}
			c.keep(kept)
		}
		o := kept.Observation
		o.Hint, o.Exhausted, o.Quota, o.ShouldRetry, o.Remarks = a.Hint, a.Exhausted, a.Quota, a.ShouldRetry, a.Remarks
		o.NotModified = true
		return &answer{Observation: o, code: kept.code, from: kept.from, redirects: kept.redirects}
	}
	var kept *valid
	// A further page is cut where the pages before it leave no room, which may be another
	// place next time.
	cut := a.Truncated && c.page > 0
	if a.code == http.StatusOK && !cut && (c.most == 0 || len(a.Body) <= c.most) {
		if v := validatorsOf(a.Header); v != (validators{}) {
			kept = &valid{a, v}
		}
	}
	c.keep(kept)
	return nil
}

// asksByItself reports whether the user's header makes requests conditional or partial.
func asksByItself(header http.Header) bool {
	for name := range header {
		if strings.HasPrefix(name, "If-") || name == "Range" {
			return true
		}
	}
	return false
}
