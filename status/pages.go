package status

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Members that tell of another page, and members around those, in letters and digits of lower case.
const (
	nextNames = "next nextpage nextpagetoken nexttoken nextcursor nextlink odatanextlink nextpageuri nextpageurl " +
		"nextpagelink nexturl nexthref nextrecordsurl nextmarker hasmore hasnext hasnextpage istruncated lastevaluatedkey continue"
	nextAround = "links pages pagination paging pageinfo responsemetadata meta metadata resultinfo"
)

// NextPage returns the path of the member by which a document says, as many APIs do, that
// there is another page of it; "" if it has none. Of several documents the last one counts.
func NextPage(document []byte) (member string) {
	const deepest = 3 // such as .meta.pagination.links.next
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
// something, also inside of objects around pages.
func filled(object json.RawMessage, path string, depth int, names string) (member string) {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return ""
	}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		name, at, value := flattened(key), path+"."+key, members[key]
		isAround := depth > 0 && slices.Contains(strings.Fields(nextAround), name) && value[0] == '{'
		switch {
		case isAround:
			if member = filled(value, at, depth-1, names); member != "" {
				return member
			}
		case slices.Contains(strings.Fields(names), name) && hasContent(string(value)),
			name == "islast" && string(value) == "false" && depth > 0:
			return at
		}
	}
	return ""
}
