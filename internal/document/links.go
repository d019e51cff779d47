package document

import (
	"cmp"
	"slices"
	"strings"
)

// NextLink returns the target of the first link to the next page. fields are the values of the Link header. The
// target may be relative.
func NextLink(fields []string) (target string, found bool) {
	for _, link := range webLinks().FindAllStringSubmatch(strings.Join(fields, ", "), -1) {
		if isNext(link[2]) {
			return link[1], true
		}
	}
	return "", false
}

// isNext reports whether params, the parameters of a link, contain the relation type "next". The first rel
// parameter counts (RFC 8288 section 3.3). A link with an anchor parameter describes another resource than the
// response, so isNext returns false.
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
	// webLinks matches each link in Link header values, with its target and its parameters (RFC 8288 section 3).
	// webParams matches each parameter of a link.
	webLinks  = pattern(`<([^>]*)>([^,"]*(?:"(?:[^"\\]|\\.)*"[^,"]*)*)`)
	webParams = pattern(`;\s*([^\s;,="]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*))`)
)
