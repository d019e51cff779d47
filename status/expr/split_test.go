package expr

import (
	"slices"
	"strings"
	"testing"
)

// FuzzSplit checks that a list is split in one pass as it is in several, if it is split at all.
func FuzzSplit(f *testing.F) {
	for _, doc := range []string{
		`{"a":{"b":[1, {"b":[2]} ,"x"]},"b":[]}`, `{"a":1,"a":{"b":[1]}}`, `{"a":{"b":[1]},"a":[2]}`, `{"\u0061":{"b":[1]},"a":{"b":[2]}}`,
		`{"a":{"b":null}}`, `{"a":{"c":{"b":[1]}}}`, ` [1 , [2,3] ] `, `[1,]`, `[1 2]`, `{"a":{"b":[1]}`, `{"a":{"b":[1]}}x`, `{"a":{"b":[]},}`,
		"{}\n{}", ``, `[`, `{"a"`, `{"a":{"b":[` + strings.Repeat("[", 998) + strings.Repeat("]", 998) + `]}}`, "\ufeff[1]", `{"a":{"b":[1]},"c":tru}`,
		`{"ab":{"b":[1]},"a":{"bc":[2],"b":[3]}}`, `{"a\\":{"b":[1]},"a":{"b":[2]}}`,
	} {
		f.Add(doc)
	}
	var each []*Each
	for _, src := range []string{".", ".a", ".a.b", `.["a"].b[]`} {
		x, err := CompileEach(src)
		if err != nil || x.names == nil {
			f.Fatal(src, err)
		}
		each = append(each, x)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, x := range each {
			doc := NewDoc([]byte(body))
			have, problem := x.Elements(doc)
			slow := *x
			slow.names = nil
			fresh := NewDoc([]byte(body))
			if want, why := slow.Elements(fresh); !slices.Equal(have, want) || problem != why {
				t.Errorf("%s of %q\nhave %v (%s)\nwant %v (%s)", x, body, have, problem, want, why)
			}
			if doc.read().root != fresh.read().root || doc.count != fresh.count {
				t.Errorf("%s of %q: the document is %+v, and %+v", x, body, doc.root, fresh.root)
			}
		}
	})
}
