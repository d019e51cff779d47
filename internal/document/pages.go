package document

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Members that tell of another page, and members around those, in letters and digits of lower case.
// Inside of any other object only those count that are made for nothing else.
const (
	nextNames = "next nextpage nextpageid nextoffset nextpagetoken nexttoken nextcursor nextlink odatanextlink nextpageuri nextpageurl " +
		"nextpagelink nexturl nexthref nextrecordsurl nextmarker hasmore hasnext hasnextpage istruncated nextcontinuationtoken lastevaluatedkey continue " +
		"more moreresults truncated incompleteresults"
	nextAround  = "page links pages pagination paging pageinfo responsemetadata meta metadata resultinfo"
	pageNumbers = "page currentpage pagenumber number" // of which the first page is 1, or 0
	pageTotals  = "pages totalpages pagecount pagetotal lastpage"
	nextInside  = "hasmore hasnext hasnextpage istruncated nextpagetoken nexttoken nextcursor nextcontinuationtoken nextpageurl nextpagelink"
)

// NextPage returns the path of the member by which a document says, as many APIs do, that
// there is another page of it; "" if it has none. Of several documents the last one counts.
func NextPage(document []byte) (member string) {
	const deepest = 4 // such as .data.repository.jobs.pageInfo.hasNextPage
	if json.Valid(document) {
		return filled(document, "", deepest, nextNames)
	}
	decoder := json.NewDecoder(bytes.NewReader(document))
	var last json.RawMessage
	for doc := (json.RawMessage)(nil); decoder.Decode(&doc) == nil; {
		last = slices.Clone(doc)
	}
	return filled(last, "", deepest, nextNames)
}

// Failure returns the path of the member by which a document says that it is that of a failure;
// "" if it has none.
func Failure(document []byte) (member string) {
	r := reading{}
	if r.value(document, "", 0, top); r.said[top][state].Stage == Failed {
		return r.said[top][state].Path
	}
	return r.said[top][wrong].Path
}

// Errors returns the path of the member "errors" of a document if it says something, else "".
func Errors(document []byte) (member string) { return filled(document, "", 0, "errors") }

// filled returns the path of the first member of an object with one of the names that says
// something, also inside of objects that are so deep.
func filled(object json.RawMessage, path string, depth int, names string) (member string) {
	members := membersOf(object)
	if names == nextNames {
		if member = counted(members); member != "" {
			return path + "." + member
		}
	}
	for _, m := range members {
		name, at := flattened(m.name), path+"."+m.name
		inside := nextInside
		if slices.Contains(strings.Fields(nextAround), name) {
			inside = names
		}
		if depth > 0 && m.raw[0] == '{' {
			if member = filled(m.raw, at, depth-1, inside); member != "" {
				return member
			}
		}
		switch {
		case slices.Contains(strings.Fields(names), name) && hasContent(string(m.raw)),
			(name == "islast" || name == "islastpage") && string(m.raw) == "false" && names == nextNames:
			return at
		}
	}
	return ""
}

// counted returns the name of the member by which an object says how many pages there are, if
// another member says that this page is not the last one, or of a cursor that nothing contradicts.
func counted(members []member) (name string) {
	page, pages, cursor, more := -1, 0, "", true
	for _, m := range members {
		n, err := strconv.Atoi(strings.Trim(string(m.raw), `"`))
		switch flat := flattened(m.name); {
		case err == nil && slices.Contains(strings.Fields(pageNumbers), flat):
			page = n
			if flat == "number" || n == 0 { // of Spring, whose first page is 0
				page++
			}
		case err == nil && slices.Contains(strings.Fields(pageTotals), flat):
			pages, name = n, m.name
		case flat == "cursor" && m.raw[0] != '{' && hasContent(string(m.raw)):
			cursor = m.name
		case strings.HasPrefix(flat, "has") && string(m.raw) == "false":
			more = false
		}
	}
	if page < 0 || page >= pages {
		name = ""
	}
	if more {
		return cmp.Or(name, cursor)
	}
	return name
}
