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

// listed is one element of the list in a response.
type listed struct {
	id   string    // name of the element; "" until listReader.name sets it
	json *expr.Doc // the element itself
	page int       // index of the page that holds the element; 0 for the first page
	doc  *expr.Doc // the page that contains the element
}

// A listReader reads the list elements, and their names, from the responses to one target.
type listReader struct {
	each    *expr.Each
	keys    []*expr.Expr         // expressions whose values form the name; nil means the key of an object member, or not chosen yet
	wants   func(id string) bool // reports whether the element named id is a target; nil means that every element is a target
	isArray bool                 // whether a response has contained an array with elements

	// partial explains why the last response may lack some elements. next is the member path or the header
	// field in which its last page names a further page. maybe is a weak sign of a further page, such as
	// ".count is 500". Each of the three is "" if it does not apply.
	partial, next, maybe string
}

// read returns the elements in all pages of o, with their ids still empty, and the last page. It sets partial,
// next and maybe. It returns an error if o is truncated, or if some page does not contain the list.
func (r *listReader) read(o *status.Observation) (found []listed, last *expr.Doc, err error) {
	if o.Truncated {
		return nil, nil, errors.New(o.Gap())
	}
	r.partial, r.next, r.maybe = "", "", ""
	if h := meaning.HTTPOf(o); h.Moved && !o.Start { // the response to a start request describes the operation, even after a redirect
		r.partial = "the list is from " + h.Redirect
	}
	if o.LeftOut {
		r.partial = "the function of Wrap returned no further pages"
	}
	var pages []*expr.Doc
	for page, body := range slices.Concat([][]byte{o.Body}, o.Pages) {
		last = expr.NewDoc(body)
		some, problem := r.elements(last)
		if page > 0 && problem == "" && len(some) == 0 && r.isNull(last) {
			problem = "the page before names this page, but the page holds no list"
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
	if each := r.each.String(); strings.HasPrefix(each, "..") || strings.Contains(each, "#(") { // the path selects only some elements, so a total in the page counts other elements, too
		held = math.MaxInt
	}
	header := o.Header // o has only the header of the first page
	for i, page := range pages {
		for _, h := range r.holders(page) {
			r.readHolder(h, header, held, i+1, i == len(pages)-1)
			header = nil
		}
	}
	if len(pages) > 1 { // the pages are being followed, so a guess about further pages is not needed
		r.maybe = ""
	}
	r.isArray = r.isArray || len(found) > 0 && found[0].json.Name() == ""
	return found, last, nil
}

// elements returns the list's elements in page, or a problem: the reason why page does not contain the list. An
// empty list is a problem, too, if the page contains an error. An empty object is a problem if earlier
// responses had an array, because the object may be an error response.
func (r *listReader) elements(page *expr.Doc) (found []*expr.Doc, problem string) {
	found, ofObject, problem := r.each.Elements(page)
	if problem != "" || len(found) > 0 {
		return found, problem
	}
	if r.isArray && ofObject {
		return nil, "an empty object is in place of the list"
	}
	for _, h := range r.holders(page) { // for example the "errors" member of a GraphQL response whose list is null
		if why := meaning.FailedMember(h.Doc); why != "" {
			return nil, "the list is empty, but there is " + h.path + why
		}
	}
	return nil, ""
}

// A holder is an object that may have members describing the list, such as a total or a next page: the page
// itself, or an object in the page.
type holder struct {
	*expr.Doc
	path string // path of the object within the page; "" for the page itself
}

// holders returns the page and, if the list is inside an object of the page, that object.
func (r *listReader) holders(page *expr.Doc) []holder {
	list, _, _ := strings.Cut(r.each.String(), "[]")
	path := list[:max(0, strings.LastIndex(list, "."))]
	if path == "" {
		return []holder{{Doc: page}}
	}
	return []holder{{Doc: page}, {Doc: expr.NewDoc([]byte(valueAt(page, path).Raw)), path: path}}
}

// isNull reports whether page has null in place of the list.
func (r *listReader) isNull(page *expr.Doc) bool {
	list, _, _ := strings.Cut(r.each.String(), "[]")
	return valueAt(page, cmp.Or(list, ".")).Type == "null"
}

// valueAt returns the value at path in page. It returns the zero value if path is not valid.
func valueAt(page *expr.Doc, path string) (v expr.Value) {
	if x, err := expr.CompileValue(path); err == nil {
		v = x.Eval(&expr.Env{Doc: page}).Value()
	}
	return v
}

// readHolder updates partial, next and maybe from the members of h. Values that are already set are kept. h and
// header belong to page n, counting from 1. held is the number of elements on all pages. isLast is true if page
// n is the last page.
func (r *listReader) readHolder(h holder, header http.Header, held, n int, isLast bool) {
	page := meaning.ReadPage(h.Doc, header)
	if path, total := page.Total(); total > held {
		r.partial = cmp.Or(r.partial, fmt.Sprintf("%s names %d elements", h.pathOf(path), total))
	}
	if member := page.Partial(); member != "" {
		r.partial = cmp.Or(r.partial, "there is "+h.pathOf(member))
	}
	if isLast {
		r.next = cmp.Or(r.next, h.pathOf(page.Next(n)))
	}
	r.maybe = cmp.Or(r.maybe, h.pathOf(page.Maybe(held)))
}

// pathOf returns the path of member, a path within h, from the root of the page. An argument that does not start with
// a dot is the name of a header field, or ""; pathOf returns it unchanged.
func (h holder) pathOf(member string) string {
	if strings.HasPrefix(member, ".") {
		return h.path + member
	}
	return member
}

// name sets the id of each element in found, and returns the elements that are targets. It returns an error if
// an element has no name, or if two targets have the same name.
//
// While the pages of a list are read, an element may move from one page to another. Therefore, equal elements
// on two pages count once. If two elements with the same name on different pages differ, name returns an error
// and moved is true, because the next attempt may succeed.
//
// If ctx is done, name stops evaluating a key that takes long, and returns an error.
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

// choose sets the id of each element in found. If r.keys is nil and the elements are not members of an object,
// choose first sets r.keys to the first of .id, .name and .metadata.name that gives every element a name.
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

// nameAll sets the id of each element in found according to r.keys. It returns an error if some element has no
// name.
func (r *listReader) nameAll(ctx context.Context, found []listed) (err error) {
	for i := range found {
		e := &found[i]
		if e.id, err = r.idOf(ctx, e); err != nil {
			return fmt.Errorf("an element has no name: %w", err)
		}
	}
	return nil
}

// idOf returns the name of e: the values of r.keys joined by slashes, or the key of the object member if r.keys
// is nil. Each value must be a number or a non-empty string; otherwise idOf returns an error.
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
