package expr_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/pollcli/poll/status/expr"
)

func mustEach(t testing.TB, src string) *expr.Each {
	t.Helper()
	x, err := expr.CompileEach(src)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return x
}

// spell writes elements as name=JSON.
func spell(elements []*expr.Doc) string {
	words := make([]string, len(elements))
	for i, e := range elements {
		if words[i] = string(e.Bytes()); e.Name() != "" {
			words[i] = e.Name() + "=" + words[i]
		}
	}
	return strings.Join(words, " ")
}

func TestElements(t *testing.T) {
	t.Parallel()
	const list = ` { "items" : [ {"id":1}, "x" ,[2], null ] , "none":null, "empty":[], "text":"a", "nested":{"list":[1,2]} } `
	const groups = `{"groups":[{"items":[1,2],"node":{"a":1}},{"items":[],"node":{}},{"items":[3],"node":null}]}`
	const object = `{"jobs":{"a\"b":{"s":1},"é":{"s":2},"a\"b":{"s":3}}}`
	const lines = "{\"n\":1,\"of\":[1]}\n\n {\"n\":2,\"of\":[2,3]}\n"
	const broken = `{"jobs":[{"items":[1]},{}],"state":"ok","n":1}`
	for _, test := range []struct{ each, doc, want string }{
		{`.items[]`, list, `{"id":1} "x" [2] null`},
		{`$json.items`, list, `{"id":1} "x" [2] null`},
		{`.items[2]`, list, `2`},
		{`.none`, list, ``},
		{`.none[].x[]`, list, ``},
		{`.none.#(a==1)#`, list, ``},
		{`.groups[].node[]`, groups, `a=1`},
		{`.groups.#(items.0>2)#`, groups, `{"items":[3],"node":null}`},
		{`.groups.#(items.0!=9)#.node.a`, groups, `1`},
		{`.groups.#(items.0>2)#|@reverse`, groups, `{"items":[3],"node":null}`},
		{`.jobs[].s`, object, `a"b=1 é=2`},
		{`.[][]`, object, `jobs/a"b={"s":1} jobs/é={"s":2}`},
		{`.[][][]`, `{"r":[{"a":1},{"b":2}],"s":[{"c":3}]}`, `r/a=1 r/b=2 s/c=3`},
		{`.[]`, "\ufeff[1,2]\n", `1 2`},
		{`..`, lines, `{"n":1,"of":[1]} {"n":2,"of":[2,3]}`},
		{`..[]`, lines, `{"n":1,"of":[1]} {"n":2,"of":[2,3]}`},
		{`.. `, `{"n":1}`, `{"n":1}`},
		{`..`, " \n", ``},
		{`..#(n==2)#`, lines, `{"n":2,"of":[2,3]}`},
		{`.job`, broken, `.job is missing, and is no list; did you mean .jobs?`},
		{`.items[]`, `{}`, `.items is missing, and is no list`},
		{`.a.b`, `{"a":{}}`, `.a.b is missing, and is no list`},
		{`.state`, broken, `.state is a string, and is no list`},
		{`.n[]`, broken, `.n is a number, and is no list`},
		{`.jobs[].items`, broken, `.jobs[].items is missing`},
		{`.jobs[].items[]`, broken, `.jobs[].items is missing, and is no list`},
		{`.jobs[].items[].x`, broken, `.jobs[].items[] is a number, and has no field x`},
		{`.state.#(a==1)#`, broken, `.state is a string, and #(a==1)# needs a list`},
		{`.`, ``, `the body is empty`},
		{`.`, `<html>`, `the body is not JSON (line 1, column 1: "<html>")`},
		{`..`, `<html>`, `the body is not JSON (line 1, column 1: "<html>")`},
		{`.items`, "{}\n{}\n", `the body holds 2 JSON documents: ..0.name is of the first, and .. is the list of them`},
	} {
		elements, _, problem := mustEach(t, test.each).Elements(expr.NewDoc([]byte(test.doc)))
		if have := spell(elements) + problem; have != test.want {
			t.Errorf("%s of %s\nhave %s\nwant %s", test.each, test.doc, have, test.want)
		}
	}
}

// An object without members is no empty list.
func TestElements_ofObject(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		each, doc string
		want      bool
	}{
		{`.`, `{}`, true},
		{`.`, `null`, false},
		{`.items`, `{"items":{}}`, true},
		{`.items`, `{"items":[]}`, false},
		{`.items`, `{}`, false},
		{`.groups[].items[]`, `{"groups":{"a":{"items":[1]}}}`, true},
		{`..`, `{}`, false},
		{`..[][]`, "[]\n{}", true},
	} {
		if _, have, _ := mustEach(t, test.each).Elements(expr.NewDoc([]byte(test.doc))); have != test.want {
			t.Errorf("%s of %s: have %t", test.each, test.doc, have)
		}
	}
}

func TestEachErrors(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		``:                       `column 1: the expression is empty; write one such as .state == "done", or .items for the place of a list`,
		` `:                      `column 1: the expression is empty; write one such as .state == "done", or .items for the place of a list`,
		`.items | .x`:            `column 8: after a path nothing can follow here; to leave elements out write .items.#(name!="x")#`,
		`.items[] | select(.x)`:  `column 10: after a path nothing can follow here; to leave elements out write .items.#(name!="x")#`,
		`.items == 1`:            `column 8: after a path nothing can follow here; `,
		`.items .x`:              `column 8: after a path nothing can follow here; `,
		`any(.items[]; .x)`:      `column 1: a path is missing; write where the list is: .items`,
		`$body`:                  `column 1: a path is missing; write where the list is: .items`,
		`"items"`:                `column 1: a path is missing; write where the list is: .items`,
		`items[]`:                `column 1: a path with [] begins with a dot; write .items[]`,
		`.items.#`:               `column 8: # is the number of elements; leave it out`,
		`.items.#(a==1)`:         `column 8: #(a==1) is the first element; for all write #(a==1)#, for its members #(a==1)[]`,
		`.items[`:                `column 7: the bracket [ is not closed; `,
		` .é..x`:                 `column 5: there is a name missing between two dots; `,
		`..x`:                    `column 1: .. needs an index, # or #(...); ..0.name is the first document of JSON lines, ..# their number; there is no recursive descent`,
		` jq: .items[]`:          `column 2: where the elements are cannot be said in jq; write the path of the list: .items, or .groups[].items[]`,
		strings.Repeat("a", 1e5): `column 1: the expression is longer than 16 KiB; `,
	} {
		x, err := expr.CompileEach(src)
		e, ok := errors.AsType[*expr.Error](err)
		if !ok || e.Error()+"; "+e.Hint != want {
			t.Errorf("%.40s: have %v, %+v\nwant %s", src, x, e, want)
			continue
		}
		checkError(t, src, err)
	}
}
