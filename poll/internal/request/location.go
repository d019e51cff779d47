package request

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/pollcli/poll/internal/connect"
	"github.com/pollcli/poll/internal/words"
)

// maxURL is how long the URL may be that an answer names, in bytes: a server that leads to ever
// longer ones must not fill the memory.
const maxURL = 16 << 10

// ErrUntrusted is poll.ErrUntrusted.
var ErrUntrusted = errors.New("the other origin is not trusted")

// A location is a URL and whether the user's credentials may be sent to it.
type location struct {
	url     *url.URL // without userinfo; never changed
	trusted bool
}

// newLocation returns the location of a URL, which must not be used for anything else.
func newLocation(u *url.URL, trusted bool) location {
	u.User = nil
	u.Host = strings.TrimSuffix(u.Host, ":") // an empty port is no port (RFC 3986 section 6.2.3)
	return location{url: u, trusted: trusted}
}

// resolve resolves a reference in an answer from p, such as a Location. Trust ends when the
// origin changes, and does not come back, even if another origin redirects to the first
// one.
func (p location) resolve(reference string, trustAll bool) (location, error) {
	if reference == "" {
		return location{}, errors.New("is empty")
	}
	u, err := p.url.Parse(strings.TrimSpace(reference))
	switch {
	case err != nil:
		return location{}, errors.New("is malformed")
	case u.Scheme != "http" && u.Scheme != "https":
		return location{}, errors.New("is neither http nor https")
	case u.Hostname() == "":
		return location{}, errors.New("has no host")
	case len(u.String()) > maxURL:
		return location{}, fmt.Errorf("is longer than %d bytes", maxURL)
	}
	u.Fragment, u.RawFragment = "", ""
	return newLocation(u, trustAll || p.trusted && sameOrigin(p.url, u)), nil
}

// same reports whether a request to p and one to q are the same.
func (p location) same(q location) bool {
	return p.url != nil && q.url != nil && p.trusted == q.trusted && p.identity() == q.identity()
}

// identity is equal for URLs whose requests are the same.
func (p location) identity() string { return connect.Page(p.url) }

// leavesFor reports whether a redirect from p to q leads to another page. An upgrade to TLS, a slash at the
// end of the path, and parameters after those of the query, as in ?lang=en, lead to the same page.
func (p location) leavesFor(q location) bool {
	from, to := *p.url, q.url
	if upgraded(&from, to) {
		from.Scheme, from.Host = to.Scheme, to.Host
	}
	if strings.TrimSuffix(from.EscapedPath(), "/") == strings.TrimSuffix(to.EscapedPath(), "/") {
		from.Path, from.RawPath = to.Path, to.RawPath
	}
	if from.RawQuery == "" || strings.HasPrefix(to.RawQuery, from.RawQuery+"&") {
		from.RawQuery = to.RawQuery
	}
	return connect.Page(&from) != connect.Page(to)
}

func (p location) origin() string { return connect.Origin(p.url) }

func sameOrigin(a, b *url.URL) bool { return connect.Origin(a) == connect.Origin(b) }

// upgraded reports whether b is a's host over TLS (RFC 6797 section 8.3).
func upgraded(a, b *url.URL) bool {
	plain, isPlain := strings.CutPrefix(connect.Origin(a), "http://")
	host, isDefault := strings.CutSuffix(plain, ":80")
	return isPlain && isDefault && connect.Origin(b) == "https://"+host+":443"
}

// goesAnywhere reports whether a user's header is also sent to other origins.
func goesAnywhere(name string) bool {
	return strings.HasPrefix(name, "Accept") || name == "User-Agent" || name == "Content-Type"
}

// ParseURL parses a URL to request. Its errors repeat no part of the URL but its port,
// since a malformed URL may hold a secret anywhere.
func ParseURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	switch {
	case s == "":
		return nil, errors.New("no URL")
	case err != nil:
		return nil, errors.New("malformed URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("the URL's scheme is neither http nor https")
	case u.Hostname() == "":
		return nil, errors.New("the URL has no host")
	}
	if _, err := net.LookupPort("tcp", u.Port()); u.Port() != "" && err != nil {
		return nil, fmt.Errorf("%s is no port", u.Port())
	}
	return u, nil
}

// TargetName returns a name of a target that is free of secrets: the scheme, host and
// path of a URL, without userinfo, query and fragment, and the base name of anything
// else, such as the path of a program. It returns "" for "".
func TargetName(s string) string {
	if scheme := schemePrefix().FindString(s); scheme != "" {
		u, err := url.Parse(s)
		if err != nil {
			return scheme
		}
		return urlName(u)
	}
	if strings.Contains(s, "//") { // a URL without a scheme, or with a malformed one
		s = s[:strings.IndexAny(s+"?", "?#")]
		s = s[strings.LastIndexByte(s, '@')+1:]
	}
	if s == "" {
		return ""
	}
	return filepath.Base(s)
}

var (
	// schemePrefix is how a URL with a scheme begins (RFC 3986 section 3.1).
	schemePrefix = words.Pattern(`^[A-Za-z][A-Za-z0-9+.-]*://`)
	// pathParameter is a parameter of a path segment (RFC 3986 section 3.3), as in
	// /cart;jsessionid=8F3A.
	pathParameter = words.Pattern(`;[^/=]*=[^/]*`)
	// pathUserinfo is the userinfo of a URL that is the path of another, as in
	// /fetch/https://me:secret@host/.
	pathUserinfo = words.Pattern(`//[^/@]*@`)
	// anyURL finds URLs in text.
	anyURL = words.Pattern(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>]+`)
)

// urlName returns scheme, host and path of u.
func urlName(u *url.URL) string {
	path := pathParameter().ReplaceAllString(u.EscapedPath(), "")
	return u.Scheme + "://" + u.Host + pathUserinfo().ReplaceAllString(path, "//")
}

// shortest is how long a secret is that is removed from text, in bytes: shorter ones would hit
// ordinary words.
const shortest = 4

// redact returns text with every URL cut to its name and secrets removed.
func redact(text string, secrets []string) string {
	text = anyURL().ReplaceAllStringFunc(text, TargetName)
	for _, secret := range secrets {
		if len(secret) >= shortest {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return text
}

// secretsOf returns the parts of a URL that are never shown.
func secretsOf(u *url.URL) []string {
	secrets := append(userSecrets(u.User), u.RawQuery, u.Fragment)
	for _, values := range u.Query() {
		secrets = append(secrets, values...)
	}
	return secrets
}

func userSecrets(u *url.Userinfo) []string {
	password, _ := u.Password()
	return []string{u.Username(), password}
}
