package poll

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"github.com/pollcli/poll/poll/internal/exchange"
	"github.com/pollcli/poll/status"
)

const (
	// DefaultMaxRedirects is the MaxRedirects of an [HTTP] whose MaxRedirects is
	// zero: as many as curl follows.
	DefaultMaxRedirects = exchange.DefaultMaxRedirects
	// NoRedirects is the MaxRedirects of an [HTTP] that follows none.
	NoRedirects = -1
)

// HTTP probes a URL by a request. The zero value of every field but URL is
// useful.
//
// A request other than GET, HEAD and OPTIONS is taken to start the operation:
// it is sent once, and what its answer names is polled from there on; see
// [Follow]. It is sent again only where it never left, where the server says
// over HTTP/2 that it did nothing with it, or where it was refused for load
// (429, 503 or 403 with a hint, such as Retry-After).
//
// One attempt is one request, which the Transport is kept from sending again,
// and the redirects it meets. They are followed as a browser does (RFC 9110
// section 15.4), but for a 301 or 302 after a POST: it leaves open
// whether anything was done. A page that a redirect leads to where an operation is
// followed is doubted ([status.Observation.Doubt]): it may be one to log in. Where one
// leads to another origin (scheme, host or port), what may be a credential stays
// behind: Authorization, cookies, User, every header but Accept*, User-Agent and
// Content-Type, and the client certificate of an [http.Transport]. The same holds
// for a URL that is followed. Where there are credentials, https is not left for
// http, and a body goes to its own origin only, or from http to the same host over
// https.
type HTTP struct {
	// URL is the URL to request, http or https. Its userinfo is sent as basic
	// authentication.
	URL string
	// Method is the request's; "" is GET, or POST where there is a Body.
	Method string
	// Body is sent with each request to URL; nil is none. Without a Content-Type
	// in Header it is sent as application/x-www-form-urlencoded, as curl does.
	Body []byte
	// Header is sent in addition to "Accept: */*" and "User-Agent: poll", or in
	// place of them. A header without any value is not sent at all. Host is sent
	// as the request's host.
	Header http.Header
	// User is sent as basic authentication (RFC 7617) in place of the URL's
	// userinfo; nil is none. An Authorization in Header comes before both.
	User *url.Userinfo

	// MaxBody is the most that is kept of an answer, in bytes, after decompression.
	// What comes after is read and counted. Zero is 64 MiB.
	MaxBody int64
	// MaxRedirects is how many redirects one attempt follows; 0 is
	// [DefaultMaxRedirects]. With [NoRedirects], or any negative number, the
	// redirect itself is the answer. One more than MaxRedirects is a failure for
	// good, and so is one more than 1000, whatever MaxRedirects says.
	MaxRedirects int
	// Follow says where to look after the first answer. The zero value follows
	// what the answer to a request that starts the operation names.
	Follow Follow
	// NoConditional turns If-None-Match and If-Modified-Since off.
	NoConditional bool
	// LocationTrusted sends the credentials, and the body after a redirect, to
	// every origin that a redirect or an answer names.
	LocationTrusted bool

	// Transport sends the requests; nil is [http.DefaultTransport]. See
	// [Connect] for one with other certificates, or for a Unix socket.
	Transport http.RoundTripper
}

// Check reports what makes the request impossible to send. Its errors are free
// of secrets.
func (h HTTP) Check() error {
	if _, err := exchange.ParseURL(h.URL); err != nil {
		return err
	}
	if h.Method != "" && !isToken(h.Method) {
		return fmt.Errorf("%q is no HTTP method", h.Method)
	}
	for name, values := range h.Header {
		if !isToken(name) {
			return fmt.Errorf("%q is no header name", name)
		}
		if slices.ContainsFunc(values, hasControl) {
			return fmt.Errorf("the value of header %s contains a line break or another control character", name)
		}
		if textproto.CanonicalMIMEHeaderKey(name) == "Host" && slices.ContainsFunc(values, noHost) {
			return errors.New("the value of header Host is no host")
		}
	}
	if h.MaxBody < 0 {
		return errNegativeBody
	}
	return nil
}

// Target returns the scheme, host and path of the URL.
func (h HTTP) Target() string { return TargetName(h.URL) }

// Session returns the probe of one run, which keeps the URL that is followed
// and the validators of the last answer. The probe is a [Starter] and a [Finisher].
func (h HTTP) Session() Probe {
	if err := h.Check(); err != nil {
		return ProbeFunc(func(context.Context, Attempt) status.Observation {
			return status.Observation{Kind: status.KindHTTP, Failure: exchange.Hopeless(err)}
		})
	}
	return httpSession{exchange.NewSession(exchange.Request{
		URL:             h.URL,
		Method:          h.Method,
		Body:            h.Body,
		Header:          h.Header,
		User:            h.User,
		MaxBody:         h.MaxBody,
		MaxRedirects:    h.MaxRedirects,
		Follow:          h.Follow.follow,
		NoConditional:   h.NoConditional,
		LocationTrusted: h.LocationTrusted,
		Transport:       h.Transport,
	})}
}

// An httpSession is an HTTP probe in one run.
type httpSession struct{ *exchange.Session }

// Probe makes one attempt.
func (s httpSession) Probe(ctx context.Context, a Attempt) status.Observation {
	return s.Look(ctx, a.LastLook)
}

// Result looks for the result of an operation that is done.
func (s httpSession) Result(last status.Observation) (Probe, string) {
	look, what := s.Session.Result(last)
	if look == nil {
		return nil, ""
	}
	return ProbeFunc(func(ctx context.Context, _ Attempt) status.Observation { return look(ctx) }), what
}

// Probe sends one request, as the first attempt of a run of its own.
func (h HTTP) Probe(ctx context.Context, a Attempt) status.Observation {
	return h.Session().Probe(ctx, a)
}

// isToken reports whether s is a token, as methods and header names are
// (RFC 9110 section 5.6.2).
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// hasControl reports whether a value holds a character that no field value may
// (RFC 9110 section 5.5). net/http refuses it, too, but at each attempt anew.
func hasControl(value string) bool {
	return strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// noHost reports whether a value cannot be a host and a port (RFC 9110 section
// 7.2). net/http would send an empty one in its place.
func noHost(value string) bool { return strings.ContainsAny(value, " \t/?#@\\") }
