package expr

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// NextPage returns the name of the member by which a document says, as many APIs do, that
// there is another page of it; "" if it has none. The document need not be valid.
func (d *Doc) NextPage() (member string) {
	names := []string{"next", "nextpagetoken", "nexttoken", "nextcursor", "nextlink", "@odata.nextlink", "hasmore"}
	inner := map[string]string{"links": "next", "metadata": "continue"}
	plain := strings.NewReplacer("_", "", "-", "")
	gjson.Parse(d.text).ForEach(func(key, v gjson.Result) bool {
		name, path := plain.Replace(strings.ToLower(key.Str)), key.Str
		if in := inner[name]; in != "" && v.IsObject() {
			name, path, v = "next", path+"."+in, v.Get(in)
		}
		if slices.Contains(names, name) && !slices.Contains([]string{"", "null", "false", `""`, "0", "[]", "{}"}, v.Raw) {
			member = "." + path
		}
		return member == ""
	})
	return member
}
