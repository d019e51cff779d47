package jq

import (
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/itchyny/gojq"
)

// Reads is what a program reads.
type Reads struct {
	Input     bool     // the document; true if that is not certain
	Variables []string // without their $, sorted
	Environ   bool     // variables of the environment
	Clock     bool     // the time of day
}

// variables are the names with their $.
func (r Reads) variables() []string {
	names := make([]string, len(r.Variables))
	for i, name := range r.Variables {
		names[i] = "$" + name
	}
	return names
}

// readsOf says what a query reads, of the named variables.
func readsOf(query *gojq.Query, names map[string]bool) Reads {
	r := Reads{Input: readsInput(query)}
	variable := func(name string) {
		if names[name] && !slices.Contains(r.Variables, name[1:]) {
			r.Variables = append(r.Variables, name[1:])
		}
		r.Environ = r.Environ || isEnviron(name)
	}
	walk(reflect.ValueOf(query), func(node any) {
		switch node := node.(type) {
		case *gojq.Func:
			variable(node.Name)
			r.Clock = r.Clock || node.Name == "now"
		case *gojq.ObjectKeyVal:
			variable(node.Key)
		}
	})
	slices.Sort(r.Variables)
	return r
}

// walk calls visit for all nodes of a tree, each before what it holds.
func walk(v reflect.Value, visit func(node any)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			visit(v.Interface())
			walk(v.Elem(), visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), visit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			walk(v.Field(i), visit)
		}
	}
}

func isEnviron(name string) bool { return name == "$ENV" || name == "env" }

// readEnviron finds the variables of the environment that are named, as $ENV.NAME or
// env.NAME. Headers get the names that they have in [http.Header].
func (c *compiler) readEnviron(query *gojq.Query, src string, environ func(string) (string, bool)) (problem *Error) {
	named := map[*gojq.Func]bool{}
	fail := func(name, message, hint string) {
		if problem == nil {
			problem = &Error{Offset: max(strings.Index(src, name), 0), Message: message, Hint: hint}
		}
	}
	walk(reflect.ValueOf(query), func(node any) {
		switch node := node.(type) {
		case *gojq.Term:
			if node.Type != gojq.TermTypeFunc || len(node.SuffixList) == 0 {
				return
			}
			index := node.SuffixList[0].Index
			name, constant := constantKey(index)
			switch f := node.Func; {
			case !constant:
			case f.Name == "$header":
				*index = gojq.Index{Str: &gojq.String{Str: http.CanonicalHeaderKey(name)}}
			case isEnviron(f.Name) && len(f.Args) == 0:
				named[f] = true
				c.addVariable(name, environ, fail)
			}
		case *gojq.Func:
			if isEnviron(node.Name) && len(node.Args) == 0 && !named[node] {
				fail(node.Name, node.Name+" needs the name of a variable", "write $ENV.NAME for a variable of the environment")
			}
		case *gojq.ObjectKeyVal:
			if node.Key == "$ENV" {
				fail(node.Key, "$ENV needs the name of a variable", "write NAME: $ENV.NAME")
			}
		}
	})
	return problem
}

func (c *compiler) addVariable(name string, environ func(string) (string, bool), fail func(name, message, hint string)) {
	value, ok := "", false
	if environ != nil {
		value, ok = environ(name)
	}
	switch {
	case !ok:
		fail(name, "$ENV."+name+" is not set", "a variable of the shell has to be exported: export "+name)
	case value == "":
		fail(name, "$ENV."+name+" is empty", `set it, or write "" for empty text`)
	}
	c.environ = append(c.environ, name+"="+value)
}

// constantKey is the key of .name, ."name" or ["name"].
func constantKey(index *gojq.Index) (string, bool) {
	switch {
	case index == nil || index.IsSlice:
	case index.Name != "":
		return index.Name, true
	case index.Str != nil && index.Str.Queries == nil:
		return index.Str.Str, true
	case index.Start != nil && isConstant(index.Start) && index.Start.Term.Type == gojq.TermTypeString:
		return index.Start.Term.Str.Str, true
	}
	return "", false
}

// readsInput reports whether a query may read its input.
func readsInput(q *gojq.Query) bool {
	switch {
	case q == nil:
		return false
	case len(q.FuncDefs) > 0 || len(q.Imports) > 0:
		return true
	case q.Term != nil:
		return termReadsInput(q.Term)
	case q.Op == gojq.OpPipe && q.Patterns == nil:
		return readsInput(q.Left)
	}
	return readsInput(q.Left) || readsInput(q.Right)
}

func termReadsInput(t *gojq.Term) bool {
	for _, suffix := range t.SuffixList {
		if suffix.Index != nil && (readsInput(suffix.Index.Start) || readsInput(suffix.Index.End)) {
			return true
		}
	}
	switch t.Type {
	case gojq.TermTypeNull, gojq.TermTypeTrue, gojq.TermTypeFalse, gojq.TermTypeNumber:
		return false
	case gojq.TermTypeFunc:
		return t.Func.Name[0] != '$' && !slices.Contains([]string{"empty", "env", "infinite", "nan", "now"}, t.Func.Name)
	case gojq.TermTypeString:
		return slices.ContainsFunc(t.Str.Queries, readsInput)
	case gojq.TermTypeArray:
		return readsInput(t.Array.Query)
	case gojq.TermTypeUnary:
		return termReadsInput(t.Unary.Term)
	case gojq.TermTypeQuery:
		return readsInput(t.Query)
	}
	return true
}

// Hidden reports whether the program reads what is never shown.
func (r Reads) Hidden() bool { return r.Environ || slices.Contains(r.Variables, "header") }
