package expr

import (
	"fmt"
	"slices"
	"testing"
)

func TestObjects(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ source, doc, want string }{
		{".", `{"a":1}`, `[{"a":1}] `},
		{".job", `{"job":{"a":1}}`, `[{"a":1}] `},
		{".job", `{"job":null}`, `[null] `},
		{".job", `{}`, `[] .job is missing`},
		{".jobs[]", `{"jobs":[{"a":1},2]}`, `[{"a":1} 2] `},
		{".jobs[]", `{"jobs":{"x":1,"y":2}}`, `[1 2] `},
		{".jobs[]", `{"jobs":null}`, `[] `},
		{".jobs[]", `{"jobs":"x"}`, `[] .jobs is a string, and is no list`},
		{".a[].b[]", `{"a":[{"b":[1]},{"b":[2,3]}]}`, `[1 2 3] `},
		{".items[] // .", `{"items":[1,2]}`, `[1 2] `},
		{".items[] // .", `{"items":[]}`, `[] `},
		{".items[] // .", `{"items":null}`, `[] `},
		{".items[] // .", `{"items":{"x":1}}`, `[{"items":{"x":1}}] `},
		{".items[] // .", `{"a":1}`, `[{"a":1}] `},
		{".items[] // .job // .", `{"job":3}`, `[3] `},
		{".items[] // .", `<p>`, `[] the body is not JSON (line 1, column 1: "<p>")`},
		{"..", "{\"a\":1}\n{\"a\":2}", `[{"a":1} {"a":2}] `},
	} {
		x, err := CompileObjects(test.source)
		if err != nil {
			t.Fatal(test.source, err)
		}
		objects, problem := x.Of(NewDoc([]byte(test.doc)))
		var texts []string
		for _, o := range objects {
			texts = append(texts, string(o.Bytes()))
		}
		if have := fmt.Sprint(texts, " ", problem); have != test.want {
			t.Errorf("%s of %s: have %s, want %s", test.source, test.doc, have, test.want)
		}
	}
	for source, want := range map[string]string{
		"jobs":         "column 1: a path begins with a dot",
		".a //":        "column 6: a path is missing",
		".a == 1":      "column 4: after a path nothing can follow here",
		"jq: .a":       "column 1: jq cannot say where the elements are",
		".items[] | .": "column 10: after a path nothing can follow here",
	} {
		if _, err := CompileObjects(source); err == nil || err.Error() != want {
			t.Errorf("%s: have %v, want %s", source, err, want)
		}
	}
}

// What a condition requires a path to be is true of all that it is true of.
func TestRequires(t *testing.T) {
	t.Parallel()
	for source, want := range map[string][]string{
		`.kind == "Pod"`: {"Pod"},
		`.a == 1 and (.kind in ["Pod", "Job"] and .b)`:             {"Pod", "Job"},
		`.kind == "Pod" or .a == 1`:                                nil,
		`not .kind == "Pod"`:                                       nil,
		`.kind != "Pod"`:                                           nil,
		`.kind == 1`:                                               nil,
		`.kind in ["Pod", 1]`:                                      nil,
		`.kind in ["Pod", null]`:                                   nil,
		`.kind == .a`:                                              nil,
		`.spec.kind == "Pod"`:                                      nil,
		`(.spec | .kind == "Pod") and .a`:                          nil,
		`any(.items[]; .kind == "Pod")`:                            nil,
		`jq: .kind == "Pod"`:                                       nil,
		`(.kind == "Pod" or .a) and .kind in ["Job"] and .b`:       {"Job"},
		`(.kind // "Pod") == "Pod" and .apiVersion == "v1"`:        nil,
		`.apiVersion startswith "apps/" and .kind == "ReplicaSet"`: {"ReplicaSet"},
	} {
		x, err := Compile(source)
		if err != nil {
			t.Fatal(source, err)
		}
		if have := x.Requires(".kind"); !slices.Equal(have, want) {
			t.Errorf("%s: have %q, want %q", source, have, want)
		}
	}
}
