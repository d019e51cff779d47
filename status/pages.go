package status

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Members that tell of another page, and members around those, in letters and digits of lower case.
// Inside of any other object only those count that are made for nothing else.
const (
	nextNames = "next nextpage nextpageid nextoffset nextpagetoken nexttoken nextcursor nextlink odatanextlink nextpageuri nextpageurl " +
		"nextpagelink nexturl nexthref nextrecordsurl nextmarker hasmore hasnext hasnextpage istruncated lastevaluatedkey continue"
	nextAround = "links pages pagination paging pageinfo responsemetadata meta metadata resultinfo"
	nextInside = "hasmore hasnext hasnextpage istruncated nextpagetoken nexttoken nextcursor"
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

// Incomplete returns the path of the member by which a document says that not all of it could be
// had, as GraphQL does; "" if it has none.
func Incomplete(document []byte) (member string) { return filled(document, "", 0, "error errors") }

// filled returns the path of the first member of an object with one of the names that says
// something, also inside of objects that are so deep.
func filled(object json.RawMessage, path string, depth int, names string) (member string) {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return ""
	}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		name, at, value := flattened(key), path+"."+key, members[key]
		inside := nextInside
		if slices.Contains(strings.Fields(nextAround), name) {
			inside = names
		}
		if depth > 0 && value[0] == '{' {
			if member = filled(value, at, depth-1, inside); member != "" {
				return member
			}
		}
		switch {
		case slices.Contains(strings.Fields(names), name) && hasContent(string(value)),
			name == "islast" && string(value) == "false" && names == nextNames:
			return at
		}
	}
	return ""
}
