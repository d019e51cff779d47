package request

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
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
