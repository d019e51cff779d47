// Package document reads what JSON documents say about themselves, as many APIs do: how far the
// operation is that they are about, whether it failed, and whether there is another page.
package document

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// A member is a member of a JSON object.
type member struct {
	name, path string
	raw        json.RawMessage
	key        string // the path in letters and digits of lower case: ".meta.nextpage"
	isNear     bool   // in the page or its header, or in an object that describes the page
}

// membersOf returns the members of a JSON object in the order of their names, those of equal names
// all; none of another value.
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

// pattern returns a function that compiles a regular expression at its first call.
func pattern(source string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(source) })
}

// urlMember matches a member that holds a URL, as its name says too.
var urlMember = pattern(`^(?:[A-Za-z_]\w*)?(?i:url|uri|href|link|location|self|monitor|status) "(?:https?://|/)`)

// otherURL matches the path of a member that holds the URL of a page, an input or a notification.
var otherURL = pattern(`(?i)(?:audio|avatar|callback|console|dashboard|docs?|html|image|media|video|web(?:hook)?)[._]?(?:url|uri|href|link)$`)

// URLs returns the paths of members of a document that hold a URL, down to three objects in it, without
// the URLs of pages, inputs and notifications.
func URLs(text []byte, path string) (paths []string) {
	for _, m := range membersOf(text) {
		at := path + "." + m.name
		if isURL := urlMember().MatchString(m.name + " " + string(m.raw)); isURL && !otherURL().MatchString(at) {
			paths = append(paths, "'"+at+"'")
		} else if !isURL && strings.Count(path, ".") < 3 {
			paths = append(paths, URLs(m.raw, at)...)
		}
	}
	return paths
}

// idMember matches a member that holds the identifier of an operation.
var idMember = pattern(`^(?i:(?:(?:build|job|operation|request|run|task)_?)?(?:id|uuid)) ["\d]`)

// ID returns the path of a member of an object that holds the identifier of an operation, such as
// ".job_id", and prefers ".id". It returns "" without such a member.
func ID(object []byte) (path string) {
	for _, m := range membersOf(object) {
		if idMember().MatchString(m.name+" "+string(m.raw)) && !strings.EqualFold(path, ".id") {
			path = "." + m.name
		}
	}
	return path
}

// hasContent reports whether a JSON value is more than an empty one, a zero, or an object of those.
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
