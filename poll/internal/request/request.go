// Package request makes the HTTP requests of a wait. It evaluates no rules.
//
// An [Operation] is a request with the connection of one wait. It starts an operation, and follows the URLs that
// responses name. The [Position], a value, is where the operation stands. The calls of an Operation go through
// layers, each of which takes a call and returns an answer. From the outside in:
//
//	pages        reads the further pages of a list
//	renewed      renews header fields
//	conditional  lets the server confirm an answer that has not changed (304)
//	client       follows redirects, and keeps credentials with their origin
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
	// redirectLimit bounds MaxRedirects: a server that redirects for ever must not delay the
	// attempt.
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

// complete checks the request, except for Follow and Next, and fills in defaults. The error
// holds no secrets.
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

// isSafe reports whether requests by a method change nothing (RFC 9110 section 9.2.1).
func isSafe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// checkHeader returns header with the canonical form of each name: header itself if all
// have it, which thousands of targets can share.
func checkHeader(header http.Header) (http.Header, error) {
	out := header
	for name, values := range header {
		if !isToken(name) {
			return nil, fmt.Errorf("%q is no header name", name)
		}
		key := textproto.CanonicalMIMEHeaderKey(name)
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
		if key != name {
			out = maps.Clone(out)
			delete(out, name)
			out[key] = slices.Concat(out[key], values)
		}
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
