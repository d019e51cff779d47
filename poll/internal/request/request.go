// Package request makes the HTTP requests of a wait. It does not evaluate rules.
//
// An [Operation] sends the requests of one wait. If the first request starts an operation on the server, the later
// requests follow the URLs that responses name. A [Position] is the state between two attempts.
//
// An attempt passes its requests through several layers. Each layer is a method of the type client. It takes a call,
// which describes a request, calls the next layer, and returns a response. From the outside in, the layers are:
//
//	sendPages        reads the further pages of a list
//	sendRenewed      renews header fields
//	sendConditional  makes requests conditional, so that the server need not resend an unchanged document (304)
//	sendFollowing    follows redirects
//	send             sends one request, and reads the response
//
// The files, in the order of their calls:
//
//	operation.go   an attempt: its request, and the position after the response
//	position.go    the state between two attempts, and its JSON form
//	pages.go       the layer that reads the pages of a list
//	follow.go      the URL to follow, from a header field or an expression
//	layers.go      the layers for conditional requests and renewed header fields
//	redirects.go   the layer that follows redirects
//	send.go        the layer that sends one request
//	listen.go      responses that are streams
//	connection.go  connections: their errors, and how often net/http sends a request
//	failure.go     the reasons of errors, without secrets
//	call.go        the calls and responses of the layers
//	cookies.go     the cookies of the client
//	request.go     the client: the fields of a request, and its credentials
//	location.go    URLs: their origins, and their names without secrets
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
	"github.com/pollcli/poll/status"
)

const (
	// defaultMaxRedirects replaces a zero MaxRedirects.
	defaultMaxRedirects = 50
	// defaultMaxBody replaces a zero MaxBody. It is in bytes.
	defaultMaxBody = 64 << 20
	// redirectLimit is the largest possible MaxRedirects. Without it, a server that always redirects could
	// delay an attempt for ever.
	redirectLimit = 1000
)

// A Request describes an HTTP request. Its fields have the same meaning as the fields of poll.HTTP.
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

// complete replaces zero fields by their defaults, and returns an error if a field is invalid. It does not check URL,
// Follow and Next, which are parsed elsewhere. The error holds no secrets.
func (r *Request) complete() (err error) {
	if r.Header, err = checkHeader(r.Header); err != nil {
		return err
	}
	switch {
	case r.Method != "" && !isToken(r.Method):
		return fmt.Errorf("%q is not an HTTP method", r.Method)
	case r.MaxBody < 0:
		return errors.New("the limit of the body is negative")
	case r.Stream && r.Next != "" && r.Next != "none":
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

// isSafe reports whether requests with this method change nothing on the server (RFC 9110 section 9.2.1): GET, HEAD
// and OPTIONS.
func isSafe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// checkHeader returns header with all names in canonical form. If the names are canonical already, it returns header
// itself, so that thousands of targets can share one header. It returns an error if a name or a value is malformed.
// The error does not contain the value.
func checkHeader(header http.Header) (http.Header, error) {
	out := header
	for name, values := range header {
		if !isToken(name) {
			return nil, fmt.Errorf("%q is not a header name", name)
		}
		key := textproto.CanonicalMIMEHeaderKey(name)
		for _, v := range values {
			// net/http also rejects control characters (RFC 9110 section 5.5), but only when it sends the request. It
			// would replace a malformed host (section 7.2) by an empty host.
			switch {
			case strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
				return nil, fmt.Errorf("the value of header %s contains a line break or another control character", name)
			case key == "Host" && strings.ContainsAny(v, " \t/?#@\\"):
				return nil, errors.New("the value of header Host is not a host")
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

// isToken reports whether s is a token (RFC 9110 section 5.6.2). Methods and header names must be tokens.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// A client sends the requests of one Operation, and remembers header fields, cookies and the last event between
// requests. It sends the user's credentials only to the origin of the user's URL, or to every origin if
// LocationTrusted is true.
type client struct {
	Request          // as changed by complete; constant afterwards
	given   location // location of the URL in Request
	cookies cookies

	bare func() *http.Transport // returns the Transport without client certificates; see withoutCertificate

	next    *pager      // finds the next page of a list; nil if every response is a single page
	header  http.Header // the Request's header, with the fields that Refresh has returned
	gets    int         // number of GET requests so far, for unconditionalEvery
	kept    *response   // last response, if its header allows conditional requests; otherwise nil
	memory  stream.Memory
	from    string   // origin that sent memory.LastID
	renewed []string // secrets that Refresh has returned, latest first, and then the userinfo of the URL
	// withheld is the last origin that received a request without the credentials, as "scheme://host". notes are the
	// client's own hints for the observation of the current attempt.
	withheld string
	notes    []status.Hint
}

// newClient returns a client for r, or an error if r is invalid. The error holds no secrets.
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

// secrets returns the strings that must not appear in errors: user names, passwords, and the values of secret header
// fields.
func (c *client) secrets() []string {
	all := slices.Concat(userSecrets(c.User), c.renewed)
	for name, values := range c.Header {
		if !goesAnywhere(name) {
			all = append(all, values...)
		}
	}
	return all
}

// sendsUser reports whether requests use User for Basic authentication. An Authorization field in the header takes
// precedence over User.
func (c *client) sendsUser() bool { return c.User != nil && len(c.header["Authorization"]) == 0 }

// credentials returns a description of each credential in the requests: the user, secret header fields, and
// client certificates. Only trusted locations receive credentials. The Host field, which also goes only to
// trusted locations, is not a credential.
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

// withoutCertificate returns a copy of the Transport without client certificates. It returns nil if the
// Transport has no client certificate, or is not an [http.Transport]. It reads the fields of the copy only:
// another goroutine may be sending the first request through the original, and net/http then changes the
// original's fields.
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
	bare.DisableKeepAlives = true // no caller knows this copy, so no caller could close its idle connections
	return bare
}

// guards reports whether requests to p carry credentials.
func (c *client) guards(p location) bool {
	return p.trusted && len(c.credentials()) > 0
}

// noteWithheld adds a note that the request was sent without the credentials. from is the location that
// received the request. noteWithheld does nothing if from is trusted or at the origin of the user's URL, or if
// there are no credentials to withhold.
func (c *client) noteWithheld(from location) {
	if from.trusted || sameOrigin(from.url, c.given.url) || len(c.credentials()) == 0 {
		return
	}
	if origin := from.url.Scheme + "://" + from.url.Host; origin != c.withheld {
		c.withheld = origin
		c.notes = append(c.notes, status.Hint{Text: "credentials are not sent to " + origin + ", which is another origin"})
	}
}

// refer returns the location that reference names. from is the location whose response contains the reference.
// An https URL that receives credentials must not refer to http, because the response from there could be
// forged: refer then returns an error that wraps [ErrUntrusted]. LocationTrusted permits such references. Other
// errors of refer mean an unusable reference.
func (c *client) refer(from location, reference string) (location, error) {
	to, err := from.resolve(reference, c.LocationTrusted)
	downgraded := err == nil && from.url.Scheme == "https" && to.url.Scheme == "http"
	if downgraded && !c.LocationTrusted && c.guards(from) {
		err = &safeError{words: "leads from https to http", cause: ErrUntrusted}
	}
	return to, err
}

// mayTakeBody checks whether a redirect between the two locations may repeat the request with its body. It
// returns nil if the locations have the same origin, differ only by an upgrade from http to https, or if
// LocationTrusted is true. Otherwise it returns an error that wraps [ErrUntrusted].
func (c *client) mayTakeBody(from, to location) error {
	if c.LocationTrusted || sameOrigin(from.url, to.url) || upgraded(from.url, to.url) {
		return nil
	}
	return &safeError{words: "takes the body to another origin", cause: ErrUntrusted}
}
