package request

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// asksForPart reports whether the user's header requests a part of the response, or makes the request conditional.
func asksForPart(header http.Header) bool {
	for name := range header {
		if strings.HasPrefix(name, "If-") || name == "Range" {
			return true
		}
	}
	return false
}

// Conditional requests (RFC 9110 section 13) save work for the server and, with some servers, quota. They must not hide a
// change. So every unconditionalEvery-th request and the last request are unconditional. The request after a response
// that changed less than minAge before its Date is also unconditional: a Last-Modified, and an entity tag that is
// computed from it, count whole seconds.
// The pages of a list are always requested without conditions. A full page does not change when a further page follows,
// and a 304 need not reveal the further page.
const (
	minAge             = 2 * time.Second
	unconditionalEvery = 5
)

// maxKept is the length in bytes of the longest body that is kept for a 304. Thousands of targets may each keep a body.
const maxKept = 1 << 20

// conditional returns the answer of do. It keeps the answer, and makes the next request conditional. If the server
// confirms the kept answer (304), conditional returns the kept answer.
func (c *client) conditional(ctx context.Context, next call) *answer {
	if next.method != http.MethodGet || next.body != nil || c.next != nil || c.Stream || asksForPart(c.Header) {
		return c.do(ctx, next)
	}
	c.gets++
	if !next.Last && c.gets%unconditionalEvery != 0 {
		next.kept = c.kept
	}
	a := c.do(ctx, next)
	if a.Failure != nil {
		return a
	}
	if a.code == http.StatusNotModified && next.kept != nil && next.kept.asked.at.same(a.asked.at) {
		a = confirm(next.kept, a)
	} else if a.code == http.StatusOK && len(a.Body) <= maxKept {
		a.conditions = conditionsOn(a.Header)
	}
	if c.kept = a; len(a.conditions) == 0 {
		c.kept = nil
	}
	return a
}

// confirm returns kept, updated by a, the 304 that confirms it. The header fields of the 304 replace the kept fields,
// except fields that describe the body (RFC 9111 sections 3.2 and 4.3.4). The hints come from the 304.
func confirm(kept, a *answer) *answer {
	confirmed := *kept
	o := &confirmed.seen
	o.Header = maps.Clone(o.Header)
	delete(o.Header, "Age") // a 304 without an Age comes from the origin
	for name, values := range a.Header {
		if !strings.HasPrefix(name, "Content-") {
			o.Header[name] = values
		}
	}
	o.Hint, o.Exhausted, o.Quota, o.ShouldRetry, o.Remarks = a.Hint, a.Exhausted, a.Quota, a.ShouldRetry, a.Remarks
	o.Date, o.Age = a.Date, a.Age
	o.isConfirmed = true
	return &confirmed
}

// conditionsOn returns the header fields that make the next request conditional, from the validators in the header of a
// response. It returns nil without validators, or if the response is too new (see minAge).
func conditionsOn(header http.Header) http.Header {
	etag, lastModified := header.Get("ETag"), header.Get("Last-Modified")
	if etag == "" && lastModified == "" {
		return nil
	}
	conditions := http.Header{}
	if etag != "" {
		conditions["If-None-Match"] = []string{etag}
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

// maxRenewed is the number of renewed values that are kept for redaction. Only the latest values are kept: a response
// repeats only values of recent requests.
const maxRenewed = 64

// fresh renews header fields by Refresh, and returns the answer of the layer conditional. After a 401 it renews the fields
// once more, so that the next attempt may succeed.
func (c *client) fresh(ctx context.Context, next call) *answer {
	if c.Refresh == nil {
		return c.conditional(ctx, next)
	}
	_, remark := c.renew(ctx, next, false)
	a := c.conditional(ctx, next)
	a.remark(remark)
	if a.code == http.StatusUnauthorized && !a.Good() {
		a.Renewed, remark = c.renew(ctx, next, true)
		a.remark(remark)
	}
	return a
}

// renew calls Refresh, and updates the client's header by the fields that have changed. refused is true after a 401. It
// returns whether a field has changed. If Refresh fails, remark is the reason, otherwise "".
func (c *client) renew(ctx context.Context, next call, refused bool) (changed bool, remark string) {
	fields, err := c.Refresh(c.request(ctx, next), refused)
	fields, malformed := checkHeader(fields)
	if err = cmp.Or(err, malformed); err != nil {
		remark = "not all of the header is renewed: " + redact(err.Error(), c.secrets())
	}
	for name, values := range fields {
		if slices.Equal(c.header[name], values) {
			continue
		}
		header := http.Header{name: values}
		maps.Copy(header, c.header) // a copy: c.header may be shared, or nil
		header[name] = values
		changed, c.header = true, header
		if !goesAnywhere(name) { // no error may repeat these values
			c.renewed = slices.Concat(values, c.renewed)
			c.renewed = c.renewed[:min(len(c.renewed), maxRenewed)]
		}
	}
	return changed, remark
}
