package exchange

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// ErrUntrusted is poll.ErrUntrusted.
var ErrUntrusted = errors.New("the other origin is not trusted")

// A place is a URL and whether the user's credentials may be sent to it.
type place struct {
	url     *url.URL
	trusted bool
	// guarded is true where there are credentials that are sent to it.
	guarded bool
}

// refer resolves a reference that came from p, as a redirect's Location. Trust
// is lost with the origin and does not come back: a stranger's redirect to
// where we came from is still a stranger's. From https to http there is no way
// where credentials were sent: what comes back is no longer what they asked for.
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
	u.User = nil // a server's choice of credentials is none of ours
	u.Fragment, u.RawFragment = "", ""
	to := place{url: u, trusted: trustAll || p.trusted && sameOrigin(p.url, u)}
	to.guarded = p.guarded && to.trusted
	if p.guarded && !trustAll && p.url.Scheme == "https" && u.Scheme == "http" {
		return to, &saidError{words: "leads from https to http", cause: ErrUntrusted}
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
	return a.Scheme == b.Scheme && SameHost(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

// SameHost compares the names of hosts. Only the case of ASCII letters is nothing:
// Unicode folds letters that are different in a host name (ß and ẞ, s and ſ). An
// internationalized name in its two spellings is two hosts, which is on the safe side.
func SameHost(a, b string) bool {
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

// upgraded reports whether b is a's host over TLS (RFC 6797 section 8.3). What was
// sent to a in clear text is safer with b.
func upgraded(a, b *url.URL) bool {
	return a.Scheme == "http" && b.Scheme == "https" && SameHost(a.Hostname(), b.Hostname()) &&
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

// A hop is one redirect that was followed.
type hop struct {
	code     int
	from, to place
	turned   bool // it made a GET of the request
	start    bool // the request was to start the operation
}

// hop returns where the answer to a call, a redirect, sends the client. An
// [ErrUntrusted] says why not to go there.
func (c *client) hop(from call, a *answer) (hop, error) {
	h := hop{code: a.code, from: a.from, turned: becomesGET(a.code, from.method), start: from.start}
	var err error
	h.to, err = a.from.refer(a.header.Get("Location"), c.trustAll)
	if err != nil || from.body == nil || h.turned || c.trustAll {
		return h, err
	}
	if !sameOrigin(h.from.url, h.to.url) && !upgraded(h.from.url, h.to.url) {
		return h, &saidError{words: "takes the body to another origin", cause: ErrUntrusted}
	}
	return h, nil
}

// leavesOpen reports whether a redirect of a request that does something can mean either of two things: by RFC 9110 (sections 15.4.2 and 15.4.3) where to
// send it instead, by custom where its result is.
func leavesOpen(code int, method string) bool {
	return code != http.StatusSeeOther && becomesGET(code, method)
}

// onlyMoved reports whether b is where a is to be asked for: what differs is the
// slash at the end of the path, or https in place of http.
func onlyMoved(a, b *url.URL) bool {
	from, to := a.EscapedPath(), b.EscapedPath()
	secured := a.Scheme == "http" && b.Scheme == "https"
	return SameHost(a.Hostname(), b.Hostname()) && a.RawQuery == b.RawQuery &&
		strings.TrimSuffix(from, "/") == strings.TrimSuffix(to, "/") &&
		(from != to || secured)
}

// mayTravel reports whether a header of the user goes along to another origin.
func mayTravel(name string) bool {
	return strings.HasPrefix(name, "Accept") || name == "User-Agent" || name == "Content-Type"
}
