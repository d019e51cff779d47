package request

import (
	"context"
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
//   - the pages of a list are asked for as a whole: a page that was full already is the same
//     when there is another one behind it, and a 304 need not say that;
//   - every unconditionalEvery-th look, and the last one, is unconditional.
const (
	minAge             = 2 * time.Second
	unconditionalEvery = 5
)

// maxShared is how long an answer may be that is kept where answers share a budget, in
// bytes: there may be thousands of them.
const maxShared = 32 << 10

// A conditional makes requests conditional on the last answer, which it keeps. It is the
// layer around [client].
type conditional struct {
	client *client
	off    bool
	looks  int     // since the start, conditional or not
	kept   *answer // nil for none
}

// do makes a call, of which a 304 confirms what is kept.
func (c *conditional) do(ctx context.Context, next call) *answer {
	if c.off || next.method != http.MethodGet || next.body != nil {
		return c.client.do(ctx, next)
	}
	c.looks++
	if !next.Last && c.looks%unconditionalEvery != 0 {
		next.kept = c.kept
	}
	a := c.client.do(ctx, next)
	if a.Failure != nil {
		return a
	}
	if a.code == http.StatusNotModified && next.kept != nil && next.kept.asked.at.same(a.asked.at) {
		return confirm(next.kept, a)
	}
	c.kept = nil
	tooLong := c.client.Bodies != nil && len(a.Body) > maxShared
	if a.code == http.StatusOK && !tooLong && len(conditionsOn(a.Header)) > 0 {
		c.kept = a
	}
	return a
}

// confirm returns the answer that a 304 confirms, with what that says about asking again.
func confirm(kept, a *answer) *answer {
	confirmed := *kept
	o := &confirmed.Observation
	o.Hint, o.Exhausted, o.Quota, o.ShouldRetry, o.Remarks = a.Hint, a.Exhausted, a.Quota, a.ShouldRetry, a.Remarks
	o.NotModified = true
	return &confirmed
}

// conditionsOn returns the header fields that make the request after an answer conditional, by
// the validators in the header of the answer.
func conditionsOn(header http.Header) http.Header {
	etag, lastModified := header.Get("ETag"), header.Get("Last-Modified")
	conditions := http.Header{}
	if etag != "" {
		conditions["If-None-Match"] = []string{etag}
	}
	modified, err := http.ParseTime(lastModified)
	if err != nil {
		return conditions
	}
	made, err := http.ParseTime(header.Get("Date"))
	if err == nil && made.Sub(modified) >= minAge {
		conditions["If-Modified-Since"] = []string{lastModified}
		return conditions
	}
	// The tag may stay the same when there is a second change within the same second: it is
	// weak, or holds that second as nginx's does.
	second := strconv.FormatInt(modified.Unix(), 16)
	if strings.HasPrefix(etag, "W/") || strings.Contains(strings.ToLower(etag), second) {
		return nil
	}
	return conditions
}
