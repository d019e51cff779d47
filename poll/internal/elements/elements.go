// Package elements reads the elements of answers that hold lists, and what names them.
package elements

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// An Element is an element of an answer.
type Element struct {
	expr.Element
	Page int
	Doc  *expr.Doc // the page
}

// A Reader reads the elements of answers.
type Reader struct {
	Each   *expr.Each
	Keys   []*expr.Expr // nil if the member's key is the name, or if no answer had an element
	listed bool         // elements of a list have been seen
}

// Read returns the elements of an answer, and its last page, or says why they cannot be read.
func (r *Reader) Read(o *status.Observation) (elements []Element, last *expr.Doc, err error) {
	for page := range len(o.Pages) + 1 {
		body := o.Body
		if page > 0 {
			body = o.Pages[page-1]
		}
		last = expr.NewDoc(body)
		found, problem := r.elements(last)
		if problem != "" && page > 0 {
			return nil, nil, fmt.Errorf("page %d: %s", page+1, problem)
		} else if problem != "" {
			return nil, nil, errors.New(problem)
		}
		elements = slices.Grow(elements, len(found))
		for _, e := range found {
			elements = append(elements, Element{e, page, last})
		}
	}
	r.listed = r.listed || len(elements) > 0 && elements[0].Name == ""
	return elements, last, nil
}

// elements returns the elements of a page, or what is wrong with that.
func (r *Reader) elements(page *expr.Doc) (found []expr.Element, problem string) {
	found, problem = r.Each.Elements(page)
	if problem != "" || len(found) > 0 {
		return found, problem
	}
	if r.listed && r.Each.Members(page) {
		return nil, "an object without members is where a list was"
	}
	if why := status.Incomplete(page.Bytes()); why != "" { // as GraphQL has it, where what was asked for is null
		return nil, "the list is empty, and there is " + why
	}
	return nil, ""
}

// Choose chooses what names an element, if that is not given, by the first elements.
func (r *Reader) Choose(elements []Element) error {
	isMember := func(e Element) bool { return e.Name != "" }
	if r.Keys != nil || len(elements) == 0 || slices.ContainsFunc(elements, isMember) {
		return nil
	}
	for _, source := range [...]string{".id", ".name", ".metadata.name"} {
		key, err := expr.CompileValue(source)
		if err != nil {
			panic(err)
		}
		r.Keys = []*expr.Expr{key}
		if !hasProblem(r, elements) {
			return nil
		}
	}
	r.Keys = nil
	if strings.HasPrefix(elements[0].Raw, "[") {
		return fmt.Errorf("the elements are lists, whose elements are %s", strings.TrimSuffix(strings.TrimSpace(r.Each.String()), "[]")+"[][]")
	}
	return errors.New("not all elements have an .id, a .name or a .metadata.name")
}

func hasProblem(r *Reader, elements []Element) bool {
	for i := range elements {
		if _, err := r.Key(&elements[i]); err != nil {
			return true
		}
	}
	return false
}

// Key returns the name of an element.
func (r *Reader) Key(e *Element) (string, error) {
	if r.Keys == nil {
		if e.Name == "" {
			return "", errors.New("an element has no name: it is empty")
		}
		return e.Name, nil
	}
	var name strings.Builder
	for i, key := range r.Keys {
		if i > 0 {
			name.WriteByte('/')
		}
		text, problem := e.Key(key)
		if problem != "" {
			return "", errors.New("an element has no name: " + problem)
		}
		name.WriteString(text)
	}
	return name.String(), nil
}

// Names returns what names each of the elements of an answer, as a wait does. An error says
// which part of a name is missing, or that two are equal.
func Names(each *expr.Each, keys []*expr.Expr, elements []expr.Element) ([]string, error) {
	r := Reader{Each: each, Keys: keys}
	all := make([]Element, len(elements))
	for i := range elements {
		all[i].Element = elements[i]
	}
	if err := r.Choose(all); err != nil {
		return nil, err
	}
	names, taken := make([]string, len(all)), make(map[string]bool, len(all))
	for i := range all {
		name, err := r.Key(&all[i])
		if err != nil {
			return nil, err
		}
		if taken[name] {
			return nil, fmt.Errorf("two elements are named %s", name)
		}
		names[i], taken[name] = name, true
	}
	return names, nil
}
