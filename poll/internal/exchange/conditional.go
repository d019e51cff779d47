package exchange

import (
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
//   - every unconditionalEvery-th request, and the last look, is unconditional.
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

// A cache keeps the last answer that had validators.
type cache struct {
	most          int // bytes of an answer that is kept; 0 = no limit
	requests      int // since the start, conditional or not
	kept          *valid
	unconditional bool // the request under way
}

// valid is an answer with its validators.
type valid struct {
	*answer
	validators
}

// maxShared is how long an answer may be that is kept where answers share a budget, in
// bytes: there may be thousands of them.
const maxShared = 32 << 10

// begin is called before each request, except those after redirects.
func (c *cache) begin(lastLook bool) {
	c.requests++
	c.unconditional = lastLook || c.requests%unconditionalEvery == 0
}

// ask returns the validators for the request to a place.
func (c *cache) ask(at place) validators {
	if c == nil || c.unconditional || c.kept == nil || !c.kept.from.same(at) {
		return validators{}
	}
	return c.kept.validators
}

// settle keeps a new answer, or returns the answer that a 304 confirms. What the 304
// itself says about asking again is kept.
func (c *cache) settle(a *answer) (confirmed *answer) {
	if c == nil || a.Failure != nil {
		return nil
	}
	if a.code == http.StatusNotModified && c.ask(a.from) != (validators{}) {
		o := c.kept.Observation
		o.Hint, o.Exhausted, o.Quota, o.ShouldRetry, o.Remarks = a.Hint, a.Exhausted, a.Quota, a.ShouldRetry, a.Remarks
		o.Stages, o.NotModified = a.Stages, true
		return &answer{Observation: o, code: c.kept.code, from: c.kept.from, redirects: c.kept.redirects}
	}
	c.kept = nil
	if a.code != http.StatusOK || c.most > 0 && len(a.Body) > c.most {
		return nil
	}
	if v := validatorsOf(a.Header); v != (validators{}) {
		c.kept = &valid{a, v}
	}
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
