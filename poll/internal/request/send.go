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

	"github.com/pollcli/poll/poll/internal/body"
	"github.com/pollcli/poll/poll/internal/cause"
	"github.com/pollcli/poll/poll/internal/hint"
	"github.com/pollcli/poll/status"
)

// send makes one request and reads its answer.
func (c *client) send(ctx context.Context, next call) *answer {
	if next.Pace != nil && next.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, next.Timeout, cause.ErrAttemptTimeout)
		defer cancel()
	}
	own, d := deliver(ctx, next.method)
	defer d.stop(nil)
	resp, err := c.transport(next.at).RoundTrip(c.request(own, next))
	if err != nil {
		sent := d.sent(err)
		if context.Cause(own) == errSentAgain {
			err = errSentAgain
		}
		return c.unanswered(ctx, err, sent, next)
	}
	defer resp.Body.Close()
	// The body of a transport that is not net/http's may not end with its context.
	defer context.AfterFunc(own, func() { resp.Body.Close() })()
	received := time.Now()
	a := &answer{code: resp.StatusCode, asked: next}
	a.asked.kept = nil
	a.Observation = status.Observation{Kind: status.KindHTTP, Code: new(a.code), Header: resp.Header}
	if err := c.read(own, a, resp); err != nil {
		return c.unanswered(ctx, brokenOff(err, a.Size, resp.ContentLength), true, next)
	}
	hint.Read(&a.Observation, received)
	c.cookies.keep(next.at, resp.Header["Set-Cookie"])
	return a
}

// brokenOff is why a body was not read to its end: how many bytes of it were read, and
// announced, -1 if that is unknown.
func brokenOff(err error, got, want int64) error {
	words := fmt.Sprintf("the answer breaks off after %d bytes", got)
	switch {
	case !errors.Is(err, io.ErrUnexpectedEOF):
		return err
	case want > 0:
		words = fmt.Sprintf("connection closed after %d of %d bytes of the answer", got, want)
	}
	return &safeError{words: words, cause: err}
}

func (c *client) transport(to place) http.RoundTripper {
	if bare := c.bare(); bare != nil && !to.trusted {
		return bare
	}
	return c.Transport
}

// request builds the request of a call. A place that is not trusted gets only headers
// that may go anywhere.
func (c *client) request(ctx context.Context, next call) *http.Request {
	u := *next.at.url // a transport may change it, though it should not
	req := (&http.Request{
		Method: next.method, URL: &u, Host: u.Host, Header: make(http.Header),
	}).WithContext(ctx)
	if len(next.body) > 0 { // without a GetBody, it is sent once
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(next.body)), int64(len(next.body))
	}
	c.setHeader(req, next)
	if next.at.trusted && c.sendsUser() {
		password, _ := c.User.Password()
		req.SetBasicAuth(c.User.Username(), password)
	}
	if values, said := c.Header["Cookie"]; !said || len(values) > 0 {
		c.cookies.set(req, next.at)
	}
	if next.kept != nil && next.kept.asked.at.same(next.at) {
		maps.Copy(req.Header, conditionsOn(next.kept.Header))
	}
	return req
}

func (c *client) setHeader(req *http.Request, next call) {
	header := req.Header
	header["Accept"], header["User-Agent"] = []string{"*/*"}, []string{"poll"}
	if next.body != nil {
		header["Content-Type"] = []string{"application/x-www-form-urlencoded"}
	}
	for name, values := range c.Header {
		switch {
		case !next.at.trusted && !goesAnywhere(name):
		case name == "Content-Type" && next.body == nil:
		case name == "Host":
			req.Host = c.Header.Get("Host")
		case len(values) > 0:
			header[name] = slices.Clip(values)
		case name == "User-Agent": // net/http has its own default
			header[name] = []string{""}
		case name == "Accept-Encoding": // and sets this one by itself
			header[name] = []string{"identity"}
		default:
			delete(header, name)
		}
	}
}

// read reads the body of an answer. After a 101 the connection goes on in another protocol,
// without a body.
func (c *client) read(ctx context.Context, a *answer, resp *http.Response) (err error) {
	if a.code < http.StatusOK {
		return nil
	}
	into := body.Buffer{Limit: cmp.Or(a.asked.room, c.MaxBody), Hold: &c.hold}
	a.Body, a.Size, err = readBody(ctx, resp, into)
	a.Truncated = a.Size > int64(len(a.Body))
	coding := resp.Header.Get("Content-Encoding")
	switch {
	case err != nil:
		return err
	case len(c.Header["Range"]) > 0:
	case a.code == http.StatusPartialContent:
		return errors.New("HTTP 206 Partial Content, and the whole was asked for")
	case len(c.Header["Accept-Encoding"]) == 0 && a.Good() && a.Size > 0 && coding != "" && coding != "identity":
		return errors.New("the answer is encoded in a way that was not asked for")
	}
	return nil
}

// readBody reads a body to its end, keeps the beginning of it and returns its whole size.
//
// One that was decompressed is not read past the limit, since a small answer can decompress
// to any size. The size is then limit+1.
func readBody(ctx context.Context, resp *http.Response, into body.Buffer) (kept []byte, size int64, err error) {
	into.Kept = []byte{}
	end, err := into.ReadFrom(ctx, resp.Body, resp.ContentLength)
	size = int64(len(into.Kept))
	rest := io.Reader(resp.Body)
	switch {
	case err != nil:
		return nil, size, err
	case end:
		return into.Kept, size, nil
	case resp.Uncompressed:
		rest = io.LimitReader(rest, 1)
	}
	more, err := io.Copy(io.Discard, rest)
	if err != nil {
		into.Kept = nil
	}
	return into.Kept, size + more, err
}
