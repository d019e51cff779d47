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

// maxURL is the length of the longest URL that is accepted from a response, in bytes. Without this limit, a server
// that names longer and longer URLs could fill the memory.
const maxURL = 16 << 10

// ErrUntrusted is poll.ErrUntrusted: a response names an origin that must not receive the request.
var ErrUntrusted = errors.New("the other origin is not trusted")

// A location is a URL that is either trusted or not. Only trusted locations receive the user's credentials.
type location struct {
	url     *url.URL // without userinfo; never changed
	trusted bool
	origin  string // scheme, host and port of url, such as "https://example.com:443"
}

// newLocation returns the location of u. It takes ownership of u: it removes the userinfo and an empty port.
func newLocation(u *url.URL, trusted bool) location {
	u.User = nil
	u.Host = strings.TrimSuffix(u.Host, ":") // an empty port means the default port (RFC 3986 section 6.2.3)
	return location{u, trusted, connect.Origin(u)}
}

// resolve returns the location that reference names, as the Location field of a response from p, for example.
// The reference may be a relative URL. The result is trusted if trustAll is true, or if p is trusted and has
// the same origin. So trust ends as soon as the origin changes, and does not come back if the other origin
// refers to the first one again. The error message continues a sentence about the reference, as in "has no
// host".
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

// same reports whether requests to p and q are the same: the locations are equally trusted, and their URLs have the
// same identity. It returns false if p or q has no URL.
func (p location) same(q location) bool {
	return p.url != nil && q.url != nil && p.trusted == q.trusted && p.identity() == q.identity()
}

// identity returns a string that is equal for all URLs that lead to the same request.
func (p location) identity() string { return connect.Page(p.url) }

// leavesFor reports whether a redirect from p to q leads to another page. These changes do not count: an upgrade from
// http to https, a slash at the end of the path, and additional query parameters, as in ?lang=en.
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

// sameOrigin reports whether a and b have the same scheme, host and port.
func sameOrigin(a, b *url.URL) bool { return connect.Origin(a) == connect.Origin(b) }

// upgraded reports whether b is the secure form of a: http on port 80 has become https on port 443, and the host is
// the same (RFC 6797 section 8.3). It does not compare paths.
func upgraded(a, b *url.URL) bool {
	plain, isPlain := strings.CutPrefix(connect.Origin(a), "http://")
	host, isDefault := strings.CutSuffix(plain, ":80")
	return isPlain && isDefault && connect.Origin(b) == "https://"+host+":443"
}

// goesAnywhere reports whether the user's header field called name is sent to untrusted locations, too. name must be
// in canonical form.
func goesAnywhere(name string) bool {
	return strings.HasPrefix(name, "Accept") || name == "User-Agent" || name == "Content-Type"
}

// ParseURL parses s, the URL of a request. It returns an error if the scheme is neither http nor https, or if the
// host is missing. Any part of a malformed URL may be a secret, so the error repeats at most the port.
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
		return nil, fmt.Errorf("%s is not a port", u.Port())
	}
	return u, nil
}

// TargetName returns a name for the target s that contains no secrets. If s is a URL, the name is its scheme, host
// and path, without userinfo, query and fragment. Otherwise s is the path of a program, and the name is its last
// element. The name of "" is "".
func TargetName(s string) string {
	if strings.Contains(s, "//") {
		if scheme := schemePrefix().FindString(s); scheme != "" {
			u, err := url.Parse(s)
			if err != nil {
				return scheme
			}
			return urlName(u)
		}
		s = s[:strings.IndexAny(s+"?", "?#")]
		s = s[strings.LastIndexByte(s, '@')+1:] // a URL without a scheme, or with a malformed scheme
	}
	if s == "" {
		return ""
	}
	return filepath.Base(s)
}

var (
	// schemePrefix matches the scheme at the start of a URL, with "://" (RFC 3986 section 3.1).
	schemePrefix = words.Pattern(`^[A-Za-z][A-Za-z0-9+.-]*://`)
	// pathParameter matches a parameter in a URL's path (RFC 3986 section 3.3), as in /cart;jsessionid=8F3A.
	pathParameter = words.Pattern(`;[^/=]*=[^/]*`)
	// pathUserinfo matches the userinfo of a second URL in a URL's path, as in /fetch/https://me:secret@host/.
	pathUserinfo = words.Pattern(`//[^/@]*@`)
	// anyURL matches every URL with a scheme inside a longer text.
	anyURL = words.Pattern(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>]+`)
)

// urlName returns the scheme, host and path of u as a name for messages. It removes parameters and userinfo
// from the path, because they may be secrets.
func urlName(u *url.URL) string {
	path := u.EscapedPath()
	if strings.ContainsAny(path, ";@") { // most paths contain neither parameters nor userinfo
		path = pathUserinfo().ReplaceAllString(pathParameter().ReplaceAllString(path, ""), "//")
	}
	return u.Scheme + "://" + u.Host + path
}

// shortest is the length of the shortest secret that redact removes, in bytes. A shorter secret would match parts of
// ordinary words.
const shortest = 4

// redact replaces each URL in text by its TargetName, and each of the secrets by "***".
func redact(text string, secrets []string) string {
	text = anyURL().ReplaceAllStringFunc(text, TargetName)
	for _, secret := range secrets {
		if len(secret) >= shortest {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return text
}

// secretsOf returns the parts of u that may be secret: user name, password, query, query values and fragment. Some of
// the strings may be empty.
func secretsOf(u *url.URL) []string {
	secrets := append(userSecrets(u.User), u.RawQuery, u.Fragment)
	for _, values := range u.Query() {
		secrets = append(secrets, values...)
	}
	return secrets
}

// userSecrets returns the user name and the password in u, or two empty strings if u is nil.
func userSecrets(u *url.Userinfo) []string {
	password, _ := u.Password()
	return []string{u.Username(), password}
}
