package request

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// This file decides what may be shown of a URL or of the text of an error.

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

// TargetName is poll.TargetName.
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

// lazily compiles a pattern at its first use: running a command needs none.
func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

var (
	// schemePrefix is how a URL with a scheme begins (RFC 3986 section 3.1).
	schemePrefix = lazily(`^[A-Za-z][A-Za-z0-9+.-]*://`)
	// pathParameter is a parameter of a path segment (RFC 3986 section 3.3), as in
	// /cart;jsessionid=8F3A.
	pathParameter = lazily(`;[^/=]*=[^/]*`)
	// pathUserinfo is the userinfo of a URL that is the path of another, as in
	// /fetch/https://me:secret@host/.
	pathUserinfo = lazily(`//[^/@]*@`)
	// anyURL finds URLs in text.
	anyURL = lazily(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>]+`)
)

// urlName returns scheme, host and path of u.
func urlName(u *url.URL) string {
	path := pathParameter().ReplaceAllString(u.EscapedPath(), "")
	return u.Scheme + "://" + u.Host + pathUserinfo().ReplaceAllString(path, "//")
}

// A redactor removes known secrets from the text of errors of other packages.
type redactor struct{ secrets, renewed []string }

// shortest is how long a secret is that is removed, in bytes: shorter ones would hit ordinary
// words.
const shortest = 4

func (r *redactor) add(values ...string) { r.secrets = append(r.secrets, values...) }

// addRenewed adds values in place of which others may come, of which the last ones count.
func (r *redactor) addRenewed(values ...string) {
	r.renewed = slices.Concat(values, r.renewed)
	r.renewed = r.renewed[:min(len(r.renewed), maxRenewed)]
}

func (r *redactor) addUser(u *url.Userinfo) {
	password, _ := u.Password()
	r.add(u.Username(), password)
}

// addURL adds the parts of u that are never shown.
func (r *redactor) addURL(u *url.URL) {
	if u.User != nil {
		r.addUser(u.User)
	}
	for _, values := range u.Query() {
		r.add(values...)
	}
	r.add(u.RawQuery, u.Fragment)
}

// clean returns text with every URL cut to its name and every known secret removed.
func (r *redactor) clean(text string) string {
	text = anyURL().ReplaceAllStringFunc(text, TargetName)
	for _, secret := range slices.Concat(r.secrets, r.renewed) {
		if len(secret) >= shortest {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return text
}
