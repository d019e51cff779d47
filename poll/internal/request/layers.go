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

// An Attempt has the limits of an attempt.
type Attempt struct {
	Last    bool          // no other may follow: the whole answer is asked for
	Accept  []int         // see status.Rules
	Pace    Pace          // nil = no limiter
	Timeout time.Duration // of the requests until the header of a stream has come, without the time spent waiting for Pace; 0 = none
	Anew    bool          // no event that has been told is taken for known: it is to be told again
	NoCache bool          // caches are asked to get the response from the origin
	// Tell judges a message of a Stream, and reports whether it is enough.
	Tell func(status.Observation) (enough bool)
}

// A Pace spaces the requests of an attempt behind its first.
type Pace interface {
	// Wait waits until a further request may go to an origin. It returns the failure of a request that
	// must not go before the end of ctx or of the wait, nil once the request may go.
	Wait(ctx context.Context, origin string) *status.Failure
	// Done reports the answer to the limiter, and whether it was refused for load and may be
	// made again before the deadline.
	Done(origin string, o status.Observation) (again bool)
}

// wait waits until a further request may go to a location. It returns the failure of a
// request that must not go, nil once the request may go.
func (a Attempt) wait(ctx context.Context, to location) *status.Failure {
	if a.Pace == nil {
		return nil
	}
	return a.Pace.Wait(ctx, to.origin())
}

// A call is a request to be made.
type call struct {
	Attempt
	method string
	at     location
	body   []byte
	start  bool    // it starts the operation
	single bool    // no further pages are read, whatever the answer says
	room   int64   // for the body of the answer, in bytes; 0 is MaxBody
	kept   *answer // the answer to confirm, nil for none

	began     time.Time // when the first request of it was sent, or the last if they are paced
	redirects []redirect
}

// An answer is the result of a call and of the redirects it met. If it has a Failure, there is no code.
type answer struct {
	seen
	code       int
	asked      call        // which it answers
	unsent     bool        // the request never left
	conditions http.Header // of the request that has it confirmed, if it is kept
}

// A seen is an observation with the facts of its protocol, which are not in its Protocol yet.
type seen struct {
	status.Observation
	meaning.HTTP
	isConfirmed bool // by a 304: the other fields, except the hints, are those of the response that it confirms
}

// observation returns the observation with its protocol.
func (s seen) observation() status.Observation {
	s.Protocol = s.HTTP
	return s.Observation
}

func (s *seen) refusedForLoad() bool { return s.RefusedForLoad(&s.Observation) }

// failed is the answer to a call that got none.
func failed(f *status.Failure, asked call) *answer {
	asked.kept = nil
	return &answer{seen: seen{Observation: status.Observation{Kind: status.KindHTTP, Failure: f, Protocol: meaning.HTTP{}}}, asked: asked}
}

func (a *answer) remark(words string) {
	if words != "" {
		a.Remarks = append(slices.Clip(a.Remarks), words)
	}
}

// env returns the variables of an answer for an expression.
func (a *answer) env(ctx context.Context) *expr.Env {
	env := &expr.Env{Doc: expr.NewDoc(a.Body), Status: a.Code, Header: a.Header, Body: a.Body, Context: ctx}
	if a.Truncated {
		env.Doc = expr.Unreadable(a.Gap())
	}
	return env
}

// A layer makes calls: the client by itself, every other one through the layer within.
type layer interface {
	do(ctx context.Context, next call) *answer
}

// layers returns the outermost layer of an operation: the client, and around it the layers that
// its request asks for.
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

// asksForPart reports whether the user asks for a part of the answer, or on a condition.
func asksForPart(header http.Header) bool {
	for name := range header {
		if strings.HasPrefix(name, "If-") || name == "Range" {
			return true
		}
	}
	return false
}

// Conditional requests (RFC 9110 section 13) save work for the server and, with some
// servers, quota. They must not hide a change, so they are bounded: every
// unconditionalEvery-th look, and the last one, is unconditional, and so is the one after an
// answer that had changed less than minAge before it was made: a Last-Modified, and the entity
// tags that are made of one, count whole seconds.
// The pages of a list are asked for as a whole: a page that was full already is the same when
// there is another one behind it, and a 304 need not say that.
const (
	minAge             = 2 * time.Second
	unconditionalEvery = 5
)

// maxKept is how long an answer may be that is kept to be confirmed, in bytes: each of thousands
// of targets may keep one.
const maxKept = 1 << 20

// A conditional has the last answer, which it keeps, confirmed if it has not changed (304).
type conditional struct {
	layer
	looks int     // since the start, conditional or not
	kept  *answer // nil for none
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

// confirm returns the kept response that a 304 confirms. The fields of the 304 update the header, except
// those that describe the body (RFC 9111 sections 3.2 and 4.3.4). The hints are those of the 304.
func confirm(kept, a *answer) *answer {
	confirmed := *kept
	o := &confirmed.seen
	o.Header = maps.Clone(o.Header)
	delete(o.Header, "Age") // without one, the 304 comes from the origin
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

// conditionsOn returns the header fields that make the request after an answer conditional, by
// the validators in the header of the answer.
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

// maxRenewed is how many of the values that were renewed are kept out of errors, the last
// ones: a server can repeat only what it was sent lately.
const maxRenewed = 64

// A renewed renews header fields that have changed before each call and, if that was refused
// with a 401, once more after it: the next attempt may then be let in.
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

// renew takes header fields that have changed, if there are any. The remark says why some
// could not be asked for, "" if all could.
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
		maps.Copy(header, c.header) // which may be shared, or nil
		header[name] = values
		changed, c.header = true, header
		if !goesAnywhere(name) { // no error may repeat these values
			c.renewed = slices.Concat(values, c.renewed)
			c.renewed = c.renewed[:min(len(c.renewed), maxRenewed)]
		}
	}
	return changed, remark
}
