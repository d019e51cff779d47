package expr

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// NextPage returns the path of the member by which a document says, as many APIs do, that
// there is another page of it; "" if it has none. The document need not be valid.
func (d *Doc) NextPage() (path string) {
	names := []string{"next", "nextpagetoken", "nexttoken", "nextcursor", "nextlink", "@odata.nextlink", "hasmore"}
	inner := map[string]string{"links": "next", "metadata": "continue"}
	plain := strings.NewReplacer("_", "", "-", "")
	gjson.Parse(d.text).ForEach(func(key, member gjson.Result) bool {
		name, at := plain.Replace(strings.ToLower(key.Str)), key.Str
		switch in := inner[name]; {
		case in != "" && member.IsObject():
			at, member = at+"."+in, member.Get(in)
		case !slices.Contains(names, name):
			return true
		}
		if strings.ContainsAny(at, "@-") {
			at = `["` + at + `"]`
		}
		if !slices.Contains([]string{"", "null", "false", `""`, "0", "[]", "{}"}, member.Raw) {
			path = "." + at
		}
		return path == ""
	})
	return path
}
