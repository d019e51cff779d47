package request

import (
	"slices"
	"strings"
)

// nextLink returns the target of the first link to the next page in Link header fields
// (RFC 8288 section 3). A link with an anchor is about something else than the answer.
func nextLink(fields []string) (target string, found bool) {
	for _, field := range fields {
		for field != "" {
			var l webLink
			l, field = cutLink(field)
			if l.isNext() {
				return l.target, true
			}
		}
	}
	return "", false
}

// A webLink is a link of a Link header field. Of a parameter that is there more than once,
// the first counts.
type webLink struct {
	target           string
	rel              string
	hasRel, anchored bool
}

// isNext reports whether one of the link's relation types is "next".
func (l webLink) isNext() bool {
	return !l.anchored && slices.ContainsFunc(strings.Fields(l.rel), func(rel string) bool {
		return strings.EqualFold(rel, "next")
	})
}

// cutLink takes the first link off a field, and the comma behind it. What is no link is
// one without a relation.
func cutLink(field string) (l webLink, rest string) {
	field = strings.TrimLeft(field, " \t,")
	if !strings.HasPrefix(field, "<") {
		_, rest = cutValue(field, ",")
		return l, strings.TrimPrefix(rest, ",")
	}
	l.target, rest, _ = strings.Cut(field[1:], ">")
	for {
		// Whatever stands before the next parameter or link is no part of either.
		_, rest = cutValue(rest, ";,")
		if !strings.HasPrefix(rest, ";") {
			return l, strings.TrimPrefix(rest, ",")
		}
		var name, value string
		name, rest = cutValue(rest[1:], "=;,")
		if strings.HasPrefix(rest, "=") {
			value, rest = cutValue(rest[1:], ";,")
		}
		switch name = strings.ToLower(name); {
		case name == "rel" && !l.hasRel:
			l.rel, l.hasRel = value, true
		case name == "anchor":
			l.anchored = true
		}
	}
}

// cutValue takes text off s up to the first of some delimiters outside quotes. The value
// is without the quotes and the space around it.
func cutValue(s, delimiters string) (value, rest string) {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case !quoted && strings.IndexByte(delimiters, c) >= 0:
			return strings.TrimSpace(b.String()), s[i:]
		default:
			b.WriteByte(c)
		}
	}
	return strings.TrimSpace(b.String()), ""
}
