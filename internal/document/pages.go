package document

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed pages.txt
var pagesText string

// pageNames returns the names of pages.txt by the head of their rows.
var pageNames = sync.OnceValue(func() map[string][]string {
	names := map[string][]string{}
	for line := range strings.Lines(pagesText) {
		if head, list, isRow := strings.Cut(line, ": "); isRow && head[0] != '#' {
			names[head] = append(names[head], strings.Fields(list)...)
		}
	}
	return names
})

// A Page is a document that may be one page of a list, with the header of its response.
type Page struct{ objects [][]member }

// ReadPage reads a page. The last one of several documents counts. The header may be nil.
func ReadPage(document []byte, header http.Header) (p Page) {
	if !json.Valid(document) {
		decoder := json.NewDecoder(bytes.NewReader(document))
		document = nil
		for doc := (json.RawMessage)(nil); decoder.Decode(&doc) == nil; {
			document = slices.Clone(doc)
		}
	}
	const deepest = 4 // such as .data.repository.jobs.pageInfo.hasNextPage
	p.add(member{raw: document, isNear: true}, membersOf(document), deepest)
	p.add(member{isNear: true}, fieldsOf(header), 1)
	return p
}

// fieldsOf returns header fields as members, in the order of their names, and the link to the next page as a member "next".
func fieldsOf(header http.Header) (fields []member) {
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			if name == "Content-Range" && !strings.HasPrefix(value, "bytes") {
				value = value[strings.LastIndex(value, "/")+1:]
			}
			if !json.Valid([]byte(value)) {
				value = strconv.Quote(value)
			}
			fields = append(fields, member{name: name, path: name, raw: json.RawMessage(value)})
		}
	}
	if next, found := NextLink(header["Link"]); found {
		fields = append(fields, member{name: "next", path: "Link", raw: json.RawMessage(strconv.Quote(next))})
	}
	return fields
}

// add adds an object, and the objects in the object down to a depth.
func (p *Page) add(object member, members []member, depth int) {
	for i := range members {
		m := &members[i]
		m.isNear, m.key = object.isNear, object.key+"."+flattened(strings.TrimPrefix(m.name, "X-"))
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

// isNamed reports whether rows of pages.txt have the name of a member.
func (m member) isNamed(heads ...string) bool {
	return slices.ContainsFunc(heads, func(head string) bool {
		return slices.ContainsFunc(pageNames()[head], func(name string) bool {
			anywhere := strings.Contains(name, ".")
			return (anywhere || m.isNear) && strings.HasSuffix(m.key, "."+strings.TrimPrefix(name, "."))
		})
	})
}

// number returns the value of a member that is a number, or a text of digits. It returns -1 for any other value.
func (m member) number() int {
	if m.raw[0] != '[' && m.raw[0] != '{' { // without a copy of a long list
		if n, err := strconv.Atoi(strings.Trim(string(m.raw), `"`)); err == nil {
			return n
		}
	}
	return -1
}

// Next returns the path of the member, or the name of the header field, that names a further page. It returns "" for the
// last page. read is the number of pages that were read, with this page: the numbers of the pages may start at 0.
func (p Page) Next(read int) (path string) {
	for _, members := range p.objects {
		if path = counted(members, read); path != "" {
			return path
		}
		for _, m := range members {
			isLink := m.raw[0] == '[' && m.isNear && linksName().MatchString(m.key) && nextRelation().Match(m.raw)
			if isLink || m.isNamed("next") && hasContent(string(m.raw)) || m.isNamed("last") && string(m.raw) == "false" {
				return m.path
			}
		}
	}
	return ""
}

// linksName and nextRelation match a list of links, and a link to the next page in the list: OpenStack, MongoDB Atlas, FHIR.
var (
	linksName    = pattern(`links?$`)
	nextRelation = pattern(`"rel(?:ation)?"\s*:\s*"next"`)
)

// counted returns the path of the member with the number of pages if another member reports a lower number of this page,
// and fewer pages were read. Otherwise it returns the path of a position that no other member contradicts, or "".
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
		case m.isNamed("cursor") && m.raw[0] != '{' && hasContent(string(m.raw)):
			position = m.path
		case m.isNamed("end") && string(m.raw) == "false":
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

// Total returns the largest number of elements in all that a page names, and the path of its member or its header field.
func (p Page) Total() (path string, total int) {
	for _, m := range slices.Concat(p.objects...) {
		if n := m.number(); n > total && m.isNamed("total") {
			path, total = m.path, n
		}
	}
	return path, total
}

// Partial returns the path of a member that reports missing elements, such as .errors. It returns "" without such a member.
func (p Page) Partial() string {
	for _, m := range slices.Concat(p.objects...) {
		if m.isNamed("partial") && hasContent(string(m.raw)) {
			return m.path
		}
	}
	return ""
}

// Maybe returns a sign that a list with a number of elements may have a further page: a member or a header field whose name
// pages.txt does not have, such as ".count is 500" or ".next_set has a value". It returns "" without such a sign.
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
		if has("maybe-next") && hasContent(string(m.raw)) && !date().Match(m.raw) {
			return m.path + " has a value"
		}
	}
	return ""
}

// nameWords matches the words of a name, and date a text with a date.
var (
	nameWords = pattern(`[A-Z]*[a-z]+|[A-Z]+`)
	date      = pattern(`^"\d{4}-\d\d-\d\d|^"\w{3}, \d\d `)
)

// Failure returns the path of the member that makes a document a report of a failure. It returns "" without such a member.
func Failure(document []byte) (member string) {
	r := reading{}
	if r.value(document, "", 0, top); r.said[top][state].Stage == Failed {
		return r.said[top][state].Path
	}
	return r.said[top][wrong].Path
}
