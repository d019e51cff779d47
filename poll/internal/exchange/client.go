package exchange

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/poll/internal/body"
	"github.com/pollcli/poll/poll/internal/cause"
	"github.com/pollcli/poll/poll/internal/hint"
	"github.com/pollcli/poll/status"
)

const (
	// DefaultMaxRedirects is the MaxRedirects of a Request whose MaxRedirects is zero.
	DefaultMaxRedirects = 50
	// defaultMaxBody is the MaxBody, in bytes, of a Request whose MaxBody is zero.
	defaultMaxBody = 64 << 20
	// mostRedirects bounds MaxRedirects, and maxURL the length of a redirect's URL in
	// bytes: a server that redirects for ever must neither delay the attempt nor fill the
	// memory.
	mostRedirects = 1000
	maxURL        = 16 << 10
	// mostRepeats is how many redirects that repeat it a request follows that starts an
	// operation: a server that goes on may start it with each.
	mostRepeats = 3
)

// A Request has the fields of poll.HTTP.
type Request struct {
	URL             string
	Method          string
	Body            []byte
	Header          http.Header
	Refresh         func(ctx context.Context, refused bool) (http.Header, error)
	User            *url.Userinfo
	MaxBody         int64
	Bodies          *body.Budget
	MaxRedirects    int
	Follow          string
	FollowEach      bool
	Next            string
	LookupEnv       func(name string) (string, bool)
	NoConditional   bool
	LocationTrusted bool
	Transport       http.RoundTripper
	Through         string
}

// A client sends the requests of one run.
type client struct {
	Request   // with its defaults, and the canonical names of its headers
	given     place
	authorize func(*http.Request) // nil for none
	secrets   redactor
	cookies   *cookies
	// elsewhere is the transport to places that are not trusted, nil until one is asked.
	elsewhere http.RoundTripper
	hold      body.Hold // of Bodies, for the last answer
	// limit is how long a call may take, 0 for as long as its context lets it.
	limit time.Duration
}

// newClient checks the request, except for Follow. Its errors hold no secrets.
func newClient(r Request) (*client, error) {
	u, err := ParseURL(r.URL)
	if err != nil {
		return nil, err
	}
	if r.Header, err = checkHeader(r.Header); err != nil {
		return nil, err
	}
	switch {
	case r.Method != "" && !isToken(r.Method):
		return nil, fmt.Errorf("%q is no HTTP method", r.Method)
	case r.MaxBody < 0:
		return nil, errors.New("the limit of the body is negative")
	case r.MaxBody == 0:
		r.MaxBody = defaultMaxBody
	}
	if r.MaxRedirects == 0 {
		r.MaxRedirects = DefaultMaxRedirects
	}
	if r.Method == "" {
		r.Method = http.MethodGet
		if r.Body != nil {
			r.Method = http.MethodPost
		}
	}
	if r.Transport == nil {
		r.Transport = http.DefaultTransport
	}
	c := &client{Request: r, cookies: &cookies{}, hold: body.Hold{Budget: r.Bodies}}
	c.setCredentials(u)
	return c, nil
}

// setCredentials finds what is sent only to the origin of the given URL.
func (c *client) setCredentials(given *url.URL) {
	guarded := withCertificate(c.Transport) != nil
	if c.User == nil {
		c.User = given.User
	}
	if given.User != nil {
		c.secrets.addUser(given.User)
		given.User = nil
	}
	if c.User != nil && len(c.Header["Authorization"]) == 0 {
		password, _ := c.User.Password()
		c.authorize = func(r *http.Request) { r.SetBasicAuth(c.User.Username(), password) }
		c.secrets.addUser(c.User)
		guarded = true
	}
	for name, values := range c.Header {
		if !goesAnywhere(name) {
			c.secrets.add(values...)
			guarded = guarded || name != "Host" && len(values) > 0
		}
	}
	c.given = newPlace(given, true, guarded)
}

// Credentials returns what is sent to the origin of the given URL, and to no other: equal for
// equal credentials, "" if there are none. It is secret.
func (s *Session) Credentials() string {
	c := s.client
	var all []string
	if c.authorize != nil {
		all = append(all, "user "+c.User.String())
	}
	for name, values := range c.Header {
		if !goesAnywhere(name) && name != "Host" && len(values) > 0 {
			all = append(all, fmt.Sprintf("%s %q", name, values))
		}
	}
	if t := withCertificate(c.Transport); t != nil {
		for _, certificate := range t.TLSClientConfig.Certificates {
			all = append(all, fmt.Sprintf("certificate %x", certificate.Certificate))
		}
	}
	if len(all) == 0 {
		return ""
	}
	slices.Sort(all)
	return fmt.Sprintf("%q", all)
}

// checkHeader returns header with the canonical form of each name: header itself if all
// have it, which thousands of targets can share.
func checkHeader(header http.Header) (http.Header, error) {
	canonical := true
	for name, values := range header {
		if !isToken(name) {
			return nil, fmt.Errorf("%q is no header name", name)
		}
		key := textproto.CanonicalMIMEHeaderKey(name)
		canonical = canonical && key == name
		for _, v := range values {
			// net/http also refuses control characters (RFC 9110 section 5.5), but only
			// at each attempt. A malformed host (section 7.2) it would send as an empty
			// one.
			switch {
			case strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
				return nil, fmt.Errorf("the value of header %s contains a line break or another control character", name)
			case key == "Host" && strings.ContainsAny(v, " \t/?#@\\"):
				return nil, errors.New("the value of header Host is no host")
			}
		}
	}
	if canonical {
		return header, nil
	}
	out := make(http.Header, len(header))
	for name, values := range header {
		key := textproto.CanonicalMIMEHeaderKey(name)
		out[key] = append(out[key], values...)
	}
	return out, nil
}

// isToken reports whether s is a token, as methods and header names are
// (RFC 9110 section 5.6.2).
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// withCertificate returns a copy of t if t is an [http.Transport] that may offer a client
// certificate, and nil if not. Only a copy can be looked at: the first request through t, and
// somebody else may make it meanwhile, sets what is not set.
func withCertificate(t http.RoundTripper) *http.Transport {
	original, ok := t.(*http.Transport)
	if !ok {
		return nil
	}
	seen := original.Clone()
	if c := seen.TLSClientConfig; c == nil || len(c.Certificates) == 0 && c.GetClientCertificate == nil {
		return nil
	}
	return seen
}

// withoutCertificate returns t, or a copy that offers no client certificate.
func withoutCertificate(t http.RoundTripper) http.RoundTripper {
	stripped := withCertificate(t)
	if stripped == nil {
		return t
	}
	stripped.TLSClientConfig.Certificates, stripped.TLSClientConfig.GetClientCertificate = nil, nil
	stripped.DisableKeepAlives = true // nobody could close its idle connections
	return stripped
}

// wantsHTML reports whether the user's header asks for HTML.
func (c *client) wantsHTML() bool {
	return slices.ContainsFunc(c.Header["Accept"], func(value string) bool {
		return strings.Contains(strings.ToLower(value), "html")
	})
}

// A call is a request to be made.
type call struct {
	method string
	at     place
	body   []byte
	cache  *cache // makes a GET conditional; nil for never
	start  bool   // it starts the operation
	limit  int64  // of the body, in bytes; 0 means MaxBody
}

// An answer is the result of a call and of the redirects it met. Its Observation has no
// Following yet. If it has a Failure, there is no code.
type answer struct {
	status.Observation
	code      int
	from      place // that gave the answer
	redirects []redirect
	unsent    bool // the server did nothing with the request: it never left, or was refused unread
}

// do makes a call and the calls that redirects lead to.
func (c *client) do(ctx context.Context, next call) *answer {
	began := time.Now()
	if c.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, c.limit, cause.ErrAttemptTimeout)
		defer cancel()
	}
	var redirects []redirect
	for {
		a, err := c.send(ctx, next)
		if err != nil {
			return c.unanswered(ctx, err, next, redirects, time.Since(began))
		}
		a.redirects = redirects
		elsewhere := next.start && c.Follow == "self" && a.code == http.StatusSeeOther
		if !isRedirect(a.code) || c.MaxRedirects < 0 || isAmbiguous(a.code, next.method) || elsewhere {
			return a
		}
		r, err := c.redirect(next, a)
		most := min(c.MaxRedirects, mostRedirects)
		if next.start && !r.toGET {
			most = min(most, mostRepeats)
		}
		switch {
		case errors.Is(err, ErrUntrusted):
			words := fmt.Sprintf("redirected by %d to %s, which was not followed: it %s", r.code, urlName(r.to.url), err)
			return failed(fail(status.FailureHopeless, words, err), redirects)
		case err != nil, len(r.to.url.String()) > maxURL:
			return a
		case len(redirects) == most:
			words := fmt.Sprintf("redirect loop: more than %d redirects, the last to %s", len(redirects), urlName(r.to.url))
			return failed(fail(status.FailureHopeless, words, nil), redirects)
		}
		redirects = append(redirects, r)
		next.at = r.to
		if r.toGET {
			next.method, next.body, next.start = http.MethodGet, nil, false
		}
	}
}

// failed is the result of a call that got no answer.
func failed(f *status.Failure, redirects []redirect) *answer {
	return &answer{Observation: status.Observation{Kind: status.KindHTTP, Failure: f}, redirects: redirects}
}

// send makes one request and reads its answer.
func (c *client) send(ctx context.Context, next call) (*answer, error) {
	ctx, d := deliver(ctx)
	defer d.stop(nil)
	req := c.request(ctx, next)
	transport := c.transport(next.at)
	_, standard := transport.(*http.Transport)
	if !standard { // it may change the URL, though it should not
		u := *req.URL
		req.URL = &u
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return nil, d.failed(err)
	}
	defer resp.Body.Close()
	if !standard { // its bodies may not end with their context
		defer context.AfterFunc(ctx, func() { resp.Body.Close() })()
	}
	received := time.Now()
	a := &answer{code: resp.StatusCode, from: next.at}
	a.Kind, a.Code, a.Header = status.KindHTTP, new(a.code), resp.Header
	// Encodings or a range that the user asks for are passed on as they come.
	asIs := c.Header.Get("Accept-Encoding") != "" || c.Header.Get("Range") != ""
	if err := a.read(req, resp, body.Buffer{Limit: cmp.Or(next.limit, c.MaxBody), Hold: &c.hold}, asIs); err != nil {
		return nil, &sendError{err: err, left: true, begun: true, got: a.Size, want: resp.ContentLength}
	}
	hint.Read(&a.Observation, received)
	c.cookies.keep(a.from, resp.Header)
	return a, nil
}

func (c *client) transport(to place) http.RoundTripper {
	if to.trusted {
		return c.Transport
	}
	if c.elsewhere == nil {
		c.elsewhere = withoutCertificate(c.Transport)
	}
	return c.elsewhere
}

// request builds the request of a call. A place that is not trusted gets only headers
// that may go anywhere. Without a GetBody, a body is sent once.
func (c *client) request(ctx context.Context, next call) *http.Request {
	req := (&http.Request{
		Method: next.method, URL: next.at.url, Host: next.at.url.Host,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: make(http.Header),
	}).WithContext(ctx)
	if len(next.body) > 0 {
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(next.body)), int64(len(next.body))
	}
	c.setHeader(req, next)
	if next.at.trusted && c.authorize != nil && len(c.Header["Authorization"]) == 0 {
		c.authorize(req)
	}
	if values, said := c.Header["Cookie"]; !said || len(values) > 0 {
		c.cookies.set(req, next.at)
	}
	next.cache.ask(next.at).set(req)
	return req
}

func (c *client) setHeader(req *http.Request, next call) {
	header, own := req.Header, []string{"*/*", "poll", "gzip"}
	header["Accept"], header["User-Agent"] = own[0:1:1], own[1:2:2]
	if next.method != http.MethodHead && len(c.Header["Range"]) == 0 {
		// If it is set here, net/http leaves the body alone. It would undo only one of
		// several gzips.
		header["Accept-Encoding"] = own[2:3:3]
	}
	if next.body != nil {
		header["Content-Type"] = []string{"application/x-www-form-urlencoded"}
	}
	for name, values := range c.Header {
		switch {
		case !next.at.trusted && !goesAnywhere(name):
		case name == "Content-Type" && next.body == nil:
		case name == "Host":
			req.Host = c.Header.Get("Host")
		case len(values) == 0 && name == "User-Agent":
			header[name] = []string{""} // net/http has its own default
		case len(values) == 0:
			delete(header, name)
		default:
			header[name] = slices.Clip(values)
		}
	}
}
