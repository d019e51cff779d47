package world

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// A tri is the value of a condition: yes, no or unknown.
type tri int8

const (
	no      tri = -1
	unknown tri = 0
	yes     tri = 1
)

func decide(is bool) tri {
	if is {
		return yes
	}
	return no
}

// A node is a part of a condition. Its value is computed here without any code of the product.
type node struct {
	Op   string
	Path string // the names of members, with dots; of any and all it is the list
	Lit  string // in JSON
	Kids []*node
}

func (n *node) text() string {
	switch n.Op {
	case "is":
		return n.Path
	case "exists":
		return "exists(" + n.Path + ")"
	case "length":
		return "(" + n.Path + " | length) == " + n.Lit
	case "any", "all":
		return n.Op + "(" + n.Path + "[]; " + n.Kids[0].text() + ")"
	case "not":
		return "not (" + n.Kids[0].text() + ")"
	case "and", "or":
		return "(" + n.Kids[0].text() + ") " + n.Op + " (" + n.Kids[1].text() + ")"
	}
	return n.Path + " " + n.Op + " " + n.Lit
}

// find returns the value of a path; known is false where the document has none.
func find(doc any, path string) (value any, known bool) {
	for _, name := range strings.Split(strings.TrimPrefix(path, "."), ".") {
		members, ok := doc.(map[string]any)
		if !ok {
			return nil, false
		}
		if doc, known = members[name]; !known {
			return nil, false
		}
	}
	return doc, true
}

// value evaluates a condition on a document. What is missing or null decides nothing, unless a
// condition asks for it.
func (n *node) value(doc any) tri {
	switch n.Op {
	case "not":
		return -n.Kids[0].value(doc)
	case "and":
		return min(n.Kids[0].value(doc), n.Kids[1].value(doc))
	case "or":
		return max(n.Kids[0].value(doc), n.Kids[1].value(doc))
	}
	v, known := find(doc, n.Path)
	if _, isObject := doc.(map[string]any); !isObject {
		return unknown
	}
	switch {
	case n.Op == "exists":
		return decide(known)
	case n.Op == "is":
		return decide(known && v != nil && v != false)
	case v == nil:
		return unknown
	}
	return n.compare(v)
}

// compare evaluates a comparison of a value that is there.
func (n *node) compare(v any) tri {
	var lit any
	json.Unmarshal([]byte(n.Lit), &lit)
	word, isText := v.(string)
	number, isNumber := v.(float64)
	list, isList := v.([]any)
	switch n.Op {
	case "==", "!=":
		return decide(reflect.DeepEqual(v, lit) == (n.Op == "=="))
	case "in":
		return decide(slices.ContainsFunc(lit.([]any), func(e any) bool { return reflect.DeepEqual(e, v) }))
	case "any", "all":
		if !isList {
			return unknown
		}
		is := decide(n.Op == "all")
		for _, e := range list {
			if n.Op == "all" {
				is = min(is, n.Kids[0].value(e))
			} else {
				is = max(is, n.Kids[0].value(e))
			}
		}
		return is
	case ">=":
		if !isNumber {
			return unknown
		}
		return decide(number >= lit.(float64))
	}
	if isList && n.Op == "length" {
		return decide(float64(len(list)) == lit.(float64))
	}
	if isList && n.Op == "contains" {
		return decide(slices.ContainsFunc(list, func(e any) bool { return reflect.DeepEqual(e, lit) }))
	}
	if !isText {
		return unknown
	}
	switch n.Op {
	case "length":
		return decide(float64(len(word)) == lit.(float64))
	case "startswith":
		return decide(strings.HasPrefix(word, lit.(string)))
	case "contains":
		return decide(strings.Contains(word, lit.(string)))
	}
	return decide(regexp.MustCompile(lit.(string)).MatchString(word))
}

// holds reports whether a condition is true of a document, given as text.
func (n *node) holds(text string) bool {
	var doc any
	return n != nil && json.Unmarshal([]byte(text), &doc) == nil && n.value(doc) == yes
}

// atoms are the questions of which conditions are made. Some hold too soon, and some never.
var atoms = []node{
	{Op: "==", Path: ".state", Lit: `"done"`},
	{Op: "in", Path: ".state", Lit: `["done","succeeded"]`},
	{Op: "!=", Path: ".state", Lit: `"running"`},
	{Op: "!=", Path: ".state", Lit: `"queued"`},
	{Op: "startswith", Path: ".state", Lit: `"do"`},
	{Op: "contains", Path: ".state", Lit: `"one"`},
	{Op: "=~", Path: ".state", Lit: `"^done$"`},
	{Op: "length", Path: ".state", Lit: `4`},
	{Op: "==", Path: ".conclusion", Lit: `"success"`},
	{Op: "!=", Path: ".conclusion", Lit: `"failure"`},
	{Op: ">=", Path: ".progress", Lit: `100`},
	{Op: "is", Path: ".finished_at"},
	{Op: "exists", Path: ".steps"},
	{Op: "==", Path: ".meta.state", Lit: `"done"`},
	{Op: "!=", Path: ".stat", Lit: `"running"`},
	{Op: "==", Path: ".conclusoin", Lit: `"success"`},
	{Op: "all", Path: ".steps", Kids: []*node{{Op: "==", Path: ".state", Lit: `"done"`}}},
	{Op: "any", Path: ".steps", Kids: []*node{{Op: "!=", Path: ".state", Lit: `"done"`}}},
}

func atom(r *rand.Rand) *node {
	n := atoms[r.IntN(len(atoms))]
	return &n
}

// condition draws one of a depth.
func condition(r *rand.Rand, depth int) *node {
	switch k := r.IntN(10); {
	case depth == 0 || k < 4:
		return atom(r)
	case k < 6:
		return &node{Op: "not", Kids: []*node{condition(r, depth-1)}}
	case k < 7: // what is not there is false beside something that is
		return &node{Op: "and", Kids: []*node{atom(r), {Op: "not", Kids: []*node{{Op: "is", Path: ".error"}}}}}
	}
	return &node{Op: []string{"and", "or"}[r.IntN(2)], Kids: []*node{condition(r, depth-1), condition(r, depth-1)}}
}

// until draws a condition that is true of what is done, and of none of the documents of which
// servers lie.
func until(r *rand.Rand) *node {
	o := operation{ID: 7}
	for range 200 {
		n := condition(r, 2)
		isLie := slices.ContainsFunc(lies, n.holds) || slices.ContainsFunc([]string{"queued", "running"}, func(s string) bool { return n.holds(o.doc(s, 0)) })
		if n.holds(o.doc("done", 0)) && !isLie {
			return n
		}
	}
	n := atoms[0]
	return &n
}

// lies are documents that are not about what is waited for.
var lies = []string{
	`{"id":7}`, `{"id":7,"state":null}`, `{"id":7,"stat":"done"}`, `{"message":"hello"}`, `{"login":true}`, `[]`, `null`, `true`, `"done"`, `7`,
	`{}`, `{"state":["done"]}`, `{"state":{"state":"done"}}`, `{"jobs":[]}`, `{"state":"","error":"maintenance","meta":{"state":"done"}}`,
	`{"id":7,"state":"queued"}`, `{"urls":{"get":"/ops/7"},"state":"queued"}`,
	`[{"state":"done","conclusion":"success"}]`, `{"data":{"state":"done","progress":100}}`,
}

func (n *node) String() string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(n.text())
}
