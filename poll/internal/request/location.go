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

// maxURL is the length in bytes of the longest URL that is accepted from a response. A server that names ever longer URLs
// must not fill the memory.
const maxURL = 16 << 10

// ErrUntrusted is poll.ErrUntrusted.
var ErrUntrusted = errors.New("the other origin is not trusted")

// A location is a URL. If trusted is true, requests to the URL carry the user's credentials.
type location struct {
	url     *url.URL // without userinfo; never changed
	trusted bool
}

// newLocation returns the location of u. It changes and keeps u, so the caller must not use u afterwards.
func newLocation(u *url.URL, trusted bool) location {
	u.User = nil
	u.Host = strings.TrimSuffix(u.Host, ":") // an empty port means the default port (RFC 3986 section 6.2.3)
	return location{url: u, trusted: trusted}
}

// resolve resolves a reference in a response from p, such as a Location. The result is trusted if trustAll is true, or if p
// is trusted and has the same origin. So trust ends with the first change of origin, and does not return, even if
// another origin redirects to the first origin. The error completes a sentence about the reference.
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

// same reports whether requests to p and q are equal. It returns false for a location without a URL.
func (p location) same(q location) bool {
	return p.url != nil && q.url != nil && p.trusted == q.trusted && p.identity() == q.identity()
}

// identity returns a key of the URL: URLs with equal keys lead to equal requests.
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

// origin returns the scheme, host and port of p.
func (p location) origin() string { return connect.Origin(p.url) }

// sameOrigin reports whether a and b have the same scheme, host and port.
func sameOrigin(a, b *url.URL) bool { return connect.Origin(a) == connect.Origin(b) }

// upgraded reports whether a redirect from a to b only changes http on port 80 to https on port 443 of the same host
// (RFC 6797 section 8.3). It does not compare paths.
func upgraded(a, b *url.URL) bool {
	plain, isPlain := strings.CutPrefix(connect.Origin(a), "http://")
	host, isDefault := strings.CutSuffix(plain, ":80")
	return isPlain && isDefault && connect.Origin(b) == "https://"+host+":443"
}

// goesAnywhere reports whether the user's header field name, in canonical form, is also sent to untrusted locations.
func goesAnywhere(name string) bool {
	return strings.HasPrefix(name, "Accept") || name == "User-Agent" || name == "Content-Type"
}

// ParseURL parses the URL of a request. It must have the scheme http or https, and a host. The error repeats no part of
// the URL except the port, because a malformed URL may hold a secret anywhere.
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

// TargetName returns a name without secrets for a target. For a URL it returns the scheme, host and path, without
// userinfo, query and fragment. For any other string, such as the path of a program, it returns the base name. It returns
// "" for "".
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
	// schemePrefix matches the start of a URL with a scheme (RFC 3986 section 3.1).
	schemePrefix = words.Pattern(`^[A-Za-z][A-Za-z0-9+.-]*://`)
	// pathParameter matches a parameter of a path segment (RFC 3986 section 3.3), as in /cart;jsessionid=8F3A.
	pathParameter = words.Pattern(`;[^/=]*=[^/]*`)
	// pathUserinfo matches the userinfo of a URL inside the path of another URL, as in /fetch/https://me:secret@host/.
	pathUserinfo = words.Pattern(`//[^/@]*@`)
	// anyURL matches a URL with a scheme in a longer string.
	anyURL = words.Pattern(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>]+`)
)

// urlName returns the scheme, host and path of u, without the parameters and the userinfo that the path may contain.
func urlName(u *url.URL) string {
	path := u.EscapedPath()
	if strings.ContainsAny(path, ";@") { // most paths have neither
		path = pathUserinfo().ReplaceAllString(pathParameter().ReplaceAllString(path, ""), "//")
	}
	return u.Scheme + "://" + u.Host + path
}

// shortest is the length in bytes of the shortest secret that redact removes. Shorter secrets would match ordinary words.
const shortest = 4

// redact returns text with each URL replaced by its TargetName, and each secret by "***".
func redact(text string, secrets []string) string {
	text = anyURL().ReplaceAllStringFunc(text, TargetName)
	for _, secret := range secrets {
		if len(secret) >= shortest {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return text
}

// secretsOf returns the secret parts of u: userinfo, query, the values of the query, and fragment. Some may be "".
func secretsOf(u *url.URL) []string {
	secrets := append(userSecrets(u.User), u.RawQuery, u.Fragment)
	for _, values := range u.Query() {
		secrets = append(secrets, values...)
	}
	return secrets
}

// userSecrets returns the name and the password of u. They are "" if u is nil.
func userSecrets(u *url.Userinfo) []string {
	password, _ := u.Password()
	return []string{u.Username(), password}
}
