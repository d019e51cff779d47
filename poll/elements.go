package poll

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

	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/poll/internal/request"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A listed is an element of a list in a response.
type listed struct {
	id   string    // name of the element; "" before listReader.name has set it
	json *expr.Doc // the element itself
	page int       // index of the page that holds the element; 0 for the first page
	doc  *expr.Doc // the page
}

// A listReader reads the elements of the responses to one target, and the names of the elements.
type listReader struct {
	each    *expr.Each
	keys    []*expr.Expr         // values that form the name; nil for the key of a member, and before the first element
	wants   func(id string) bool // reports whether the element with this name is wanted; nil means all elements
	isArray bool                 // a response has had elements of an array

	// partial is the reason why the last response may not hold all elements. next is the path of the member, or the name
	// of the header field, by which its last page names a further page. maybe is a member that may mean that the
	// response is partial or has a further page. Each is "" without such a reason or member.
	partial, next, maybe string
}

// read returns the elements of the response o and of its further pages, and the last page. The elements have no names
// yet. It sets partial, next and maybe. It returns an error if o is truncated, or if a page does not hold the list.
func (r *listReader) read(o *status.Observation) (found []listed, last *expr.Doc, err error) {
	if o.Truncated {
		return nil, nil, errors.New(o.Gap())
	}
	r.partial, r.next, r.maybe = "", "", ""
	if h := meaning.Of(o); h.Moved && !o.Start { // the response to a start request is about the operation
		r.partial = "it is that of " + h.Redirect
	}
	if o.LeftOut {
		r.partial = "the function of Wrap returned no further pages"
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
			found = append(found, listed{json: e, page: page, doc: last})
		}
		pages = append(pages, last)
	}
	held := len(found)
	if each := r.each.String(); strings.HasPrefix(each, "..") || strings.Contains(each, "#(") { // a total counts other elements, too
		held = math.MaxInt
	}
	header := o.Header // only the first page has one
	for i, page := range pages {
		for _, h := range r.holders(page) {
			r.readHolder(h, header, held, i+1, i == len(pages)-1)
			header = nil
		}
	}
	if len(pages) > 1 { // poll follows the pages, so it needs no guess
		r.maybe = ""
	}
	r.isArray = r.isArray || len(found) > 0 && found[0].json.Name() == ""
	return found, last, nil
}

// elements returns the elements of page, or the reason why page has no list. An empty list next to an error is a problem,
// and so is an object without members after responses with an array: it may be the body of an error.
func (r *listReader) elements(page *expr.Doc) (found []*expr.Doc, problem string) {
	found, ofObject, problem := r.each.Elements(page)
	if problem != "" || len(found) > 0 {
		return found, problem
	}
	if r.isArray && ofObject {
		return nil, "an object without members is where a list was"
	}
	for _, h := range r.holders(page) { // such as the errors of GraphQL next to a member that is null
		if why := meaning.FailedMember(h.Bytes()); why != "" {
			return nil, "the list is empty, and there is " + h.path + why
		}
	}
	return nil, ""
}

// A holder is a document that holds the list: a page, or an object in a page.
type holder struct {
	*expr.Doc
	path string // path of the object in the page; "" for the page itself
}

// holders returns the page and, if the list is in an object of the page, that object.
func (r *listReader) holders(page *expr.Doc) []holder {
	list, _, _ := strings.Cut(r.each.String(), "[]")
	path := list[:max(0, strings.LastIndex(list, "."))]
	if path == "" {
		return []holder{{Doc: page}}
	}
	return []holder{{Doc: page}, {Doc: expr.NewDoc([]byte(valueAt(page, path).Raw)), path: path}}
}

// isNull reports whether page has null instead of the list.
func (r *listReader) isNull(page *expr.Doc) bool {
	list, _, _ := strings.Cut(r.each.String(), "[]")
	return valueAt(page, cmp.Or(list, ".")).Type == "null"
}

// valueAt returns the value at path in page. It returns the zero value if path cannot be compiled.
func valueAt(page *expr.Doc, path string) (v expr.Value) {
	if x, err := expr.CompileValue(path); err == nil {
		v = x.Eval(&expr.Env{Doc: page}).Value()
	}
	return v
}

// readHolder sets partial, next and maybe from h, if they are not set. h belongs to page n, and so does header. Pages count
// from 1. held is the number of elements on all pages. isLast reports whether page n is the last page.
func (r *listReader) readHolder(h holder, header http.Header, held, n int, isLast bool) {
	page := meaning.ReadPage(h.Bytes(), header)
	if path, total := page.Total(); total > held {
		r.partial = cmp.Or(r.partial, fmt.Sprintf("%s counts %d in all", h.pathOf(path), total))
	}
	if member := page.Partial(); member != "" {
		r.partial = cmp.Or(r.partial, "there is "+h.pathOf(member))
	}
	if isLast {
		r.next = cmp.Or(r.next, h.pathOf(page.Next(n)))
	}
	r.maybe = cmp.Or(r.maybe, h.pathOf(page.Maybe(held)))
}

// pathOf returns the path of a member of h in the page. It returns the name of a header field, and "", unchanged.
func (h holder) pathOf(member string) string {
	if strings.HasPrefix(member, ".") {
		return h.path + member
	}
	return member
}

// name sets the id of each element in found, and returns the elements that r.wants. It returns an error if a part of a
// name is missing, or if two wanted elements have the same name. Equal elements on two pages count once. If elements on
// two pages differ, moved is true: the element may have moved to another page, and changed, while the pages were read,
// so a further attempt may succeed. If ctx is done, name abandons a name that takes long, and returns an error.
func (r *listReader) name(ctx context.Context, found []listed) (wanted []listed, moved bool, err error) {
	if err := r.choose(ctx, found); err != nil {
		return nil, false, err
	}
	at := make(map[string]int, len(found))
	wanted = found[:0]
	for _, e := range found {
		n, twice := at[e.id]
		switch {
		case r.wants != nil && !r.wants(e.id):
		case !twice:
			at[e.id] = len(wanted)
			wanted = append(wanted, e)
		case wanted[n].page == e.page:
			return nil, false, fmt.Errorf("two elements are named %s", e.id)
		case !bytes.Equal(wanted[n].json.Bytes(), e.json.Bytes()):
			return nil, true, fmt.Errorf("two elements are named %s, on the pages %d and %d", e.id, wanted[n].page+1, e.page+1)
		}
	}
	return wanted, false, nil
}

// choose sets the id of each element in found. If neither keys nor the key of a member names the elements, it sets keys
// to the first of .id, .name and .metadata.name that names every element in found.
func (r *listReader) choose(ctx context.Context, found []listed) error {
	isMember := func(e listed) bool { return e.json.Name() != "" }
	if r.keys != nil || len(found) == 0 || slices.ContainsFunc(found, isMember) {
		return r.nameAll(ctx, found)
	}
	for _, source := range [...]string{".id", ".name", ".metadata.name"} {
		key, _ := expr.CompileValue(source)
		if r.keys = []*expr.Expr{key}; r.nameAll(ctx, found) == nil {
			return nil
		}
	}
	r.keys = nil
	if found[0].json.Bytes()[0] == '[' {
		return fmt.Errorf("the elements are lists, whose elements are %s", strings.TrimSuffix(strings.TrimSpace(r.each.String()), "[]")+"[][]")
	}
	return errors.New("not all elements have an .id, a .name or a .metadata.name")
}

// nameAll sets the id of each element in found, by r.keys. It returns the error of the first element without a name.
func (r *listReader) nameAll(ctx context.Context, found []listed) (err error) {
	for i := range found {
		e := &found[i]
		if e.id, err = r.idOf(ctx, e); err != nil {
			return fmt.Errorf("an element has no name: %w", err)
		}
	}
	return nil
}

// idOf returns the name of e: the values of r.keys, joined by slashes, or the key of e without keys. Each value must be a
// string that is not empty, or a number.
func (r *listReader) idOf(ctx context.Context, e *listed) (name string, err error) {
	if r.keys == nil {
		if name = e.json.Name(); name == "" {
			return "", errors.New("it is empty")
		}
		return name, nil
	}
	env := &expr.Env{Element: e.json, Context: ctx}
	parts := make([]string, len(r.keys))
	for i, key := range r.keys {
		if parts[i], err = request.TextOf(key, key.Eval(env).Value()); err != nil {
			return "", err
		}
	}
	return strings.Join(parts, "/"), nil
}
