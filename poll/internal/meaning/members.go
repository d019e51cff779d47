package meaning

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/pollcli/poll/internal/words"
)

// A member is a name of a JSON object with its value, or a header field.
type member struct {
	name, path string
	raw        json.RawMessage
	key        string // the path of names as flattened returns them, without X-: ".meta.nextpage"
	isNear     bool   // at the top level of a page, in its header, or in an object such as .meta
}

// membersOf returns the members of the JSON object, ordered by name. It keeps members with equal names, in the
// order of the object. It returns nil for any other value.
func membersOf(object []byte) (all []member) {
	d := json.NewDecoder(bytes.NewReader(object))
	if begin, _ := d.Token(); begin != json.Delim('{') {
		return nil
	}
	for d.More() {
		name, _ := d.Token()
		m := member{}
		if m.name, _ = name.(string); d.Decode(&m.raw) != nil {
			return nil
		}
		all = append(all, m)
	}
	slices.SortStableFunc(all, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return all
}

// urlMember matches the name of a member, a space and its raw value, if the name means a URL and the value is a
// URL or an absolute path.
var urlMember = words.Pattern(`^(?:[A-Za-z_]\w*)?(?i:url|uri|href|link|location|self|monitor|status) "(?:https?://|/)`)

// otherURL matches the path of a member whose URL leads to a page for people, an input or a notification.
var otherURL = words.Pattern(`(?i)(?:audio|avatar|callback|console|dashboard|docs?|html|image|media|video|web(?:hook)?)[._]?(?:url|uri|href|link)$`)

// urlsIn returns the paths of the members of text that hold a URL, each in single quotes and starting with path.
// It reads the document and three levels of objects below. URLs that otherURL matches are left out.
func urlsIn(text []byte, path string) (paths []string) {
	for _, m := range membersOf(text) {
		at := path + "." + m.name
		if isURL := urlMember().MatchString(m.name + " " + string(m.raw)); isURL && !otherURL().MatchString(at) {
			paths = append(paths, "'"+at+"'")
		} else if !isURL && strings.Count(path, ".") < 3 {
			paths = append(paths, urlsIn(m.raw, at)...)
		}
	}
	return paths
}

// idMember matches the name of a member, a space and its raw value, if the member holds the identifier of an
// operation.
var idMember = words.Pattern(`^(?i:(?:(?:build|job|operation|request|run|task)_?)?(?:id|uuid)) ["\d]`)

// idIn returns the path of the member of object that holds the identifier of an operation. It prefers ".id" and
// otherwise takes the last name in alphabetical order, such as ".job_id". It returns "" without such a member.
func idIn(object []byte) (path string) {
	for _, m := range membersOf(object) {
		if idMember().MatchString(m.name+" "+string(m.raw)) && !strings.EqualFold(path, ".id") {
			path = "." + m.name
		}
	}
	return path
}

// hasContent reports whether the JSON value raw holds anything. These values do not: null, false, "", [], zero
// (also as a string), and an object whose members hold nothing.
func hasContent(raw string) bool {
	if raw[0] == '{' {
		return slices.ContainsFunc(membersOf([]byte(raw)), func(m member) bool { return hasContent(string(m.raw)) })
	}
	n, err := strconv.ParseFloat(strings.Trim(raw, `"`), 64)
	return !slices.Contains([]string{"null", "false", `""`, "[]"}, strings.Join(strings.Fields(raw), "")) && (err != nil || n != 0)
}

// flattened returns the letters and digits of s in lower case.
func flattened(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}
