// Package request makes the HTTP requests of a wait. It evaluates no rules.
//
// An [Operation] sends the requests of one wait: it starts an operation, and follows the URLs that responses name. A
// [Position], a value, is the state of the operation. The calls of an Operation pass through layers. Each layer takes a
// call and returns an answer. From the outside in:
//
//	pages        reads the further pages of a list
//	renewed      renews header fields
//	conditional  makes requests conditional, so that the server can confirm a response that has not changed (304)
//	client       sends requests, follows redirects, and sends credentials only to their origin
//
// [layers] leaves out the layers that a request does not need.
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
