package request

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/status"
)

// requestsPart reports whether the user's header makes the request conditional (If-None-Match and similar fields), or
// requests only a part of the document (Range).
func requestsPart(header http.Header) bool {
	for name := range header {
		if strings.HasPrefix(name, "If-") || name == "Range" {
			return true
		}
	}
	return false
}

// Conditional requests (RFC 9110 section 13) save work for the server and, with some servers, quota. But they must
// not hide a change of the document. Therefore some requests are not conditional:
//
//   - the last request of a wait, and every unconditionalEvery-th request
//   - the request after a response whose Last-Modified is less than minAge before its Date: Last-Modified, and an
//     entity tag that is computed from Last-Modified, count whole seconds, so a second change might go unnoticed
//   - requests for the pages of a list: a full page stays the same when the list grows by another page
const (
	minAge             = 2 * time.Second
	unconditionalEvery = 5
)

// maxKept is the size of the largest body that is stored for conditional requests, in bytes. There may be thousands
// of targets, and each may store a body.
const maxKept = 1 << 20

// sendConditional calls the layer sendFollowing. If the previous response had an ETag or a Last-Modified, the request
// is conditional, and the server may reply that nothing has changed (304): sendConditional then returns the previous
// response. This applies only to GET requests without a body. Lists with pages, streams, and requests that the user has
// made conditional are passed to the layer sendFollowing unchanged.
func (c *client) sendConditional(ctx context.Context, next call) *response {
	if next.method != http.MethodGet || next.body != nil || c.next != nil || c.Stream || requestsPart(c.Header) {
		return c.sendFollowing(ctx, next)
	}
	c.gets++
	if !next.Last && c.gets%unconditionalEvery != 0 {
		next.kept = c.kept
	}
	a := c.sendFollowing(ctx, next)
	if a.Failure != nil {
		return a
	}
	if a.code == http.StatusNotModified && next.kept != nil && next.kept.call.at.same(a.call.at) {
		a = confirm(next.kept, a)
	} else if a.code == http.StatusOK && len(a.Body) <= maxKept {
		a.conditions = conditionsOn(a.Header)
	}
	c.kept = nil
	if len(a.conditions) > 0 {
		c.kept = new(*a) // a copy, because the caller changes the returned response
	}
	return a
}

// confirm returns the response that results from two responses: kept, the previous response, and a, the 304
// that confirms kept. The result is a copy of kept with the header fields of the 304, except fields that
// describe the body (RFC 9111 sections 3.2 and 4.3.4). The server's limits, such as Retry-After, also come from
// the 304.
func confirm(kept, a *response) *response {
	o := *kept
	o.Header = maps.Clone(o.Header)
	delete(o.Header, "Age") // a 304 without an Age comes from the origin server, not from a cache
	for name, values := range a.Header {
		if !strings.HasPrefix(name, "Content-") {
			o.Header[name] = values
		}
	}
	o.RetryAfter, o.Exhausted, o.Quota, o.ShouldRetry, o.Hints = a.RetryAfter, a.Exhausted, a.Quota, a.ShouldRetry, a.Hints
	o.Date, o.Age = a.Date, a.Age
	o.isConfirmed = true
	return &o
}

// conditionsOn returns the header fields that make the next request conditional on a response with the given
// header. The result is empty if the header has neither an ETag nor a valid Last-Modified, or if Last-Modified
// is too recent (see minAge).
func conditionsOn(header http.Header) http.Header {
	conditions := http.Header{}
	if etag := header.Get("ETag"); etag != "" {
		conditions["If-None-Match"] = []string{etag}
	}
	lastModified := header.Get("Last-Modified")
	if lastModified == "" {
		return conditions
	}
	modified, err := http.ParseTime(lastModified)
	if err != nil {
		return conditions
	}
	made, err := http.ParseTime(header.Get("Date"))
	if err != nil || made.Sub(modified) < minAge {
		return nil
	}
	conditions["If-Modified-Since"] = []string{lastModified}
	return conditions
}

// maxRenewed limits how many secrets from Refresh are remembered, so that they can be removed from error messages.
// The most recent secrets suffice, because responses only repeat values of recent requests.
const maxRenewed = 64

// sendRenewed renews the header fields by calling Refresh, and then calls the layer sendConditional. If the server
// rejects the credentials with a 401, sendRenewed renews the fields again, so that the next attempt may succeed.
func (c *client) sendRenewed(ctx context.Context, next call) *response {
	if c.Refresh == nil {
		return c.sendConditional(ctx, next)
	}
	c.renew(ctx, next, false)
	a := c.sendConditional(ctx, next)
	if a.code == http.StatusUnauthorized && !a.Good() {
		a.Renewed = c.renew(ctx, next, true)
	}
	return a
}

// renew calls Refresh for the request that next describes, and stores the header fields that have changed.
// refused is passed to Refresh: it is true if the server has rejected the credentials with a 401. renew reports
// whether a field has changed. For an error of Refresh or a malformed field, it adds a note.
func (c *client) renew(ctx context.Context, next call, refused bool) (changed bool) {
	fields, err := c.Refresh(c.request(ctx, next), refused)
	fields, malformed := checkHeader(fields)
	if err = cmp.Or(err, malformed); err != nil {
		c.notes = append(c.notes, status.Hint{Text: "not all header fields are renewed: " + redact(err.Error(), c.secrets())})
	}
	for name, values := range fields {
		if slices.Equal(c.header[name], values) {
			continue
		}
		header := http.Header{name: values}
		maps.Copy(header, c.header) // a new map: c.header may be shared by several targets, or nil
		header[name] = values
		changed, c.header = true, header
		if !goesAnywhere(name) { // remember the values, so that no error repeats them
			c.renewed = slices.Concat(values, c.renewed)
			c.renewed = c.renewed[:min(len(c.renewed), maxRenewed)]
		}
	}
	return changed
}
