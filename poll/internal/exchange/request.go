// Package exchange makes HTTP requests, follows what redirects and answers name,
// and says in words what went wrong. It judges nothing.
package exchange

import (
	"net/http"
	"net/textproto"
	"net/url"
)

// DefaultMaxRedirects is the MaxRedirects of a Request whose MaxRedirects is zero.
const DefaultMaxRedirects = 50

// defaultMaxBody is the MaxBody of one whose MaxBody is zero, in bytes.
const defaultMaxBody = 64 << 20

// A Request is what poll.HTTP is.
type Request struct {
	URL             string
	Method          string
	Body            []byte
	Header          http.Header
	User            *url.Userinfo
	MaxBody         int64
	MaxRedirects    int
	Follow          Follow
	NoConditional   bool
	LocationTrusted bool
	Transport       http.RoundTripper
}

func (h Request) method() string {
	switch {
	case h.Method != "":
		return h.Method
	case h.Body != nil:
		return http.MethodPost
	}
	return http.MethodGet
}

func (h Request) maxBody() int64 {
	if h.MaxBody > 0 {
		return h.MaxBody
	}
	return defaultMaxBody
}

// maxRedirects returns how many redirects are followed, less than 0 for none.
func (h Request) maxRedirects() int {
	if h.MaxRedirects == 0 {
		return DefaultMaxRedirects
	}
	return min(h.MaxRedirects, maxHops)
}

// canonical returns header with the canonical form of each name.
func canonical(header http.Header) http.Header {
	out := make(http.Header, len(header))
	for name, values := range header {
		name = textproto.CanonicalMIMEHeaderKey(name)
		out[name] = append(out[name], values...)
	}
	return out
}

// maxHops is how many redirects one attempt follows at the very most, and maxURL
// how long a URL may be that one leads to: a server that redirects for ever ends
// the attempt soon, and fills no memory until then.
const (
	maxHops = 1000
	maxURL  = 16 << 10
)
