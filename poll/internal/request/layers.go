package request

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// An Attempt has the settings of one attempt.
type Attempt struct {
	Last   bool  // no other attempt may follow, so the request is unconditional
	Accept []int // codes of successful responses, see status.Rules
	Pace   Pace  // limiter of further requests; nil for no limiter
	// Timeout limits the time for a response with its redirects, without the waits for Pace. For a stream it only limits
	// the time to the header. 0 means no limit.
	Timeout time.Duration
	Anew    bool // forget the ID of the last event, so that the server sends earlier events again
	NoCache bool // send Cache-Control: no-cache, so that caches request the response from the origin
	// Tell evaluates a message of a Stream. It returns true if the message decides the wait. With nil, no stream is read.
	Tell func(status.Observation) (enough bool)
}

// A Pace spaces out the requests of an attempt after the first request.
type Pace interface {
	// Wait waits until a further request to origin may be sent, and returns nil. It returns a failure if the request may
	// not be sent before the end of ctx or of the wait.
	Wait(ctx context.Context, origin string) *status.Failure
	// Done passes the response o to the limiter. It returns true if the server rejected the request because of load, and
	// the request may be sent again before the deadline.
	Done(origin string, o status.Observation) (again bool)
}

// wait calls Wait of a.Pace for the origin of to. It returns nil without a Pace.
func (a Attempt) wait(ctx context.Context, to location) *status.Failure {
	if a.Pace == nil {
		return nil
	}
	return a.Pace.Wait(ctx, to.origin())
}

// A call is a request for a layer.
type call struct {
	Attempt
	method string
	at     location
	body   []byte
	start  bool    // the request starts the operation
	single bool    // further pages of the response are not read
	room   int64   // limit of the response body in bytes; 0 means MaxBody
	kept   *answer // kept answer that the server may confirm; nil if the request is unconditional

	began     time.Time  // time of the first request, or with a Pace of the last request
	redirects []redirect // redirects that were followed
}

// An answer is the result of a call and of its redirects. With a Failure, code is 0.
type answer struct {
	seen
	code       int
	asked      call        // the call, after its redirects
	unsent     bool        // the last request was not sent
	conditions http.Header // header fields that make a later request conditional on this answer; nil if it has no validators
}

// A seen is an observation with its HTTP facts. Its field Protocol does not hold these facts yet.
type seen struct {
	status.Observation
	meaning.HTTP
	isConfirmed bool // a 304 has confirmed a kept response: all fields except the hints belong to the kept response
}

// observation returns the observation, with the HTTP facts as its Protocol.
func (s seen) observation() status.Observation {
	s.Protocol = s.HTTP
	return s.Observation
}

// refusedForLoad reports whether the server rejected the request because of load.
func (s *seen) refusedForLoad() bool { return s.RefusedForLoad(&s.Observation) }

// failed returns the answer to a call that has the failure f and no response.
func failed(f *status.Failure, asked call) *answer {
	asked.kept = nil
	return &answer{seen: seen{Observation: status.Observation{Kind: status.KindHTTP, Failure: f, Protocol: meaning.HTTP{}}}, asked: asked}
}

// remark adds a remark to the answer, unless words is "".
func (a *answer) remark(words string) {
	if words != "" {
		a.Remarks = append(slices.Clip(a.Remarks), words)
	}
}

// env returns the variables of the answer for expressions. The document is unreadable if the body was truncated.
func (a *answer) env(ctx context.Context) *expr.Env {
	env := &expr.Env{Doc: expr.NewDoc(a.Body), Status: a.Code, Header: a.Header, Body: a.Body, Context: ctx}
	if a.Truncated {
		env.Doc = expr.Unreadable(a.Gap())
	}
	return env
}

// A layer makes calls. The client sends the requests itself, every other layer calls its inner layer.
type layer interface {
	do(ctx context.Context, next call) *answer
}

// layers returns the outermost layer of an operation. It wraps c in the layers that the request needs. next is nil if the
// response is never paginated.
func layers(c *client, next *pager) layer {
	all := layer(c)
	if next == nil && !c.Stream && !asksForPart(c.Header) {
		all = &conditional{layer: all}
	}
	if c.Refresh != nil {
		all = renewed{all, c}
	}
	if next != nil {
		all = pages{all, c, next}
	}
	return all
}

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

// A conditional is a layer that keeps the last answer, and makes the next request conditional. If the server confirms the
// answer (304), the result is the kept answer.
type conditional struct {
	layer
	looks int     // number of GET requests, conditional or not
	kept  *answer // last answer with validators; nil for none
}

func (c *conditional) do(ctx context.Context, next call) *answer {
	if next.method != http.MethodGet || next.body != nil {
		return c.layer.do(ctx, next)
	}
	c.looks++
	if !next.Last && c.looks%unconditionalEvery != 0 {
		next.kept = c.kept
	}
	a := c.layer.do(ctx, next)
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

// A renewed is a layer that renews header fields by Refresh before each call. After a 401 it renews them once more, so
// that the next attempt may succeed.
type renewed struct {
	layer
	client *client
}

func (r renewed) do(ctx context.Context, next call) *answer {
	_, remark := r.renew(ctx, next, false)
	a := r.layer.do(ctx, next)
	a.remark(remark)
	if a.code == http.StatusUnauthorized && !a.Good() {
		a.Renewed, remark = r.renew(ctx, next, true)
		a.remark(remark)
	}
	return a
}

// renew calls Refresh, and updates the client's header by the fields that have changed. refused is true after a 401. It
// returns whether a field has changed. If Refresh fails, remark is the reason, otherwise "".
func (r renewed) renew(ctx context.Context, next call, refused bool) (changed bool, remark string) {
	c := r.client
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
