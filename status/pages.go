package status

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pollcli/poll/status/expr"
)

// Members that tell of another page, and members around those, in letters and digits of lower case.
// Inside of any other object only those count that are made for nothing else.
const (
	nextNames = "next nextpage nextpageid nextoffset nextpagetoken nexttoken nextcursor nextlink odatanextlink nextpageuri nextpageurl " +
		"nextpagelink nexturl nexthref nextrecordsurl nextmarker hasmore hasnext hasnextpage istruncated nextcontinuationtoken lastevaluatedkey continue " +
		"more moreresults truncated incompleteresults"
	nextAround = "links pages pagination paging pageinfo responsemetadata meta metadata resultinfo"
	nextInside = "hasmore hasnext hasnextpage istruncated nextpagetoken nexttoken nextcursor nextcontinuationtoken nextpageurl nextpagelink"
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

// Incomplete returns the path of the member by which a document says that it is that of a failure;
// "" if it has none.
func Incomplete(document []byte) (member string) {
	for _, s := range known().statements(statement{raw: string(document), known: true}, 0) {
		if s.stage == stageFailed && s.depth == 0 {
			return s.path
		}
	}
	return ""
}

// total is how many elements there are in all, as lists say it.
var total = sync.OnceValue(func() *expr.Expr {
	x, _ := expr.CompileValue("$header.X-Total-Count // .total // .total_count // .totalCount // .totalResults // .totalItems // .totalElements // .totalSize // " +
		".meta.total // .meta.total_count // .pagination.total // .paging.total // .page.totalElements")
	return x
})

// Partial says in words why an answer whose last page is given, and which holds so many elements,
// may not hold all; "" if nothing says so.
func (o *Observation) Partial(page *expr.Doc, held int) string {
	env := &expr.Env{Doc: expr.Unreadable("it names no total"), Header: o.Header}
	if bytes.Contains(page.Bytes(), []byte("otal")) { // or a long list would be read for nothing
		env.Doc = page
	}
	n, err := strconv.Atoi(total().Eval(env).Value().Text())
	switch {
	case o.Moved && !o.Following.Start: // what a start answers is about what it has started
		return "it is that of " + o.Redirect
	case err == nil && n > held:
		return fmt.Sprintf("it tells of %d", n)
	case bytes.Contains(page.Bytes(), []byte(`rrors"`)): // as a name, perhaps
		if member := filled(page.Bytes(), "", 0, "errors"); member != "" {
			return "there is " + member
		}
	}
	return ""
}

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
			(name == "islast" || name == "islastpage") && string(value) == "false" && names == nextNames:
			return at
		}
	}
	return ""
}
