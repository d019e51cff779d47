package document

import (
	"cmp"
	"slices"
	"strings"
)

// NextLink returns the target of the first link to the next page in Link header fields.
func NextLink(fields []string) (target string, found bool) {
	for _, link := range webLinks().FindAllStringSubmatch(strings.Join(fields, ", "), -1) {
		if isNext(link[2]) {
			return link[1], true
		}
	}
	return "", false
}

// isNext reports whether one of the relation types in the parameters of a link is "next". Of
// a parameter that is there more than once, the first counts. A link with an anchor is about
// something else than the answer.
func isNext(params string) bool {
	rel := ""
	for _, p := range webParams().FindAllStringSubmatch(params, -1) {
		switch strings.ToLower(p[1]) {
		case "rel":
			rel = cmp.Or(rel, p[2]+p[3])
		case "anchor":
			return false
		}
	}
	return slices.Contains(strings.Fields(strings.ToLower(rel)), "next")
}

var (
	// webLinks finds the links of a Link header field, each with its parameters (RFC 8288
	// section 3), webParams these.
	webLinks  = pattern(`<([^>]*)>([^,"]*(?:"(?:[^"\\]|\\.)*"[^,"]*)*)`)
	webParams = pattern(`;\s*([^\s;,="]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*))`)
)
