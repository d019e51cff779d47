// Package elements reads the elements of answers that hold lists, and what names them.
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

// An Element is an element of an answer.
type Element struct {
	ID   string // what names it
	JSON *expr.Doc
	Page int
	Doc  *expr.Doc // the page
}

// Body returns the JSON of the element, a copy that does not hold on to the page.
func (e *Element) Body() []byte { return bytes.Clone(e.JSON.Bytes()) }

// A Reader reads the elements of answers.
type Reader struct {
	Each   *expr.Each
	Keys   []*expr.Expr         // nil if the member's key is the name, or if no answer had an element
	Wants  func(id string) bool // says which elements are of interest; nil means all
	listed bool                 // elements of a list have been seen

	// Partial is the reason why the last answer may not hold all elements, Next the path of the member by which its last
	// page names a further one, and Maybe a member that may mean either. They are "" without such a reason or member.
	Partial, Next, Maybe string
}

// Read returns the elements of an answer, and its last page, or says why they cannot be read.
func (r *Reader) Read(o *status.Observation) (found []Element, last *expr.Doc, err error) {
	if o.Truncated {
		return nil, nil, errors.New(o.Gap())
	}
	r.Partial, r.Next, r.Maybe = "", "", ""
	if h := meaning.Of(o); h.Moved && !o.Start { // what a start answers is about what it has started
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
	if each := r.Each.String(); strings.HasPrefix(each, "..") || strings.Contains(each, "#(") { // a total is of others
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
	if len(pages) > 1 { // a rule knows how pages are named
		r.Maybe = ""
	}
	r.listed = r.listed || len(found) > 0 && found[0].JSON.Name() == ""
	return found, last, nil
}

// elements returns the elements of a page, or what is wrong with that.
func (r *Reader) elements(page *expr.Doc) (found []*expr.Doc, problem string) {
	found, ofObject, problem := r.Each.Elements(page)
	if problem != "" || len(found) > 0 {
		return found, problem
	}
	if r.listed && ofObject {
		return nil, "an object without members is where a list was"
	}
	why := document.Failure(page.Bytes()) // as GraphQL has it, where what was asked for is null
	if member := document.Failure(r.around(page).Bytes()); why == "" && member != "" {
		why = r.within() + member
	}
	if why != "" {
		return nil, "the list is empty, and there is " + why
	}
	return nil, ""
}

// readPage notes each report of page n, or of the object at a path in the page, that elements are missing: held is the
// number of elements on all pages.
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

// prefixed returns the path of a member with the path of its object. It returns the name of a header field, and "", unchanged.
func prefixed(at, member string) string {
	if strings.HasPrefix(member, ".") {
		return at + member
	}
	return member
}

// around returns the object that holds the list, the page if that is not clear.
func (r *Reader) around(page *expr.Doc) *expr.Doc {
	x, err := expr.CompileValue(r.within())
	if err != nil {
		return page
	}
	return expr.NewDoc([]byte(x.Eval(&expr.Env{Doc: page}).Value().Raw))
}

// within returns the path of the object that holds the list, "" for the page.
func (r *Reader) within() string {
	source, _, _ := strings.Cut(r.Each.String(), "[]")
	return source[:max(0, strings.LastIndex(source, "."))]
}

// isNull reports whether a page has null in place of the list.
func (r *Reader) isNull(page *expr.Doc) bool {
	source, _, _ := strings.Cut(r.Each.String(), "[]")
	x, err := expr.CompileValue(cmp.Or(source, "."))
	return err == nil && x.Eval(&expr.Env{Doc: page}).Value().Type == "null"
}

// Name gives elements their IDs, and returns those of interest. An error says which part of a
// name is missing, or that two have one name. If these are on two pages, an element has moved
// perhaps, and changed, while the pages were read: another look can tell. Once ctx is done, a name that
// takes long is abandoned, which is an error, too.
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

// choose names elements, by what the first ones have if it is not given what names an element.
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

func (r *Reader) name(ctx context.Context, found []Element) (err error) {
	for i := range found {
		e := &found[i]
		if e.ID, err = r.id(ctx, e); err != nil {
			return fmt.Errorf("an element has no name: %w", err)
		}
	}
	return nil
}

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
