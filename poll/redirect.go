package poll

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// A place is a URL and whether the user's credentials may be sent to it.
type place struct {
	url     *url.URL
	trusted bool
}

// refer resolves a reference that came from p, as a redirect's Location. Trust
// is lost with the origin and does not come back: a stranger's redirect to
// where we came from is still a stranger's.
func (p place) refer(reference string, trustAll bool) (place, error) {
	u, err := p.url.Parse(strings.TrimSpace(reference))
	switch {
	case reference == "":
		return place{}, errors.New("is empty")
	case err != nil:
		return place{}, errors.New("is malformed")
	case u.Scheme != "http" && u.Scheme != "https":
		return place{}, errors.New("is neither http nor https")
	case u.Hostname() == "":
		return place{}, errors.New("has no host")
	}
	u.User = nil // a server's choice of credentials is none of ours
	u.Fragment, u.RawFragment = "", ""
	return place{url: u, trusted: trustAll || p.trusted && sameOrigin(p.url, u)}, nil
}

// same reports whether a request to p and one to q are the same.
func (p place) same(q place) bool {
	return p.url != nil && q.url != nil && p.trusted == q.trusted &&
		sameOrigin(p.url, q.url) && p.url.RequestURI() == q.url.RequestURI()
}

// sameOrigin compares scheme, host and port (RFC 6454 section 5).
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && sameHost(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

// sameHost compares the names of hosts. Only the case of ASCII letters is nothing:
// Unicode folds letters that are different in a host name (ß and ẞ, s and ſ). An
// internationalized name in its two spellings is two hosts, which is on the safe side.
func sameHost(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		if lowerASCII(a[i]) != lowerASCII(b[i]) {
			return false
		}
	}
	return true
}

func lowerASCII(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// isRedirect reports whether code sends the client elsewhere by itself. 300 and
// 304 do not.
func isRedirect(code int) bool {
	switch code {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// becomesGET reports whether the request after a redirect is a GET without a
// body: RFC 9110 sections 15.4.2 to 15.4.4, as browsers read them.
func becomesGET(code int, method string) bool {
	switch code {
	case http.StatusSeeOther:
		return method != http.MethodHead
	case http.StatusMovedPermanently, http.StatusFound:
		return method == http.MethodPost
	}
	return false
}

// mayTravel reports whether a header of the user goes along to another origin.
func mayTravel(name string) bool {
	return strings.HasPrefix(name, "Accept") || name == "User-Agent" || name == "Content-Type"
}
