package poll

import (
	"bytes"
	"fmt"
	"net/http"
	"testing"

	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

func TestNames(t *testing.T) {
	for _, test := range []struct {
		each, doc string
		keys      []string
		want      string
	}{
		{".", `[{"id":1},{"id":"b"}]`, nil, "[1 b] <nil>"},
		{".", `[{"id":1,"name":"x"},{"name":"y"}]`, nil, "[x y] <nil>"},
		{".", `{"x":{"id":1},"y":{"id":2}}`, nil, "[x y] <nil>"},
		{".", `{"x":{"id":1},"y":{"id":2}}`, []string{".id"}, "[1 2] <nil>"},
		{".", `[{"a":1,"b":2}]`, []string{".a", ".b"}, "[1/2] <nil>"},
		{".", `[]`, nil, "[] <nil>"},
		{".", `[{"id":1},{"id":null}]`, nil, "[] not all elements have an .id, a .name or a .metadata.name"},
		{"..", "[{\"id\":1}]\n[{\"id\":2}]", nil, "[] the elements are lists, whose elements are ..[][]"},
		{"..[]", "[{\"id\":1}]\n[{\"id\":2}]", nil, "[] the elements are lists, whose elements are ..[][]"},
		{"..[][]", "[{\"id\":1}]\n[{\"id\":2}]", nil, "[1 2] <nil>"},
		{"..", "[1,\"done\"]\n[2,\"done\"]", []string{".[0]"}, "[1 2] <nil>"},
		{"..", `[1,"done"]`, []string{".[0]"}, "[1] <nil>"},
		{"..", `[{"id":1},{"id":2}]`, nil, "[1 2] <nil>"},
		{".", `[{"id":1},{"id":{}}]`, []string{".id"}, "[] an element has no name: .id is neither text nor a number"},
		{".", `[{"id":9007199254740993},{"id":1.0}]`, []string{".id"}, "[9007199254740993 1.0] <nil>"},
		{".", `[{"id":"a\u0062","l":[1]}]`, []string{".id", ".l[0]"}, "[ab/1] <nil>"},
		{".", `[{"id":""}]`, []string{".id"}, "[] an element has no name: .id is empty"},
		{".", `[{"id":null}]`, []string{".id"}, "[] an element has no name: .id is neither text nor a number"},
		{".", `[{"id":true}]`, []string{".id"}, "[] an element has no name: .id is neither text nor a number"},
		{".", `[{}]`, []string{".id"}, "[] an element has no name: .id is missing"},
		{".", `[{"id":"x"}]`, []string{".id.x"}, "[] an element has no name: .id is a string, and has no field x"},
		{".", `[{"id":1},{"id":"1"}]`, nil, "[] two elements are named 1"},
	} {
		each, err := expr.CompileEach(test.each)
		if err != nil {
			t.Fatal(err)
		}
		var keys []*expr.Expr
		for _, source := range test.keys {
			key, err := expr.CompileValue(source)
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, key)
		}
		r := &listReader{each: each, keys: keys}
		found, _, _ := r.read(&status.Observation{Body: []byte(test.doc)})
		found, _, err = r.name(t.Context(), found)
		names := make([]string, len(found))
		for i, e := range found {
			names[i] = e.id
		}
		if have := fmt.Sprint(names, err); have != test.want {
			t.Errorf("%s by %s: have %s, want %s", test.doc, test.keys, have, test.want)
		}
	}
}

// A response may report that it does not hold all elements. A total counts all elements of the list. It does not count
// the elements that a filter selects, and a total inside an element does not count elements of the list.
func TestPartial(t *testing.T) {
	for _, test := range []struct{ each, doc, count, want string }{
		{".jobs", `{"jobs":[{"id":1}],"total":2}`, "", ".total names 2 elements"},
		{".jobs", `{"jobs":[{"id":1}],"meta":{"total":"2"}}`, "", ".meta.total names 2 elements"},
		{".jobs", `{"jobs":[{"id":1}],"total_count":1,"errors":[]}`, "", ""},
		{".jobs", `{"jobs":[{"id":1}]}`, "500", "X-Total-Count names 500 elements"},
		{".", `[{"id":1}]`, "500", "X-Total-Count names 500 elements"},
		{".jobs", `{"jobs":[{"id":1}],"total":"two"}`, "1", ""},
		{".data.jobs", `{"data":{"jobs":[{"id":1}]},"errors":[{"message":"shard 2 timed out"}]}`, "", "there is .errors"},
		{".data.jobs", `{"data":{"jobs":[{"id":1}],"total":2}}`, "", ".data.total names 2 elements"},
		{".data.jobs.nodes", `{"data":{"jobs":{"nodes":[{"id":1}],"totalCount":1,"errors":["shard 2 timed out"]},"total":2}}`, "",
			"there is .data.jobs.errors"},
		{".groups[].jobs", `{"groups":[{"jobs":{"id":1}}],"total":1}`, "", ""},
		{`.["a.b"]`, `{"a.b":[{"id":1}],"total":2}`, "", ".total names 2 elements"},
		{".Jobs", `{"Jobs":[{"id":1}],"Errors":[{"Code":"InternalError"}]}`, "", "there is .Errors"},
		{".jobs", `{"jobs":[{"id":1}],"total":3}|{"jobs":[{"id":2}]}`, "", ".total names 3 elements"},
		{".jobs", `{"jobs":[{"id":1}],"total":2}|{"jobs":[{"id":2}]}`, "", ""},
		{`.jobs.#(id>0)#`, `{"jobs":[{"id":1}],"total":2}`, "2", ""},
		{"..", `{"id":1,"total":2}`, "", ""},
		// Elasticsearch
		{".hits.hits", `{"timed_out":true,"hits":{"total":1,"hits":[{"id":1}]}}`, "", "there is .timed_out"},
		{".hits.hits", `{"timed_out":false,"_shards":{"failed":3},"hits":{"total":1,"hits":[{"id":1}]}}`, "", "there is ._shards.failed"},
		{".hits.hits", `{"timed_out":false,"_shards":{"failed":0},"hits":{"total":{"value":5},"hits":[{"id":1}]}}`, "", ".hits.total.value names 5 elements"},
	} {
		each, err := expr.CompileEach(test.each)
		if err != nil {
			t.Fatal(err)
		}
		pages := bytes.Split([]byte(test.doc), []byte("|"))
		r, o := &listReader{each: each}, &status.Observation{Body: pages[0], Pages: pages[1:]}
		if test.count != "" {
			o.Header = http.Header{"X-Total-Count": {test.count}}
		}
		if _, _, err = r.read(o); err != nil || r.partial != test.want {
			t.Errorf("%s of %s: have %q, %v, want %q", test.each, test.doc, r.partial, err, test.want)
		}
	}
}

// After a list, an object without members is not an empty list: it may be the body of an error.
func TestRead_objectWhereAListWas(t *testing.T) {
	each := must(expr.CompileEach("."))
	r := &listReader{each: each}
	for _, test := range []struct{ body, want string }{
		{`{}`, "0 <nil>"}, {`{"a":{}}`, "1 <nil>"}, {`{}`, "0 <nil>"}, {`[]`, "0 <nil>"}, {`[{"id":1}]`, "1 <nil>"}, {`[]`, "0 <nil>"},
		{`{}`, "0 an empty object is in place of the list"},
	} {
		found, _, err := r.read(&status.Observation{Body: []byte(test.body)})
		if have := fmt.Sprint(len(found), " ", err); have != test.want {
			t.Errorf("%s: have %s, want %s", test.body, have, test.want)
		}
	}
}

// An empty list next to an error may have elements.
func TestRead_emptyNextToAnError(t *testing.T) {
	each := must(expr.CompileEach(".data.jobs"))
	for body, want := range map[string]string{
		`{"data":{"jobs":null},"errors":[{"message":"x"}]}`: "the list is empty, but there is .errors",
		`{"data":{"jobs":[]},"error":"x"}`:                  "the list is empty, but there is .error",
		`{"data":{"jobs":[],"success":false}}`:              "the list is empty, but there is .data.success",
		`{"data":{"jobs":null},"errors":[]}`:                "<nil>",
	} {
		r := &listReader{each: each}
		if _, _, err := r.read(&status.Observation{Body: []byte(body)}); fmt.Sprint(err) != want {
			t.Errorf("%s: have %v, want %s", body, err, want)
		}
	}
}

// A page may name the next page at its top level, or in the object that holds the list.
func TestNextPage(t *testing.T) {
	for _, test := range []struct{ each, page, want string }{
		{".jobs", `{"jobs":[{"id":1}],"paging":{},"next_cursor":"a+b"}`, ".next_cursor"},
		{".jobs", `{"jobs":[{"id":1}],"next_cursor":""}`, ""},
		{".tracks.items", `{"tracks":{"items":[{"id":1}],"next":"/2"}}`, ".tracks.next"},
	} {
		each, err := expr.CompileEach(test.each)
		if err != nil {
			t.Fatal(err)
		}
		r := &listReader{each: each}
		_, _, err = r.read(&status.Observation{Body: []byte(test.page)})
		if r.next != test.want || err != nil {
			t.Errorf("%s of %s: have %q, %v, want %q", test.each, test.page, r.next, err, test.want)
		}
	}
}

// must returns value, and panics if err is not nil: the preparation of a test has failed.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
