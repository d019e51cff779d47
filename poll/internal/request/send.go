package request

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pollcli/poll/poll/internal/hint"
	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/status"
)

// send makes one request and reads its answer.
func (c *client) send(ctx context.Context, next call) *answer {
	var late *time.Timer
	if next.Timeout > 0 {
		var cancel context.CancelCauseFunc
		ctx, cancel = context.WithCancelCause(ctx)
		late = time.AfterFunc(next.Timeout-time.Since(next.began), func() { cancel(meaning.ErrAttemptTimeout) })
		defer cancel(nil)
		defer late.Stop()
	}
	own, d := deliver(ctx, next.method)
	defer d.stop(nil)
	resp, err := c.transport(next.at).RoundTrip(c.request(own, next))
	if err != nil {
		sent := d.sent(err)
		if context.Cause(own) == errSentAgain {
			err = errSentAgain
		}
		return c.unanswered(ctx, d.all(ctx, err), sent, next)
	}
	defer resp.Body.Close()
	// The body of a transport that is not net/http's may not end with its context.
	defer context.AfterFunc(own, func() { resp.Body.Close() })()
	received := time.Now()
	a := &answer{code: resp.StatusCode, asked: next}
	a.asked.kept = nil // or each answer would hold the one before
	a.Observation = status.Observation{Kind: status.KindHTTP, Code: new(a.code), Header: resp.Header,
		Accept: next.Accept, Protocol: meaning.HTTP{}}
	a.Origin = next.at.origin()
	keep := func() {
		hint.Read(&a.Observation, &a.HTTP, received)
		c.cookies.keep(next.at, resp.Header["Set-Cookie"])
		c.noteWithheld(next.at)
	}
	if l := c.listener(a, resp); l != nil {
		keep()
		if late != nil {
			late.Stop()
		}
		return l.listen(ctx, own, d.stop)
	}
	if err := c.read(a, resp); err != nil {
		kind, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
		if a = c.unanswered(ctx, err, true, next); kind == eventStream {
			a.Failure.Advice.Code = status.AdviceStream
		}
		return a
	}
	keep()
	return a
}

func (c *client) transport(to location) http.RoundTripper {
	if bare := c.bare(); bare != nil && !to.trusted {
		return bare
	}
	return c.Transport
}

// request builds the request of a call. A location that is not trusted gets only headers
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
	if values, said := c.header["Cookie"]; !said || len(values) > 0 {
		c.cookies.set(req, next.at)
	}
	if next.kept != nil && next.kept.asked.at.same(next.at) {
		maps.Copy(req.Header, next.kept.conditions)
	}
	return req
}

func (c *client) setHeader(req *http.Request, next call) {
	header := req.Header
	header["Accept"], header["User-Agent"] = []string{"*/*"}, []string{"poll"}
	if c.Stream || next.NoCache {
		header["Cache-Control"] = []string{"no-cache"}
	}
	if c.Stream {
		header["Accept"] = []string{acceptedStreams}
		if id := c.memory.LastID; id != "" && c.from == next.at.origin() {
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
func (c *client) read(a *answer, resp *http.Response) (err error) {
	if a.code < http.StatusOK {
		return nil
	}
	a.Body, a.Size, err = readBody(resp, cmp.Or(a.asked.room, c.MaxBody))
	a.Truncated = a.Size > int64(len(a.Body))
	coding := resp.Header.Get("Content-Encoding")
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return &safeError{words: fmt.Sprintf("the answer breaks off after %d bytes", a.Size), cause: err}
	case err != nil:
		return err
	case len(c.header["Range"]) > 0:
	case a.code == http.StatusPartialContent:
		return errors.New("HTTP 206 Partial Content, but the request asked for the whole")
	case len(c.header["Accept-Encoding"]) == 0 && a.Good() && a.Size > 0 && coding != "" && coding != "identity":
		return errors.New("the answer has an encoding that the request did not ask for")
	}
	return nil
}

// readBody reads a body to its end, keeps the beginning of it and returns its whole size.
//
// One that was decompressed is not read past the limit, since a small answer can decompress
// to any size. The size is then limit+1.
func readBody(resp *http.Response, limit int64) (kept []byte, size int64, err error) {
	kept, err = io.ReadAll(io.LimitReader(resp.Body, limit))
	if len(kept) < cap(kept) { // as it is for a short one: thousands may be kept
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

// maxAsks is how often a connection may be asked for. HTTP/2 asks twice for one that it
// already has, and for ever if each new one is closed.
const maxAsks = 4

// errSentAgain is why a request was stopped that net/http was about to send again.
var errSentAgain = errors.New("the server closed the connection, or refused the request")

// A delivery ensures that a request which may change something is sent once, and a look at
// most twice, and knows whether it was.
//
// Within one RoundTrip net/http sends a request again as it sees fit: over HTTP/2 after a
// GOAWAY and after a reset with REFUSED_STREAM or PROTOCOL_ERROR; over HTTP/1 when a
// connection that was in use before breaks, unless there is a body, or if there is an
// Idempotency-Key. Whenever it takes a connection for that, a hook stops the request.
type delivery struct {
	dialing
	stop   context.CancelCauseFunc // ends the request
	most   int32                   // how often it may be sent
	asks   atomic.Int32            // for a connection; 0 of a transport that does not call the hooks
	writes atomic.Int32            // of the request's header
}

// deliver returns the delivery of a request, and its context.
func deliver(ctx context.Context, method string) (context.Context, *delivery) {
	d := &delivery{most: 1}
	if isSafe(method) {
		d.most = 2
	}
	ctx, d.stop = context.WithCancelCause(ctx)
	hooks := d.hooks()
	hooks.GetConn = func(string) {
		d.asks.Add(1)
		d.check()
	}
	hooks.GotConn = func(info httptrace.GotConnInfo) {
		// HTTP/2 looks whether a request was stopped before it writes one. HTTP/1 does not.
		c, ok := info.Conn.(*tls.Conn)
		isHTTP2 := ok && c.ConnectionState().NegotiatedProtocol == "h2"
		if !d.check() && !isHTTP2 {
			info.Conn.Close()
		}
	}
	hooks.WroteHeaders = func() { d.writes.Add(1) }
	return httptrace.WithClientTrace(ctx, hooks), d
}

// check stops the request if it was sent often enough, and reports whether it may be sent.
func (d *delivery) check() bool {
	if d.asks.Load() > maxAsks || d.writes.Load() >= d.most {
		d.stop(errSentAgain)
		return false
	}
	return true
}

// sent reports whether the server may have seen a request whose RoundTrip ended with err.
func (d *delivery) sent(err error) bool {
	return d.writes.Load() > 0 || d.asks.Load() == 0 && !isConnecting(err)
}

const (
	// maxSetCookie is how much one answer may set, in bytes: about as much as servers accept in a
	// request.
	maxSetCookie = 16 << 10
	// maxCookies is how much all answers may set, in bytes, before nothing of it is kept: a server
	// that sets new cookies with every answer must not fill the memory.
	maxCookies = 1 << 20
)

// cookies keeps the cookies of answers for later requests of the same run. Unlike in a browser
// a cookie stays with the origin that has set it, whatever its Domain. A cookie set by an untrusted
// origin is not sent to the same origin once it is trusted.
type cookies struct {
	mu   sync.Mutex
	jars map[string]*cookiejar.Jar // of each location
	size int                       // of all that answers have set
}

func cookieKey(p location) string { return fmt.Sprint(p.origin(), p.trusted) }

// keep takes the values of Set-Cookie.
func (c *cookies) keep(from location, values []string) {
	size := len(strings.Join(values, ""))
	if size == 0 || size > maxSetCookie {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size += size; c.jars == nil || c.size > maxCookies {
		c.jars, c.size = make(map[string]*cookiejar.Jar), size
	}
	key := cookieKey(from)
	if c.jars[key] == nil {
		c.jars[key], _ = cookiejar.New(nil) // never fails
	}
	answer := http.Response{Header: http.Header{"Set-Cookie": values}}
	c.jars[key].SetCookies(from.url, answer.Cookies())
}

// of returns the cookies that are sent to a location.
func (c *cookies) of(at location) []*http.Cookie {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.jars) == 0 {
		return nil
	}
	if jar := c.jars[cookieKey(at)]; jar != nil {
		return jar.Cookies(at.url)
	}
	return nil
}

// set adds the cookies of a location to a request. They replace those of the same name that
// the user sends there.
func (c *cookies) set(req *http.Request, to location) {
	kept := c.of(to)
	if len(kept) == 0 {
		return
	}
	given := slices.DeleteFunc(req.Cookies(), func(g *http.Cookie) bool {
		return slices.ContainsFunc(kept, func(k *http.Cookie) bool { return k.Name == g.Name })
	})
	delete(req.Header, "Cookie") // not changed in place: it is the user's
	for _, cookie := range append(given, kept...) {
		req.AddCookie(cookie)
	}
}

// save returns the cookies of a location for a later run, maxSetCookie at most.
func (c *cookies) save(at location) (values []string) {
	size := 0
	for _, cookie := range c.of(at) {
		value := cookie.String()
		if size += len(value); size <= maxSetCookie {
			values = append(values, value)
		}
	}
	return values
}

// restore keeps cookies that save returned, for all paths of the same origin.
func (c *cookies) restore(at location, values []string) {
	for _, value := range values {
		c.keep(at, []string{value + "; Path=/"})
	}
}
