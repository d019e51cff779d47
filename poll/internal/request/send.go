package request

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/poll/internal/ratelimit"
	"github.com/pollcli/poll/status"
)

// send sends one HTTP request, which next describes, and reads the response. It does not follow redirects. An
// error becomes the Failure of the response.
func (c *client) send(ctx context.Context, next call) *response {
	own, d := newDelivery(ctx, next.method)
	defer d.stop(nil)
	var late *time.Timer
	if next.Timeout > 0 {
		late = time.AfterFunc(next.Timeout-time.Since(next.began), func() { d.stop(meaning.ErrAttemptTimeout) })
		defer late.Stop()
	}
	if err := own.Err(); err != nil { // the request was certainly not sent, so a start request can be repeated
		return c.withoutResponse(own, err, false, next)
	}
	resp, err := c.transport(next.at).RoundTrip(c.request(own, next))
	if err != nil {
		sent := d.sent(err)
		if context.Cause(own) == errSentAgain {
			own, err = ctx, errSentAgain
		}
		return c.withoutResponse(own, d.allErrors(own, err), sent, next)
	}
	defer resp.Body.Close()
	if _, isOwn := c.Transport.(*http.Transport); !isOwn { // another transport's body may not end with the context of the request
		defer context.AfterFunc(own, func() { resp.Body.Close() })()
	}
	received := time.Now()
	a := &response{code: resp.StatusCode, call: next}
	a.call.kept = nil // otherwise the chain of kept responses would keep all earlier responses in memory
	a.Observation = status.Observation{Kind: status.KindHTTP, Code: new(a.code), Header: resp.Header,
		Accept: next.Accept, Protocol: meaning.HTTP{}}
	a.Origin = next.at.origin
	if c.Received != nil {
		c.Received(resp)
	}
	c.cookies.keep(next.at, resp.Header["Set-Cookie"])
	c.noteWithheld(next.at)
	l := c.listener(a, resp)
	if l == nil {
		err = c.read(a, resp)
	}
	ratelimit.Read(&a.Observation, &a.HTTP, received)
	switch {
	case err != nil:
		return c.withoutResponse(own, err, true, next)
	case l == nil:
		return a
	case late != nil:
		late.Stop()
	}
	return l.listen(ctx, own, d.stop)
}

// transport returns the transport for requests to the given location. An untrusted location receives no client
// certificate.
func (c *client) transport(to location) http.RoundTripper {
	if bare := c.bare(); bare != nil && !to.trusted {
		return bare
	}
	return c.Transport
}

// request builds the HTTP request that next describes. A request to an untrusted location has no credentials,
// and only the user's header fields that goesAnywhere accepts.
func (c *client) request(ctx context.Context, next call) *http.Request {
	u := *next.at.url // a copy, because some transports change the URL, although they must not
	req := (&http.Request{
		Method: next.method, URL: &u, Host: u.Host, Header: make(http.Header),
	}).WithContext(ctx)
	if len(next.body) > 0 { // GetBody remains nil, so that net/http cannot send the body again
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(next.body)), int64(len(next.body))
	}
	c.setHeader(req, next)
	if next.at.trusted && c.sendsUser() {
		password, _ := c.User.Password()
		req.SetBasicAuth(c.User.Username(), password)
	}
	if values, isGiven := c.header["Cookie"]; !isGiven || len(values) > 0 {
		c.cookies.set(req, next.at)
	}
	if next.kept != nil && next.kept.call.at.same(next.at) {
		maps.Copy(req.Header, next.kept.conditions)
	}
	return req
}

// setHeader sets the header of req: default fields first, and then the client's fields, which replace defaults. A
// client field without values removes the default.
func (c *client) setHeader(req *http.Request, next call) {
	header := req.Header
	header["Accept"], header["User-Agent"] = []string{"*/*"}, []string{"poll"}
	if c.Stream || next.NoCache {
		header["Cache-Control"] = []string{"no-cache"}
	}
	if c.Stream {
		header["Accept"] = []string{acceptedStreams}
		if id := c.memory.LastID; id != "" && c.from == next.at.origin {
			header["Last-Event-Id"] = []string{id}
		}
	}
	if next.body != nil {
		header["Content-Type"] = []string{"application/x-www-form-urlencoded"}
	}
	for name, values := range c.header {
		switch {
		case !next.at.trusted && !goesAnywhere(name):
		case name == "Content-Type" && next.body == nil:
		case name == "Host":
			req.Host = c.header.Get("Host")
		case len(values) > 0:
			header[name] = slices.Clip(values)
		case name == "User-Agent": // without the field, net/http would send its own default
			header[name] = []string{""}
		case name == "Accept-Encoding": // without the field, net/http would request gzip
			header[name] = []string{"identity"}
		default:
			delete(header, name)
		}
	}
}

// read reads the body of resp into a. It returns an error if the body ends early. A body that is only a part of
// the document, or that has a content encoding, is also an error, unless the user's header requests it. read
// does not read a body after a 1xx status: after a 101, another protocol uses the connection.
func (c *client) read(a *response, resp *http.Response) (err error) {
	if a.code < http.StatusOK {
		return nil
	}
	a.Body, a.Size, err = readBody(resp, cmp.Or(a.call.room, c.MaxBody))
	a.Truncated = a.Size > int64(len(a.Body))
	coding := resp.Header.Get("Content-Encoding")
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &safeError{words: fmt.Sprintf("the response ends early, after %d bytes", a.Size), cause: err}
	case err != nil:
		return err
	case len(c.header["Range"]) > 0:
	case a.code == http.StatusPartialContent:
		return errors.New("HTTP 206 Partial Content, but the request was for the whole")
	case len(c.header["Accept-Encoding"]) == 0 && a.Good() && a.Size > 0 && coding != "" && coding != "identity":
		return errors.New("the response has an encoding that the request did not accept")
	}
	return nil
}

// readBody reads the body of resp to its end. It returns the first limit bytes, and the size of the whole body in
// bytes.
//
// If net/http decompresses the body, readBody reads at most limit+1 bytes, because a small response can decompress to
// any size. The size of a larger body is then returned as limit+1.
func readBody(resp *http.Response, limit int64) (kept []byte, size int64, err error) {
	kept, err = io.ReadAll(io.LimitReader(resp.Body, limit))
	if len(kept) < cap(kept) { // release unused memory: thousands of bodies may be kept
		kept = bytes.Clone(kept)
	}
	size = int64(len(kept))
	rest := io.Reader(resp.Body)
	switch {
	case err != nil, size < limit:
		return kept, size, err
	case resp.Uncompressed:
		rest = io.LimitReader(rest, 1)
	}
	more, err := io.Copy(io.Discard, rest)
	return kept, size + more, err
}
