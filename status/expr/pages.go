package expr

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// nextNames are the members that tell of another page, without marks and in lower case.
const nextNames = "next nextpage nextpagetoken nexttoken nextcursor nextlink @odata.nextlink odata.nextlink nextpageuri nextpageurl " +
	"nextpagelink nexturl nexthref nextrecordsurl nextmarker hasmore hasnext hasnextpage istruncated lastevaluatedkey continue"

// NextPage returns the name of the member by which a document says, as many APIs do, that
// there is another page of it; "" if it has none. The document need not be valid. Of several
// documents the last one counts.
func (d *Doc) NextPage() (member string) {
	var last gjson.Result
	gjson.ForEachLine(d.text, func(v gjson.Result) bool { last = v; return true })
	return filled(last, "", 3, nextNames)
}

// Failure returns the name of the member by which a document says that not all of it could be
// had, as GraphQL does; "" if it has none.
func (d *Doc) Failure() (member string) { return filled(gjson.Parse(d.text), "", 0, "error errors") }

// filled returns the path of the first member of an object with one of the names that says
// something, also inside of objects around pages.
func filled(v gjson.Result, path string, depth int, names string) (member string) {
	plain, wanted := strings.NewReplacer("_", "", "-", ""), strings.Fields(names)
	around := strings.Fields("links pages pagination paging pageinfo responsemetadata meta metadata resultinfo")
	v.ForEach(func(key, v gjson.Result) bool {
		name, at := plain.Replace(strings.ToLower(key.Str)), path+"."+key.Str
		switch {
		case depth > 0 && v.IsObject() && slices.Contains(around, name):
			member = filled(v, at, depth-1, names)
		case name == "islast" && v.Raw == "false" && depth > 0,
			slices.Contains(wanted, name) && !slices.Contains([]string{"", "null", "false", `""`, "0", "[]", "{}"}, v.Raw):
			member = at
		}
		return member == ""
	})
	return member
}
