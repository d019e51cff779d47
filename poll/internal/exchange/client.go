package exchange

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"github.com/pollcli/poll/poll/internal/hint"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/status"
)

// A client sends the requests of one run.
type client struct {
	transport    http.RoundTripper
	header       http.Header // canonical names
	authorize    func(*http.Request)
	maxBody      int64
	maxRedirects int
	trustAll     bool
	secrets      redactor

	// elsewhere is the transport to places that are not trusted.
	elsewhere http.RoundTripper
	// certified is true where the client shows a certificate to those that are.
	certified bool
}

func newClient(h Request, given place) *client {
	c := &client{
		transport:    h.Transport,
		header:       canonical(h.Header),
		maxBody:      h.maxBody(),
		maxRedirects: h.maxRedirects(),
		trustAll:     h.LocationTrusted,
	}
	if c.transport == nil {
		c.transport = http.DefaultTransport
	}
	c.elsewhere, c.certified = withoutCertificate(c.transport)
	user := h.User
	if user == nil {
		user = given.url.User
	}
	if user != nil && len(c.header["Authorization"]) == 0 {
		password, _ := user.Password()
		c.authorize = func(r *http.Request) { r.SetBasicAuth(user.Username(), password) }
		c.secrets.add(user.Username(), password)
	}
	for name, values := range c.header {
		if !mayTravel(name) {
			c.secrets.add(values...)
		}
	}
	return c
}

// hasCredentials reports whether there is anything that only the user's own
// origin is sent.
func (c *client) hasCredentials() bool {
	if c.authorize != nil || c.certified {
		return true
	}
	for name, values := range c.header {
		if !mayTravel(name) && name != "Host" && len(values) > 0 {
			return true
		}
	}
	return false
}

// asIs reports whether the user's header asks for encodings or for a range: then
// what comes is what was asked for.
func (c *client) asIs() bool {
	return c.header.Get("Accept-Encoding") != "" || c.header.Get("Range") != ""
}

// wantsHTML reports whether the user's header asks for pages.
func (c *client) wantsHTML() bool {
	return slices.ContainsFunc(c.header["Accept"], func(value string) bool {
		return strings.Contains(strings.ToLower(value), "html")
	})
}

// leftBehind says in words that credentials stay behind on the way, "" if none do.
func leftBehind(from, to place) string {
	if !from.guarded || to.trusted {
		return ""
	}
	return "; that is another origin, credentials are not sent there"
}

// A call is a request to be made.
type call struct {
	method string
	at     place
	body   []byte
	cache  *cache // what a GET can be made conditional by; nil for nothing
	start  bool   // it starts the operation
}

// An answer is what came back for a call and the redirects it met.
type answer struct {
	code      int
	header    http.Header
	body      []byte
	size      int64
	truncated bool
	received  time.Time
	from      place // that gave the answer
	hops      []hop
}

// do makes a call and the calls that redirects lead to.
func (c *client) do(ctx context.Context, next call) (*answer, *lost) {
	began := time.Now()
	var hops []hop
	for {
		a, err := c.send(ctx, next)
		if err != nil {
			return nil, c.lost(ctx, err, next, hops, time.Since(began))
		}
		a.hops = hops
		if !isRedirect(a.code) || c.maxRedirects < 0 || leavesOpen(a.code, next.method) {
			return a, nil
		}
		h, err := c.hop(next, a)
		switch {
		case errors.Is(err, ErrUntrusted):
			return nil, notFollowed(hops, h, err)
		case err != nil, len(h.to.url.String()) > maxURL:
			return a, nil
		case len(hops) == c.maxRedirects:
			return nil, tooManyRedirects(hops, h.to)
		}
		hops = append(hops, h)
		next.at = h.to
		if h.turned {
			next.method, next.body, next.start = http.MethodGet, nil, false
		}
	}
}

// transportTo returns the transport for a place.
func (c *client) transportTo(p place) http.RoundTripper {
	if p.trusted {
		return c.transport
	}
	return c.elsewhere
}

// send makes one request and reads its answer.
func (c *client) send(ctx context.Context, next call) (*answer, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	way := &delivery{stop: stop}
	req, err := c.request(httptrace.WithClientTrace(context.WithValue(ctx, deliveryKey{}, way), way.hooks()), next)
	if err != nil {
		return nil, err
	}
	resp, err := c.transportTo(next.at).RoundTrip(req)
	if err != nil {
		return nil, way.failed(err)
	}
	defer resp.Body.Close()
	// Not every body ends with its context: that of a 101 does not, nor has one of
	// another transport to.
	defer context.AfterFunc(ctx, func() { resp.Body.Close() })()
	a := &answer{code: resp.StatusCode, header: resp.Header, from: next.at, received: time.Now()}
	if err := a.read(req, resp, c.maxBody, c.asIs()); err != nil {
		return nil, &sendError{err: err, left: true, begun: true, got: a.size, want: resp.ContentLength}
	}
	return a, nil
}

// request builds the request of a call. Where the place is not trusted, only
// the headers go along that may travel.
func (c *client) request(ctx context.Context, next call) (*http.Request, error) {
	u := *next.at.url
	u.User = nil
	var body io.Reader
	if next.body != nil {
		body = bytes.NewReader(next.body)
	}
	req, err := http.NewRequestWithContext(ctx, next.method, u.String(), body)
	if err != nil {
		return nil, fmt.Errorf("build the request: %w", err)
	}
	req.GetBody = nil // without it a body is sent once
	c.setHeader(req, next)
	if next.at.trusted && c.authorize != nil {
		c.authorize(req)
	}
	next.cache.ask(next.at).set(req)
	return req, nil
}

func (c *client) setHeader(req *http.Request, next call) {
	req.Header.Set("Accept", "*/*")
	req.Header.Set("User-Agent", "poll")
	if next.method != http.MethodHead && len(c.header["Range"]) == 0 {
		// Asked for here, net/http leaves it as it is. It would undo one gzip of several.
		req.Header.Set("Accept-Encoding", "gzip")
	}
	if next.body != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, values := range c.header {
		switch {
		case !next.at.trusted && !mayTravel(name):
		case name == "Content-Type" && next.body == nil:
		case name == "Host":
			req.Host = c.header.Get("Host")
		case len(values) == 0 && name == "User-Agent":
			req.Header.Set(name, "") // net/http has a default of its own
		case len(values) == 0:
			req.Header.Del(name)
		default:
			req.Header[name] = values
		}
	}
}

// A sendError is a request without a complete answer.
type sendError struct {
	err       error
	left      bool
	atProxy   bool  // it came while a proxy was to connect
	begun     bool  // the answer was, and reading its body failed
	got, want int64 // bytes of the body then; want is -1 if not known
}

func (e *sendError) Error() string { return e.err.Error() }
func (e *sendError) Unwrap() error { return e.err }

// A lost call is one without a complete answer.
type lost struct {
	failure *status.Failure
	left    bool  // the server may have seen the request
	hops    []hop // redirects followed
	advice  hint.Advice
}

// observation is what an attempt saw that ended so.
func (l *lost) observation() status.Observation {
	return status.Observation{Failure: l.failure, Hint: l.advice.Hint, Exhausted: l.advice.Exhausted, Remarks: l.advice.Remarks}
}
