// Package elements reads the elements of the lists in responses, and the names of the elements.
package elements

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/document"
	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// An Element is an element of a list in a response.
type Element struct {
	ID   string    // name of the element; "" before Reader.Name has set it
	JSON *expr.Doc // the element itself
	Page int       // index of the page that holds the element; 0 for the first page
	Doc  *expr.Doc // the page
}

// Body returns a copy of the element's JSON. The copy does not keep the page in memory.
func (e *Element) Body() []byte { return bytes.Clone(e.JSON.Bytes()) }

// A Reader reads the elements of the responses to one target.
type Reader struct {
	Each   *expr.Each
	Keys   []*expr.Expr         // values that form the name; nil for the key of a member, and before the first element
	Wants  func(id string) bool // reports whether the element with this name is wanted; nil means all elements
	listed bool                 // a response has had elements of an array

	// Partial is the reason why the last response may not hold all elements. Next is the path of the member, or the name
	// of the header field, by which its last page names a further page. Maybe is a member that may mean that the
	// response is partial or has a further page. Each is "" without such a reason or member.
	Partial, Next, Maybe string
}

// Read returns the elements of the response o and of its further pages, and the last page. The elements have no names
// yet. It sets Partial, Next and Maybe. It returns an error if o is truncated, or if a page does not hold the list.
func (r *Reader) Read(o *status.Observation) (found []Element, last *expr.Doc, err error) {
	if o.Truncated {
		return nil, nil, errors.New(o.Gap())
	}
	r.Partial, r.Next, r.Maybe = "", "", ""
	if h := meaning.Of(o); h.Moved && !o.Start { // the response to a start request is about the operation
		r.Partial = "it is that of " + h.Redirect
	}
	if o.LeftOut {
		r.Partial = "the function of Wrap returned no further pages"
	}
	var pages []*expr.Doc
	for page, body := range slices.Concat([][]byte{o.Body}, o.Pages) {
		last = expr.NewDoc(body)
		some, problem := r.elements(last)
		if page > 0 && problem == "" && len(some) == 0 && r.isNull(last) {
			problem = "it holds no list, and the page before names another one"
		}
		if problem != "" && page > 0 {
			problem = fmt.Sprintf("page %d: %s", page+1, problem)
		}
		if problem != "" {
			return nil, nil, errors.New(problem)
		}
		found = slices.Grow(found, len(some))
		for _, e := range some {
			found = append(found, Element{JSON: e, Page: page, Doc: last})
		}
		pages = append(pages, last)
	}
	held := len(found)
	if each := r.Each.String(); strings.HasPrefix(each, "..") || strings.Contains(each, "#(") { // a total counts other elements, too
		held = math.MaxInt
	}
	for i, page := range pages {
		header := o.Header
		if i > 0 {
			header = nil
		}
		isLast := i == len(pages)-1
		r.readPage("", page, header, held, i+1, isLast)
		if within := r.within(); within != "" {
			r.readPage(within, r.around(page), nil, held, i+1, isLast)
		}
	}
	if len(pages) > 1 { // poll follows the pages, so it needs no guess
		r.Maybe = ""
	}
	r.listed = r.listed || len(found) > 0 && found[0].JSON.Name() == ""
	return found, last, nil
}

// elements returns the elements of page, or the reason why page has no list. An empty list next to an error is a problem,
// and so is an object without members after responses with an array: it may be the body of an error.
func (r *Reader) elements(page *expr.Doc) (found []*expr.Doc, problem string) {
	found, ofObject, problem := r.Each.Elements(page)
	if problem != "" || len(found) > 0 {
		return found, problem
	}
	if r.listed && ofObject {
		return nil, "an object without members is where a list was"
	}
	why := document.Failure(page.Bytes()) // such as the errors of GraphQL next to a member that is null
	if member := document.Failure(r.around(page).Bytes()); why == "" && member != "" {
		why = r.within() + member
	}
	if why != "" {
		return nil, "the list is empty, and there is " + why
	}
	return nil, ""
}

// readPage sets Partial, Next and Maybe from doc, if they are not set. doc is page n, or the object at the path at in
// page n. Pages count from 1. header belongs to the page, and held is the number of elements on all pages. isLast
// reports whether page n is the last page.
func (r *Reader) readPage(at string, doc *expr.Doc, header http.Header, held, n int, isLast bool) {
	page := document.ReadPage(doc.Bytes(), header)
	if path, total := page.Total(); total > held {
		r.Partial = cmp.Or(r.Partial, fmt.Sprintf("%s counts %d in all", prefixed(at, path), total))
	}
	if member := page.Partial(); member != "" {
		r.Partial = cmp.Or(r.Partial, "there is "+prefixed(at, member))
	}
	if isLast {
		r.Next = cmp.Or(r.Next, prefixed(at, page.Next(n)))
	}
	r.Maybe = cmp.Or(r.Maybe, prefixed(at, page.Maybe(held)))
}

// prefixed returns the path of member in the page: at is the path of the object that holds member. It returns the name of
// a header field, and "", unchanged.
func prefixed(at, member string) string {
	if strings.HasPrefix(member, ".") {
		return at + member
	}
	return member
}

// around returns the object in page that holds the list. It returns page if the path of that object cannot be compiled.
func (r *Reader) around(page *expr.Doc) *expr.Doc {
	x, err := expr.CompileValue(r.within())
	if err != nil {
		return page
	}
	return expr.NewDoc([]byte(x.Eval(&expr.Env{Doc: page}).Value().Raw))
}

// within returns the path of the object that holds the list, or "" if the page itself holds the list.
func (r *Reader) within() string {
	source, _, _ := strings.Cut(r.Each.String(), "[]")
	return source[:max(0, strings.LastIndex(source, "."))]
}

// isNull reports whether page has null instead of the list.
func (r *Reader) isNull(page *expr.Doc) bool {
	source, _, _ := strings.Cut(r.Each.String(), "[]")
	x, err := expr.CompileValue(cmp.Or(source, "."))
	return err == nil && x.Eval(&expr.Env{Doc: page}).Value().Type == "null"
}

// Name sets the ID of each element in found, and returns the elements that r.Wants. It returns an error if a part of a
// name is missing, or if two wanted elements have the same name. Equal elements on two pages count once. If elements on
// two pages differ, moved is true: the element may have moved to another page, and changed, while the pages were read,
// so a further attempt may succeed. If ctx is done, Name abandons a name that takes long, and returns an error.
func (r *Reader) Name(ctx context.Context, found []Element) (wanted []Element, moved bool, err error) {
	if err := r.choose(ctx, found); err != nil {
		return nil, false, err
	}
	at := make(map[string]int, len(found))
	wanted = found[:0]
	for _, e := range found {
		n, twice := at[e.ID]
		switch {
		case r.Wants != nil && !r.Wants(e.ID):
		case !twice:
			at[e.ID] = len(wanted)
			wanted = append(wanted, e)
		case wanted[n].Page == e.Page:
			return nil, false, fmt.Errorf("two elements are named %s", e.ID)
		case !bytes.Equal(wanted[n].JSON.Bytes(), e.JSON.Bytes()):
			return nil, true, fmt.Errorf("two elements are named %s, on the pages %d and %d", e.ID, wanted[n].Page+1, e.Page+1)
		}
	}
	return wanted, false, nil
}

// choose sets the ID of each element in found. If neither Keys nor the key of a member names the elements, it sets Keys
// to the first of .id, .name and .metadata.name that names every element in found.
func (r *Reader) choose(ctx context.Context, found []Element) error {
	isMember := func(e Element) bool { return e.JSON.Name() != "" }
	if r.Keys != nil || len(found) == 0 || slices.ContainsFunc(found, isMember) {
		return r.name(ctx, found)
	}
	for _, source := range [...]string{".id", ".name", ".metadata.name"} {
		key, _ := expr.CompileValue(source)
		if r.Keys = []*expr.Expr{key}; r.name(ctx, found) == nil {
			return nil
		}
	}
	r.Keys = nil
	if found[0].JSON.Bytes()[0] == '[' {
		return fmt.Errorf("the elements are lists, whose elements are %s", strings.TrimSuffix(strings.TrimSpace(r.Each.String()), "[]")+"[][]")
	}
	return errors.New("not all elements have an .id, a .name or a .metadata.name")
}

// name sets the ID of each element in found, by r.Keys. It returns the error of the first element without a name.
func (r *Reader) name(ctx context.Context, found []Element) (err error) {
	for i := range found {
		e := &found[i]
		if e.ID, err = r.id(ctx, e); err != nil {
			return fmt.Errorf("an element has no name: %w", err)
		}
	}
	return nil
}

// id returns the name of e: the values of r.Keys, joined by slashes, or the key of e without Keys. Each value must be a
// string that is not empty, or a number.
func (r *Reader) id(ctx context.Context, e *Element) (string, error) {
	name := e.JSON.Name()
	if r.Keys == nil && name == "" {
		return "", errors.New("it is empty")
	} else if r.Keys == nil {
		return name, nil
	}
	env := &expr.Env{Element: e.JSON, Context: ctx}
	parts := make([]string, len(r.Keys))
	for i, key := range r.Keys {
		switch v := key.Eval(env).Value(); {
		case !v.Exists():
			return "", errors.New(v.Reason)
		case v.Type != "string" && v.Type != "number":
			return "", fmt.Errorf("%s is neither text nor a number", key)
		case v.Text() == "":
			return "", fmt.Errorf("%s is empty", key)
		default:
			parts[i] = v.Text()
		}
	}
	return strings.Join(parts, "/"), nil
}
