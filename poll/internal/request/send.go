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

// send makes one request and reads the response. It follows no redirects. An error becomes the Failure of the answer.
func (c *client) send(ctx context.Context, next call) *answer {
	var late *time.Timer
	if next.Timeout > 0 {
		var cancel context.CancelCauseFunc
		ctx, cancel = context.WithCancelCause(ctx)
		late = time.AfterFunc(next.Timeout-time.Since(next.began), func() { cancel(meaning.ErrAttemptTimeout) })
		defer cancel(nil)
		defer late.Stop()
	}
	if err := ctx.Err(); err != nil { // the request is certainly not sent, so a start can be repeated
		return c.unanswered(ctx, err, false, next)
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
	// Another transport than net/http's may return a body that does not end with the context of the request.
	defer context.AfterFunc(own, func() { resp.Body.Close() })()
	received := time.Now()
	a := &answer{code: resp.StatusCode, asked: next}
	a.asked.kept = nil // otherwise each answer would keep all earlier answers in memory
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

// transport returns the transport for a request to a location. A location that is not trusted gets no client certificate.
func (c *client) transport(to location) http.RoundTripper {
	if bare := c.bare(); bare != nil && !to.trusted {
		return bare
	}
	return c.Transport
}

// request returns the HTTP request of next. A location that is not trusted gets no credentials, and only the header
// fields for which goesAnywhere returns true.
func (c *client) request(ctx context.Context, next call) *http.Request {
	u := *next.at.url // a copy: some transports change the URL, although they must not
	req := (&http.Request{
		Method: next.method, URL: &u, Host: u.Host, Header: make(http.Header),
	}).WithContext(ctx)
	if len(next.body) > 0 { // there is no GetBody, so net/http cannot send the body again
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

// setHeader sets the default header fields of req, and then the header fields of the client, which replace the defaults. A
// field without values in the client's header removes a default.
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
		case name == "Accept-Encoding": // net/http adds gzip if the field is missing
			header[name] = []string{"identity"}
		default:
			delete(header, name)
		}
	}
}

// read reads the body of resp into a. It returns an error if the body is cut, or is only a part, or has an encoding, that
// the request did not allow. It reads no body after a 1xx: after a 101 another protocol uses the connection.
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

// readBody reads the body of resp to its end. It returns the first limit bytes, and the size of the whole body in bytes.
//
// It stops after limit+1 bytes of a body that net/http decompresses, because a small response can decompress to any
// size. The returned size is then limit+1.
func readBody(resp *http.Response, limit int64) (kept []byte, size int64, err error) {
	kept, err = io.ReadAll(io.LimitReader(resp.Body, limit))
	if len(kept) < cap(kept) { // releases the unused memory: thousands of bodies may be kept
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

// maxAsks is the number of connections that one RoundTrip may request from the pool. It stops an endless loop: net/http
// requests connections for ever if an HTTP/2 server closes each new connection. Two requests are normal for an existing
// HTTP/2 connection.
const maxAsks = 4

// errSentAgain is the cause of the end of a request that net/http was about to send again.
var errSentAgain = errors.New("the server closed the connection, or refused the request")

// A delivery limits how often net/http sends one request: a request with a safe method at most twice, every other request
// once. It also records whether the request was sent.
//
// Within one RoundTrip, net/http may send a request again. Over HTTP/2 it does this after a GOAWAY, and after a reset
// with REFUSED_STREAM or PROTOCOL_ERROR. Over HTTP/1 it does this when a reused connection breaks and the request has
// no body or has an Idempotency-Key. Before each further sending net/http takes a connection, and a hook stops the request.
type delivery struct {
	dialing
	stop   context.CancelCauseFunc // ends the request
	most   int32                   // allowed number of sendings
	asks   atomic.Int32            // number of requested connections; 0 if the transport does not call the hooks
	writes atomic.Int32            // number of times that the header of the request was written
}

// deliver returns the delivery of a request with this method, and the context that the request must use.
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
		// HTTP/2 does not write a request whose context is done. HTTP/1 writes it, unless the connection is closed.
		c, ok := info.Conn.(*tls.Conn)
		isHTTP2 := ok && c.ConnectionState().NegotiatedProtocol == "h2"
		if !d.check() && !isHTTP2 {
			info.Conn.Close()
		}
	}
	hooks.WroteHeaders = func() { d.writes.Add(1) }
	return httptrace.WithClientTrace(ctx, hooks), d
}

// check reports whether the request may be sent now. If not, it ends the request.
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
	// maxSetCookie limits the cookies of one response, in bytes. Servers accept about as many bytes in a request. The
	// cookies of a larger response are ignored.
	maxSetCookie = 16 << 10
	// maxCookies limits the cookies of all responses, in bytes. Beyond the limit all earlier cookies are dropped: a server
	// that sets new cookies in every response must not fill the memory.
	maxCookies = 1 << 20
)

// cookies keeps the cookies of responses for later requests of the same run. Unlike a browser, it sends a cookie only to
// the origin that has set the cookie, even if the cookie has a Domain. A cookie from an untrusted location is not sent to
// a trusted location of the same origin.
type cookies struct {
	mu   sync.Mutex
	jars map[string]*cookiejar.Jar // by cookieKey
	size int                       // total size of the values of Set-Cookie, in bytes
}

// cookieKey returns the key of the jar for p: locations with the same origin and the same trust share a jar.
func cookieKey(p location) string { return fmt.Sprint(p.origin(), p.trusted) }

// keep keeps the values of Set-Cookie in a response from a location.
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

// set adds the kept cookies of the location to req. A kept cookie replaces the user's cookie of the same name.
func (c *cookies) set(req *http.Request, to location) {
	kept := c.of(to)
	if len(kept) == 0 {
		return
	}
	given := slices.DeleteFunc(req.Cookies(), func(g *http.Cookie) bool {
		return slices.ContainsFunc(kept, func(k *http.Cookie) bool { return k.Name == g.Name })
	})
	delete(req.Header, "Cookie") // the slice belongs to the user, so it is not changed in place
	for _, cookie := range append(given, kept...) {
		req.AddCookie(cookie)
	}
}

// save returns the cookies of a location for a later run, up to maxSetCookie bytes.
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

// restore keeps the cookies that save returned. They apply to all paths of the origin, because save does not return
// their paths.
func (c *cookies) restore(at location, values []string) {
	for _, value := range values {
		c.keep(at, []string{value + "; Path=/"})
	}
}
