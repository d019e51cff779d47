package exchange

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// ErrUntrusted is poll.ErrUntrusted.
var ErrUntrusted = errors.New("the other origin is not trusted")

// A place is a URL and whether the user's credentials may be sent to it.
type place struct {
	url     *url.URL // without userinfo; never changed
	trusted bool
	// guarded is true if there are credentials that are sent to it.
	guarded bool
}

// newPlace returns the place of a URL, which is then the place's.
func newPlace(u *url.URL, trusted, guarded bool) place {
	u.User = nil
	u.Host = strings.TrimSuffix(u.Host, ":") // an empty port is no port (RFC 3986 section 6.2.3)
	return place{url: u, trusted: trusted, guarded: guarded}
}

// refer resolves a reference in an answer from p, such as a Location. Trust ends when the
// origin changes, and does not come back, even if another origin redirects to the first
// one. If credentials were sent over https, http is refused: an answer could be forged.
func (p place) refer(reference string, trustAll bool) (place, error) {
	if reference == "" {
		return place{}, errors.New("is empty")
	}
	u, err := p.url.Parse(strings.TrimSpace(reference))
	switch {
	case err != nil:
		return place{}, errors.New("is malformed")
	case u.Scheme != "http" && u.Scheme != "https":
		return place{}, errors.New("is neither http nor https")
	case u.Hostname() == "":
		return place{}, errors.New("has no host")
	}
	u.Fragment, u.RawFragment = "", ""
	trusted := trustAll || p.trusted && sameOrigin(p.url, u)
	to := newPlace(u, trusted, p.guarded && trusted) // a server does not choose credentials
	if p.guarded && !trustAll && p.url.Scheme == "https" && u.Scheme == "http" {
		return to, &safeError{words: "leads from https to http", cause: ErrUntrusted}
	}
	return to, nil
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

// origin returns the scheme, host and port.
func (p place) origin() string {
	return p.url.Scheme + "://" + net.JoinHostPort(strings.ToLower(p.url.Hostname()), port(p.url))
}

// Origin returns the scheme, host and port of a URL to request, "" if it is malformed.
func Origin(s string) string {
	u, err := ParseURL(s)
	if err != nil {
		return ""
	}
	return newPlace(u, false, false).origin()
}

// sameHost compares the names of hosts. Only the case of ASCII letters is ignored:
// Unicode folds letters that are different in a host name (ß and ẞ, s and ſ). The two
// spellings of an internationalized name count as two hosts, which is on the safe side.
func sameHost(a, b string) bool {
	lower := func(c byte) byte {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		return c
	}
	return slices.EqualFunc([]byte(a), []byte(b), func(x, y byte) bool { return lower(x) == lower(y) })
}

// upgraded reports whether b is a's host over TLS (RFC 6797 section 8.3).
func upgraded(a, b *url.URL) bool {
	return a.Scheme == "http" && b.Scheme == "https" && sameHost(a.Hostname(), b.Hostname()) &&
		port(a) == "80" && port(b) == "443"
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

// onlyMoved reports whether a and b differ only in the slash at the end of the path,
// or in https for http.
func onlyMoved(a, b *url.URL) bool {
	from, to := a.EscapedPath(), b.EscapedPath()
	secured := a.Scheme == "http" && b.Scheme == "https"
	return sameHost(a.Hostname(), b.Hostname()) && a.RawQuery == b.RawQuery &&
		strings.TrimSuffix(from, "/") == strings.TrimSuffix(to, "/") && (from != to || secured)
}

// A redirect is one that was followed.
type redirect struct {
	code     int
	from, to place
	toGET    bool // it made a GET of the request
	start    bool // the request was to start the operation
}

// isRedirect reports whether code is that of a redirect. 300 and 304 are not.
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

// isAmbiguous reports whether a redirect of a request that changes something can
// name two things: where to send it instead (RFC 9110 sections 15.4.2 and 15.4.3)
// or, by custom, where its result is.
func isAmbiguous(code int, method string) bool {
	return code != http.StatusSeeOther && becomesGET(code, method)
}

// redirect returns where the answer to a call leads. [ErrUntrusted] means that it must
// not be followed.
func (c *client) redirect(from call, a *answer) (r redirect, err error) {
	r = redirect{code: a.code, from: a.from, toGET: becomesGET(a.code, from.method), start: from.start}
	r.to, err = a.from.refer(a.Header.Get("Location"), c.LocationTrusted)
	if err != nil || from.body == nil || r.toGET {
		return r, err
	}
	return r, c.mayTakeBody(r.from, r.to)
}

// mayTakeBody returns an error unless a body that was sent to one place may be sent to
// another, which an answer names.
func (c *client) mayTakeBody(from, to place) error {
	if c.LocationTrusted || sameOrigin(from.url, to.url) || upgraded(from.url, to.url) {
		return nil
	}
	return &safeError{words: "takes the body to another origin", cause: ErrUntrusted}
}

// goesAnywhere reports whether a user's header is also sent to other origins.
func goesAnywhere(name string) bool {
	return strings.HasPrefix(name, "Accept") || name == "User-Agent" || name == "Content-Type"
}
