package poll

import (
	"net/url"
	"slices"
	"strings"
)

// A urlPart is where in a URL a value is put.
type urlPart uint8

const (
	inHost urlPart = iota
	inPath
	inQuery
)

// partOf says where in a URL the text after prefix is.
func partOf(prefix string) urlPart {
	if strings.ContainsAny(prefix, "?#") {
		return inQuery
	}
	if _, afterScheme, ok := strings.Cut(prefix, "://"); ok && !strings.Contains(afterScheme, "/") {
		return inHost
	}
	return inPath
}

// escape makes text fit into a part of a URL, so that it cannot begin another.
// In a path its slashes stay, as names such as operations/7 have them, but not
// those at its front: after a slash they would begin another host.
func escape(text string, part urlPart) string {
	switch part {
	case inQuery:
		return url.QueryEscape(text)
	case inPath:
		segments := strings.Split(strings.TrimLeft(text, "/"), "/")
		for i, s := range segments {
			segments[i] = url.PathEscape(s)
		}
		return strings.Join(segments, "/")
	}
	return text
}

// climbs reports whether text put into a path would remove what stands before it
// (RFC 3986 section 5.2.4).
func climbs(text string) bool {
	return slices.Contains(strings.Split(text, "/"), "..")
}

// isHost reports whether text can be a part of a host name.
func isHost(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return r != '-' && r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}
