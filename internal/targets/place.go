package targets

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// A place is a part of a URL that text is put into.
type place uint8

const (
	inPath      place = iota
	inQuery           // or in the fragment
	inHost            // a part of the host's name, or of what precedes it
	inPort            // a part of the port
	inAuthority       // all of host and port
)

// placeOf says which part of a URL a byte of it is in.
func placeOf(u string, at int) place {
	start, end := pathOf(u)
	switch {
	case at >= end:
		return inQuery
	case at >= start:
		return inPath
	}
	scheme := strings.Index(u, "://") + len("://")
	before, after := u[scheme:at], u[at+1:start]
	switch {
	case before+after == "":
		return inAuthority
	case !strings.Contains(after, "@") && strings.Contains(before[strings.LastIndexAny(before, "@]")+1:], ":"):
		return inPort
	}
	return inHost
}

// pathOf returns where the path of a URL begins and ends.
func pathOf(u string) (start, end int) {
	end = strings.IndexAny(u+"?", "?#")
	scheme, rest, absolute := strings.Cut(u[:end], "://")
	if !absolute || strings.Contains(scheme, "/") {
		return 0, end
	}
	return end - len(rest) + strings.IndexByte(rest+"/", '/'), end
}

// escape escapes text for its place, or says why it cannot stand there.
func (p place) escape(text string) (escaped, problem string) {
	switch {
	case text == "":
		return "", "is empty"
	case p == inQuery:
		return url.QueryEscape(text), ""
	case p == inHost && strings.ContainsFunc(text, notInHost):
		return "", "is no part of a host name"
	case p == inPort && strings.ContainsFunc(text, notDigit):
		return "", "is no port"
	case p == inAuthority && !isAuthority(text):
		return "", "is no host, with or without a port"
	case p != inPath:
		return text, ""
	}
	return url.PathEscape(text), ""
}

func notInHost(r rune) bool {
	return r != '-' && r != '.' && r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && notDigit(r)
}

func notDigit(r rune) bool { return r < '0' || r > '9' }

// isAuthority reports whether text is a host, or a host and a port. An IPv6 address
// stands in brackets.
func isAuthority(text string) bool {
	host, port, hasPort := strings.Cut(text, ":")
	if address, rest, bracket := strings.Cut(strings.TrimPrefix(text, "["), "]"); text[0] == '[' && bracket {
		ip, err := netip.ParseAddr(address)
		if err != nil || !ip.Is6() || ip.Zone() != "" {
			return false
		}
		host, port, hasPort = "ip", strings.TrimPrefix(rest, ":"), rest != ""
		if hasPort && rest[0] != ':' {
			return false
		}
	}
	if _, err := strconv.ParseUint(port, 10, 16); hasPort && err != nil {
		return false
	}
	return host != "" && !strings.ContainsFunc(host, notInHost)
}

// dotSegments counts the segments of a URL's path that are removed when it is resolved,
// with the ones before them (RFC 3986 section 5.2.4).
func dotSegments(u string) int {
	start, end := pathOf(u)
	n := 0
	for segment := range strings.SplitSeq(u[start:end], "/") {
		if plain, err := url.PathUnescape(segment); err == nil && (plain == "." || plain == "..") {
			n++
		}
	}
	return n
}

// escapeUnsafe escapes what stands in no path (RFC 3986 section 3.3).
func escapeUnsafe(path string) string {
	var b strings.Builder
	for i := range len(path) {
		if c := path[i]; c >= 0x80 || strings.IndexByte(" \"<>\\^`{|}", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// splitsEscape reports whether text ends within a character that is escaped with "%".
func splitsEscape(text string) bool {
	i := strings.LastIndexByte(text, '%')
	return i >= 0 && i > len(text)-3
}
