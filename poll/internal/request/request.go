// Package request makes the HTTP requests of a wait. It evaluates no rules.
//
// An [Operation] sends the requests of one wait: it starts an operation, and follows the URLs that responses name. A
// [Position], a value, is the state of the operation. The calls of an Operation pass through layers. Each layer is a
// method of [client] that takes a call, calls the next layer, and returns an answer. From the outside in:
//
//	pages        reads the further pages of a list
//	fresh        renews header fields
//	conditional  makes requests conditional, so that the server can confirm a response that has not changed (304)
//	do           follows redirects
//	send         sends one request, and reads the response
//
// The files, from the top to the bottom; calls go down only:
//
//	operation.go   an attempt: its request, and the position after the response
//	position.go    the state of an operation, and its JSON form
//	pages.go       the layer that reads the pages of a list
//	follow.go      the URL of a next request, from a header field or an expression
//	layers.go      the layers for conditional requests and renewed header fields
//	redirects.go   the redirects of a request
//	send.go        one request and its response
//	listen.go      a response that is a stream
//	connection.go  how often net/http sends a request, and the errors of its connections
//	failure.go     the reason of an error, without secrets
//	call.go        the calls and answers of the layers
//	cookies.go     the cookies of the client
//	request.go     the client: the fields of a request, its credentials and their origin
//	location.go    URLs, their origins, and their names without secrets
package request

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/pollcli/poll/poll/internal/stream"
)

const (
	// defaultMaxRedirects is the MaxRedirects of a Request whose MaxRedirects is zero.
	defaultMaxRedirects = 50
	// defaultMaxBody is the MaxBody, in bytes, of a Request whose MaxBody is zero.
	defaultMaxBody = 64 << 20
	// redirectLimit bounds MaxRedirects: a server that redirects for ever must not delay the attempt without end.
	redirectLimit = 1000
)

// A Request has the fields of poll.HTTP.
type Request struct {
	URL             string
	Method          string
	Body            []byte
	Header          http.Header
	Refresh         func(r *http.Request, refused bool) (http.Header, error)
	User            *url.Userinfo
	MaxBody         int64
	MaxRedirects    int
	Follow          string
	Next            string
	LookupEnv       func(name string) (string, bool)
	LocationTrusted bool
	Stream          bool
	Transport       http.RoundTripper
	Received        func(*http.Response)
}

// complete checks the fields of r except URL, Follow and Next, and replaces zero values by defaults. The error holds no
// secrets.
func (r *Request) complete() (err error) {
	if r.Header, err = checkHeader(r.Header); err != nil {
		return err
	}
	switch {
	case r.Method != "" && !isToken(r.Method):
		return fmt.Errorf("%q is no HTTP method", r.Method)
	case r.MaxBody < 0:
		return errors.New("the limit of the body is negative")
	case r.Stream && r.Next != "":
		return errors.New("a stream has no pages")
	case r.Method == "" && r.Body != nil:
		r.Method = http.MethodPost
	}
	r.Method = cmp.Or(r.Method, http.MethodGet)
	r.MaxBody = cmp.Or(r.MaxBody, defaultMaxBody)
	r.MaxRedirects = min(cmp.Or(r.MaxRedirects, defaultMaxRedirects), redirectLimit)
	r.Transport = cmp.Or(r.Transport, http.DefaultTransport)
	return nil
}

// isSafe reports whether requests with this method change nothing on the server (RFC 9110 section 9.2.1).
func isSafe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// checkHeader returns header with the canonical form of each name. If all names are canonical it returns header itself, so
// that thousands of targets can share a header. It returns an error for a malformed name or value. The error does not
// hold the value.
func checkHeader(header http.Header) (http.Header, error) {
	out := header
	for name, values := range header {
		if !isToken(name) {
			return nil, fmt.Errorf("%q is no header name", name)
		}
		key := textproto.CanonicalMIMEHeaderKey(name)
		for _, v := range values {
			// net/http also rejects control characters (RFC 9110 section 5.5), but only when it sends the request. It
			// would replace a malformed host (section 7.2) by an empty host.
			switch {
			case strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
				return nil, fmt.Errorf("the value of header %s contains a line break or another control character", name)
			case key == "Host" && strings.ContainsAny(v, " \t/?#@\\"):
				return nil, errors.New("the value of header Host is no host")
			}
		}
		if key != name {
			out = maps.Clone(out)
			delete(out, name)
			out[key] = slices.Concat(out[key], values)
		}
	}
	return out, nil
}

// isToken reports whether s is a token (RFC 9110 section 5.6.2). Methods and header names have to be tokens.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// A client sends requests through layers, and sends credentials only to their origin.
type client struct {
	Request          // after complete; never changed
	given   location // location of the URL in Request
	cookies cookies

	bare func() *http.Transport // returns the result of withoutCertificate

	next    *pager      // the Next of Request; nil if a response is one page
	header  http.Header // header of Request, with renewed fields
	gets    int         // number of GET requests that could be conditional
	kept    *answer     // last answer with validators; nil without such an answer
	memory  stream.Memory
	from    string   // origin of memory.LastID
	renewed []string // secret values that Refresh has returned, latest first, and the userinfo of the URL
	// withheld is the last origin to which credentials were not sent. unreported is true until a remark reports that.
	withheld   string
	unreported bool
}

// newClient returns the client of r, or an error if r is malformed. The error holds no secrets.
func newClient(r Request) (*client, error) {
	u, err := ParseURL(r.URL)
	if err != nil {
		return nil, err
	}
	if err := r.complete(); err != nil {
		return nil, err
	}
	r.User = cmp.Or(r.User, u.User)
	c := &client{Request: r, header: r.Header, renewed: userSecrets(u.User)}
	c.given = newLocation(u, true)
	c.bare = sync.OnceValue(c.withoutCertificate)
	return c, nil
}

// secrets returns the strings that no error may repeat: user, password, and the values of secret header fields.
func (c *client) secrets() []string {
	all := slices.Concat(userSecrets(c.User), c.renewed)
	for name, values := range c.Header {
		if !goesAnywhere(name) {
			all = append(all, values...)
		}
	}
	return all
}

// sendsUser reports whether requests send User. An Authorization in the header replaces User.
func (c *client) sendsUser() bool { return c.User != nil && len(c.header["Authorization"]) == 0 }

// credentials returns the parts of a request that only the user's origin receives: the user, secret header fields, and
// client certificates. A Host is not a secret.
func (c *client) credentials() (all []string) {
	if c.sendsUser() {
		all = append(all, "user "+c.User.String())
	}
	for name, values := range c.header {
		if !goesAnywhere(name) && name != "Host" && len(values) > 0 {
			all = append(all, fmt.Sprintf("%s %q", name, values))
		}
	}
	if c.bare() == nil {
		return all
	}
	config := c.Transport.(*http.Transport).Clone().TLSClientConfig
	if config.GetClientCertificate != nil {
		all = append(all, "certificate of a function")
	}
	for _, certificate := range config.Certificates {
		all = append(all, fmt.Sprintf("certificate %x", certificate.Certificate))
	}
	return all
}

// withoutCertificate returns a copy of the Transport without client certificates. It returns nil if the Transport itself
// has no client certificate, or is not an [http.Transport]. It reads only the copy: the first request through a Transport
// changes its fields, and another goroutine may send that request at any time.
func (r *Request) withoutCertificate() *http.Transport {
	original, ok := r.Transport.(*http.Transport)
	if !ok {
		return nil
	}
	bare := original.Clone()
	tls := bare.TLSClientConfig
	if tls == nil || len(tls.Certificates) == 0 && tls.GetClientCertificate == nil {
		return nil
	}
	tls.Certificates, tls.GetClientCertificate = nil, nil
	bare.DisableKeepAlives = true // nobody could close its idle connections
	return bare
}

// guards reports whether requests to p carry credentials.
func (c *client) guards(p location) bool {
	return p.trusted && len(c.credentials()) > 0
}

// noteWithheld sets withheld and unreported after a response from another origin, if there are credentials.
func (c *client) noteWithheld(from location) {
	if from.trusted || sameOrigin(from.url, c.given.url) || len(c.credentials()) == 0 {
		return
	}
	if origin := from.url.Scheme + "://" + from.url.Host; origin != c.withheld {
		c.withheld, c.unreported = origin, true
	}
}

// refer returns the location that reference names in a response from a location. If requests to from carry credentials
// over https, a reference to http is an error that wraps [ErrUntrusted], because the next response could be forged.
// LocationTrusted allows such references.
func (c *client) refer(from location, reference string) (location, error) {
	to, err := from.resolve(reference, c.LocationTrusted)
	downgraded := err == nil && from.url.Scheme == "https" && to.url.Scheme == "http"
	if downgraded && !c.LocationTrusted && c.guards(from) {
		err = &safeError{words: "leads from https to http", cause: ErrUntrusted}
	}
	return to, err
}

// mayTakeBody returns an error that wraps [ErrUntrusted] if the body of a request to one location may not be sent to
// another location that a response names.
func (c *client) mayTakeBody(from, to location) error {
	if c.LocationTrusted || sameOrigin(from.url, to.url) || upgraded(from.url, to.url) {
		return nil
	}
	return &safeError{words: "takes the body to another origin", cause: ErrUntrusted}
}
