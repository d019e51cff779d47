package connect

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"strings"
	"unicode/utf8"
)

// Page returns a string that identifies the page at u: it is equal for URLs with the same origin, path and query,
// which lead to the same request. The string contains neither the userinfo nor the fragment of u.
func Page(u *url.URL) string {
	return Origin(u) + cmp.Or(u.EscapedPath(), "/") + "?" + u.RawQuery
}

// PageOf parses text as a URL, and returns its [Page]. URLs with equal userinfo have equal results user. If text is
// not a URL with a host, page is text itself and user is "".
func PageOf(text string) (page, user string) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return text, ""
	}
	return Page(u), fmt.Sprint(u.User)
}

// Origin returns the scheme, host and port of u (RFC 6454 section 5). The Unicode and the ASCII form of an
// internationalized host name count as different hosts, which is the safe choice: credentials are then not shared
// between them.
func Origin(u *url.URL) string {
	return u.Scheme + "://" + net.JoinHostPort(lower(u.Hostname()), port(u))
}

// lower returns host in lower case if it is ASCII. It returns any other host unchanged, because [strings.ToLower]
// would equate different hosts: it maps both ß and ẞ to ß.
func lower(host string) string {
	if IsASCII(host) {
		return strings.ToLower(host)
	}
	return host
}

// IsASCII reports whether text consists of ASCII characters only. Resolvers cannot find a host with any other name.
func IsASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
}

// port returns the port of u, or the default port of its scheme: 443 for https, and 80 for any other scheme.
func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}
