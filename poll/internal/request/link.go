package request

import (
	"slices"
	"strings"
)

var (
	// webLinks finds the links of a Link header field, each with its parameters (RFC 8288
	// section 3), webParams these.
	webLinks  = lazily(`<([^>]*)>([^,"]*(?:"(?:[^"\\]|\\.)*"[^,"]*)*)`)
	webParams = lazily(`;\s*([^\s;,="]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*))`)
)

// nextLink returns the target of the first link to the next page in Link header fields. A
// link with an anchor is about something else than the answer.
func nextLink(fields []string) (target string, found bool) {
	for _, field := range fields {
		for _, link := range webLinks().FindAllStringSubmatch(field, -1) {
			if isNext(link[2]) {
				return link[1], true
			}
		}
	}
	return "", false
}

// isNext reports whether one of the relation types in the parameters of a link is "next". Of
// a parameter that is there more than once, the first counts.
func isNext(params string) bool {
	rel := ""
	for _, p := range slices.Backward(webParams().FindAllStringSubmatch(params, -1)) {
		switch strings.ToLower(p[1]) {
		case "rel":
			rel = p[2] + p[3]
		case "anchor":
			return false
		}
	}
	return slices.ContainsFunc(strings.Fields(rel), func(r string) bool { return strings.EqualFold(r, "next") })
}
