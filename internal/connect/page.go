package connect

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"strings"
	"unicode/utf8"
)

// Page returns the identity of the page at a URL: equal texts for URLs with the same origin, path and
// query, which make the same request. The identity contains neither the user nor the fragment.
func Page(u *url.URL) string {
	return Origin(u) + cmp.Or(u.EscapedPath(), "/") + "?" + u.RawQuery
}

// PageOf returns the page at a URL, and the user in the URL. A text that is not a URL is its own page.
func PageOf(text string) (page, user string) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return text, ""
	}
	return Page(u), fmt.Sprint(u.User)
}

// Origin returns the scheme, host and port of a URL (RFC 6454 section 5). The two spellings
// of an internationalized name count as two hosts, which is on the safe side.
func Origin(u *url.URL) string {
	return u.Scheme + "://" + net.JoinHostPort(lower(u.Hostname()), port(u))
}

// lower lowers a host name of ASCII letters. Unicode folds letters that are different in one
// (ß and ẞ, s and ſ).
func lower(host string) string {
	if IsASCII(host) {
		return strings.ToLower(host)
	}
	return host
}

// IsASCII reports whether a text has only ASCII characters. A resolver finds no other name.
func IsASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
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
