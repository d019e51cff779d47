package meaning

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

//go:embed pages.txt
var pagesText string

// pageNames returns the names in pages.txt. A key of the map is the head of a row in that file, such as "next".
// The file is parsed on the first call.
var pageNames = sync.OnceValue(func() map[string][]string {
	names := map[string][]string{}
	for line := range strings.Lines(pagesText) {
		if head, list, isRow := strings.Cut(line, ": "); isRow && head[0] != '#' {
			names[head] = append(names[head], strings.Fields(list)...)
		}
	}
	return names
})

// A Page is a document that may be one page of a list, together with the header of the response.
type Page struct{ objects [][]member }

// ReadPage reads a page from a document and the header of its response. If document consists of several JSON
// documents, the last of them is the page. header may be nil.
func ReadPage(document *expr.Doc, header http.Header) (p Page) {
	const deepest = 4 // deep enough for .data.repository.jobs.pageInfo.hasNextPage
	p.add(member{isNear: true}, membersOf(document.Last()), deepest)
	p.add(member{isNear: true}, fieldsOf(header), 1)
	return p
}

// fieldsOf returns the fields of header as members, ordered by name. A value that is not JSON becomes a JSON string.
// The value of Content-Range becomes the total number of elements, unless its unit is bytes. If a Link field refers
// to the next page, fieldsOf adds a member called "next", with the path "Link".
func fieldsOf(header http.Header) (fields []member) {
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			if name == "Content-Range" && !strings.HasPrefix(value, "bytes") {
				value = value[strings.LastIndex(value, "/")+1:]
			}
			if !json.Valid([]byte(value)) {
				value = strconv.Quote(value)
			}
			fields = append(fields, member{name: name, path: name, raw: value})
		}
	}
	if next, found := NextLink(header["Link"]); found {
		fields = append(fields, member{name: "next", path: "Link", raw: strconv.Quote(next)})
	}
	return fields
}

// add adds to p the given members, which belong to object, and the members of nested objects, at most depth
// levels deeper. It sets the path, key and isNear of each member.
func (p *Page) add(object member, members []member, depth int) {
	for i := range members {
		m := &members[i]
		m.isNear, m.key = object.isNear, object.key+"."+normalized(strings.TrimPrefix(m.name, "X-"))
		if m.path == "" {
			m.path = object.path + "." + m.name
		}
	}
	p.objects = append(p.objects, members)
	for _, m := range members {
		if depth > 0 && m.raw[0] == '{' {
			m.isNear = m.isNear && m.isNamed("around")
			p.add(m, membersOf(m.raw), depth-1)
		}
	}
}

// isNamed reports whether pages.txt lists the name of m, in a row with one of the given heads. A listed name with a
// dot matches anywhere in the document. Any other name matches only if m.isNear is true.
func (m member) isNamed(heads ...string) bool {
	return slices.ContainsFunc(heads, func(head string) bool {
		return slices.ContainsFunc(pageNames()[head], func(name string) bool {
			anywhere := strings.Contains(name, ".")
			return (anywhere || m.isNear) && strings.HasSuffix(m.key, "."+strings.TrimPrefix(name, "."))
		})
	})
}

// number returns the value of m if it is an integer, or a string that holds an integer. Otherwise it returns -1.
func (m member) number() int {
	if m.raw[0] != '[' && m.raw[0] != '{' { // avoid copying a long list
		if n, err := strconv.Atoi(strings.Trim(m.raw, `"`)); err == nil {
			return n
		}
	}
	return -1
}

// Next returns the path of the member, or the name of the header field, that announces a further page. It
// returns "" if p is the last page. read is the number of pages that have been read, including p. The page
// number in p does not suffice, because the first page may have the number 0 or 1.
func (p Page) Next(read int) (path string) {
	for _, members := range p.objects {
		if path = counted(members, read); path != "" {
			return path
		}
		for _, m := range members {
			isLink := m.raw[0] == '[' && m.isNear && linksName().MatchString(m.key) && nextRelation().MatchString(m.raw)
			if isLink || m.isNamed("next") && hasContent(m.raw) || m.isNamed("last") && m.raw == "false" {
				return m.path
			}
		}
	}
	return ""
}

var (
	// linksName matches the key of a list of links. nextRelation matches a link to the next page in such a list, in
	// the formats of OpenStack, MongoDB Atlas and FHIR.
	linksName    = words.Pattern(`links?$`)
	nextRelation = words.Pattern(`"rel(?:ation)?"\s*:\s*"next"`)
)

// counted searches the members of one object for counters. If there is a further page according to the number of
// pages, it returns the path of that number. The page's own number and read must both be less than the number of
// pages. Otherwise counted returns the path of a position such as .cursor, unless another member reports the end of
// the list. It returns "" if there is no further page.
func counted(members []member, read int) (path string) {
	page, pages, position, more := -1, 0, "", true
	for _, m := range members {
		n := m.number()
		switch {
		case n >= 0 && m.isNamed("page"):
			page = n
			if n == 0 || m.isNamed("zero") {
				page++
			}
		case n >= 0 && m.isNamed("pages"):
			pages, path = n, m.path
		case m.isNamed("cursor") && m.raw[0] != '{' && hasContent(m.raw):
			position = m.path
		case m.isNamed("end") && m.raw == "false":
			more = false
		}
	}
	if page >= 0 && max(page, read) < pages {
		return path
	}
	if more {
		return position
	}
	return ""
}

// Total returns the largest number in p that counts the elements of the whole list. path is the path of the
// member, or the name of the header field, that holds the number. Total returns "", 0 if there is no such
// number.
func (p Page) Total() (path string, total int) {
	for _, m := range slices.Concat(p.objects...) {
		if n := m.number(); n > total && m.isNamed("total") {
			path, total = m.path, n
		}
	}
	return path, total
}

// Partial returns the path of a member that reports missing elements, such as .errors. It returns "" if there
// is no such member.
func (p Page) Partial() string {
	for _, m := range slices.Concat(p.objects...) {
		if m.isNamed("partial") && hasContent(m.raw) {
			return m.path
		}
	}
	return ""
}

// Maybe returns a hint that the list may have a further page, such as ".count is 500" or ".next_set has a value". It
// only considers members and header fields whose names are not listed in pages.txt, but contain listed words.
// elements is the number of elements that have been read. Maybe returns "" if it finds no hint.
func (p Page) Maybe(elements int) string {
	for _, m := range slices.Concat(p.objects...) {
		has := func(head string) bool {
			return slices.ContainsFunc(nameWords().FindAllString(m.name, -1), func(word string) bool {
				return slices.Contains(pageNames()[head], strings.ToLower(word))
			})
		}
		isKnown := m.isNamed("next", "last", "cursor", "end", "page", "pages", "total", "partial")
		if !m.isNear || isKnown || m.raw[0] == '[' || has("never") {
			continue
		}
		if n := m.number(); n > elements && has("maybe-count") {
			return m.path + " is " + strconv.Itoa(n)
		}
		if has("maybe-next") && hasContent(m.raw) && !date().MatchString(m.raw) {
			return m.path + " has a value"
		}
	}
	return ""
}

var (
	// nameWords matches each word in a name such as nextPage. date matches a JSON string that starts with a date.
	nameWords = words.Pattern(`[A-Z]*[a-z]+|[A-Z]+`)
	date      = words.Pattern(`^"\d{4}-\d\d-\d\d|^"\w{3}, \d\d `)
)

// nextPage returns a function for the field NextPage of a [status.Meaning]. The function's argument isWhole is
// true if the whole response is a single object. Such a response counts as a page only if it has a Link to
// another page.
func nextPage(o *status.Observation) func(isWhole bool) string {
	return func(isWhole bool) string {
		if _, found := NextLink(o.Header["Link"]); found {
			return "its Link"
		} else if isWhole {
			return ""
		}
		return ReadPage(expr.NewDoc(o.Body), o.Header).Next(1)
	}
}

// FailedMember returns the path of the member in document that reports a failure. It does not search envelopes. It
// returns "" if there is no such member.
func FailedMember(document *expr.Doc) (member string) {
	r := reading{}
	if r.readValue(document.Last(), "", 0, top); r.statements[top][state].Stage == Failed {
		return r.statements[top][state].Path
	}
	return r.statements[top][wrong].Path
}

// NextLink returns the target of the first link to the next page. fields are the values of the Link header. The
// target may be a relative URL. found is false if there is no such link.
func NextLink(fields []string) (target string, found bool) {
	for _, link := range webLinks().FindAllStringSubmatch(strings.Join(fields, ", "), -1) {
		if isNext(link[2]) {
			return link[1], true
		}
	}
	return "", false
}

// isNext reports whether a link with the parameters params refers to the next page: its relation type is "next". If
// there are several rel parameters, the first counts (RFC 8288 section 3.3). A link with an anchor parameter is not
// about this response, so isNext returns false.
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
	// webLinks matches each link in the values of a Link header, with its target and its parameters (RFC 8288 section
	// 3). webParams matches each parameter of a link.
	webLinks  = words.Pattern(`<([^>]*)>([^,"]*(?:"(?:[^"\\]|\\.)*"[^,"]*)*)`)
	webParams = words.Pattern(`;\s*([^\s;,="]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*))`)
)
