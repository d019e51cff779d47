package exchange

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

// This file decides what of a URL, a header or an error may be said in words.

// TargetName names what is probed in words: of a URL its scheme, host and path,
// of anything else its base name, as of a program's path. Userinfo, query and
// fragment of a URL never appear. It returns "" for "".
func TargetName(s string) string {
	scheme := schemePrefix().FindString(s)
	if scheme == "" {
		if s == "" {
			return ""
		}
		if strings.Contains(s, "//") { // a URL that lost its scheme, or has none that is one
			s = s[:strings.IndexAny(s+"?", "?#")]
			s = s[strings.LastIndexByte(s, '@')+1:]
		}
		return filepath.Base(s)
	}
	u, err := url.Parse(s)
	if err != nil {
		return scheme
	}
	return urlName(u)
}

// schemePrefix is how a URL with a scheme begins (RFC 3986 section 3.1).
var schemePrefix = compiled(`^[A-Za-z][A-Za-z0-9+.-]*://`)

// compiled compiles a pattern when it is needed: a command needs none.
func compiled(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

// pathParameter is a parameter of a path segment (RFC 3986 section 3.3), as in
// /cart;jsessionid=8F3A.
var pathParameter = compiled(`;[^/=]*=[^/]*`)

// pathUserinfo is the userinfo of a URL that is the path of another, as in
// /fetch/https://me:secret@host/.
var pathUserinfo = compiled(`//[^/@]*@`)

// urlName returns scheme, host and path of u.
func urlName(u *url.URL) string {
	path := pathParameter().ReplaceAllString(u.EscapedPath(), "")
	return u.Scheme + "://" + u.Host + pathUserinfo().ReplaceAllString(path, "//")
}

// ParseURL parses a URL that is to be requested. Its errors say nothing of the
// URL's content, which may be secret wherever it is malformed.
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

// anyURL finds URLs in text.
var anyURL = compiled(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>]+`)

// A redactor takes known secrets out of the text of errors that come from
// elsewhere.
type redactor struct{ secrets []string }

// minSecret is the length from which a value is looked for in text; shorter
// ones would hit ordinary words.
const minSecret = 4

func (r *redactor) add(values ...string) {
	for _, v := range values {
		if len(v) >= minSecret && !slices.Contains(r.secrets, v) {
			r.secrets = append(r.secrets, v)
		}
	}
}

// addURL adds what of u is never said.
func (r *redactor) addURL(u *url.URL) {
	if u.User != nil {
		password, _ := u.User.Password()
		r.add(u.User.Username(), password)
	}
	for _, values := range u.Query() {
		r.add(values...)
	}
	r.add(u.RawQuery, u.Fragment)
}

// clean returns text with every URL cut to its name and every known secret
// taken out.
func (r *redactor) clean(text string) string {
	text = anyURL().ReplaceAllStringFunc(text, TargetName)
	for _, secret := range r.secrets {
		text = strings.ReplaceAll(text, secret, "***")
	}
	return text
}
