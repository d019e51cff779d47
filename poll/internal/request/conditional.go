package request

import (
	"context"
	"maps"
	"net/http"
	"slices"
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

// maxShared is how long an answer may be that is kept where answers share a budget, in
// bytes: there may be thousands of them.
const maxShared = 32 << 10

// A conditional makes requests conditional on what it keeps of the last answer, and of the
// further pages of a list. It is the layer around [client].
type conditional struct {
	client *client
	off    bool
	links  bool // the Link header says where the next page is
	looks  int  // since the start, conditional or not
	kept   []*valid
	page   int  // that was asked for last
	whole  bool // the look under way is unconditional
}

// validators are what makes a request conditional.
type validators struct{ etag, lastModified string }

// valid is an answer with its validators.
type valid struct {
	*answer
	validators
}

func newConditional(c *client, p pager) *conditional {
	return &conditional{client: c, links: p.links, off: c.NoConditional || asksByItself(c.Header) || p.readsHeader()}
}

// do makes a call, of which a 304 confirms what is kept.
func (c *conditional) do(ctx context.Context, next call) *answer {
	if c.off || next.method != http.MethodGet || next.body != nil {
		return c.client.do(ctx, next)
	}
	if next.page == 0 {
		c.begin(next.Last)
	}
	c.page = next.page
	if c.page < len(c.kept) && !c.whole {
		next.kept = c.kept[c.page]
	}
	a := c.client.do(ctx, next)
	switch {
	case a.Failure != nil:
	case a.code == http.StatusNotModified && next.kept != nil && next.kept.asked.at.same(a.asked.at):
		return c.confirm(next.kept, a)
	default:
		c.keep(c.validOf(a))
	}
	return a
}

// begin is called before each look. Pages behind the last one that was asked for are dropped.
func (c *conditional) begin(last bool) {
	c.kept = slices.Delete(c.kept, min(c.page+1, len(c.kept)), len(c.kept))
	c.looks++
	c.whole = last || c.looks%unconditionalEvery == 0
}

// confirm returns the answer that a 304 confirms. What the 304 itself says about asking again
// is kept, and so is its Link, which is that of the answer from now on (RFC 9111 section 3.2).
func (c *conditional) confirm(kept *valid, a *answer) *answer {
	if links := a.Header["Link"]; links != nil {
		updated := *kept.answer
		updated.Header = maps.Clone(kept.Header)
		updated.Header["Link"] = links
		kept = &valid{&updated, kept.validators}
		c.keep(kept)
	}
	confirmed := *kept.answer
	o := &confirmed.Observation
	o.Hint, o.Exhausted, o.Quota, o.ShouldRetry, o.Remarks = a.Hint, a.Exhausted, a.Quota, a.ShouldRetry, a.Remarks
	o.NotModified = true
	return &confirmed
}

// keep keeps the page that was asked for, unless it is the last one by its Link.
func (c *conditional) keep(v *valid) {
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

// validOf returns a new answer with its validators, nil if it is not to be kept. A further
// page is cut where the pages before it leave no room, which may be another place next time.
func (c *conditional) validOf(a *answer) *valid {
	cut := a.Truncated && c.page > 0
	v := validatorsOf(a.Header)
	if a.code != http.StatusOK || cut || c.client.isTooLong(a.Body) || v == (validators{}) {
		return nil
	}
	return &valid{a, v}
}

// isTooLong reports whether an answer is too long to be kept.
func (c *client) isTooLong(body []byte) bool {
	return c.Bodies != nil && len(body) > maxShared
}

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

// asksByItself reports whether the user's header makes requests conditional or partial.
func asksByItself(header http.Header) bool {
	for name := range header {
		if strings.HasPrefix(name, "If-") || name == "Range" {
			return true
		}
	}
	return false
}
