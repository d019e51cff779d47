package poll

import (
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// Elements says which elements of a probe's answers are waited for. Only Each is required.
//
// The wait is over once all elements that are known have ended: at once if Known names them,
// or if Expect of them are known, and otherwise when two answers show no other, of which the
// second comes 5 s after the first or later, or is the last before the deadline. An element
// that an answer does not hold is NOT_READY. An answer that is not good, not complete, or
// holds no list is judged as a whole, and so is one that has two elements of one name, which
// is an ERROR.
type Elements struct {
	// Each is where the elements are in an answer.
	Each *expr.Each
	// Keys are the expressions whose values, joined by slashes, name an element. Nil means
	// the key of a member of an object and otherwise the first of .id, .name and
	// .metadata.name that all elements of the first answer have.
	Keys []*expr.Expr
	// Known names the elements that are waited for. Others are ignored. Nil means all that
	// there are.
	Known []string
	// Expect is how many elements there are at least. 0 means that this is not known: at least
	// one, unless MayBeNone.
	Expect    int
	MayBeNone bool
	// Whole means that an answer which tells of another page, as by .next_page_token, is not
	// taken for all of the list: it is NOT_READY. [HTTP.Next] sees to that by itself.
	Whole bool

	// Past holds, by key, the states of elements that this run goes on from; see
	// [Poller.Past]. They are known from the beginning.
	Past map[string]State

	// Narrow returns the probe that asks about these keys, some of Known, which have not
	// ended. It is called whenever that are fewer, but not once an operation was started: that
	// is followed. Nil means that the Poller's Probe always asks about all.
	Narrow func(keys []string) Probe
	// Alone looks at each element by itself, once an answer has listed them: the session has
	// to be a [Forker].
	Alone bool
}

// A Forker is a session whose answer lists operations that can be looked at one by one.
type Forker interface {
	Probe
	// Fork returns the session that looks at an element of the last answer from now on.
	Fork(element []byte) (Probe, error)
}

// An element is an element of an answer.
type element struct {
	expr.Element
	page int
	doc  *expr.Doc // the page
	sum  uint64    // the same for two elements only if they are equal
}

// A reader reads the elements of answers.
type reader struct {
	each *expr.Each
	keys []*expr.Expr // nil if the member's key is the name, or if no answer had an element
	seed maphash.Seed
	last *expr.Doc // the last page

	listed bool // elements of a list have been seen

	elements []element // of the last answer; their memory is used again
}

// read returns the elements of an answer, or says why they cannot be read.
func (r *reader) read(o *status.Observation) ([]element, error) {
	elements := r.elements[:0]
	for page := range len(o.Pages) + 1 {
		body := o.Body
		if page > 0 {
			body = o.Pages[page-1]
		}
		doc := expr.NewDoc(body)
		found, problem := r.each.Elements(doc)
		if problem == "" && len(found) == 0 && r.listed && r.each.Members(doc) {
			problem = "an object without members is where a list was"
		}
		if problem == "" && len(found) == 0 && status.Incomplete(doc.Bytes()) != "" { // as GraphQL has it, where what was asked for is null
			problem = "the list is empty, and there is " + status.Incomplete(doc.Bytes())
		}
		if problem != "" && page > 0 {
			return nil, fmt.Errorf("page %d: %s", page+1, problem)
		} else if problem != "" {
			return nil, errors.New(problem)
		}
		elements = slices.Grow(elements, len(found))
		for _, e := range found {
			elements = append(elements, element{e, page, doc, r.sum(e)})
		}
		r.last = doc
	}
	r.elements = elements
	r.listed = r.listed || len(elements) > 0 && elements[0].Name == ""
	return elements, nil
}

// forget lets go of the last answer.
func (r *reader) forget() {
	clear(r.elements)
	r.last = nil
}

// sum returns a hash of an element, never 0.
func (r *reader) sum(e expr.Element) uint64 {
	sum := maphash.String(r.seed, e.Raw)
	if e.Name != "" {
		sum = sum*31 + maphash.String(r.seed, e.Name)
	}
	return max(1, sum)
}

// choose chooses what names an element, if that is not given, by the first elements.
func (r *reader) choose(elements []element) error {
	isMember := func(e element) bool { return e.Name != "" }
	if r.keys != nil || len(elements) == 0 || slices.ContainsFunc(elements, isMember) {
		return nil
	}
	for _, source := range [...]string{".id", ".name", ".metadata.name"} {
		key, err := expr.CompileValue(source)
		if err != nil {
			panic(err)
		}
		r.keys = []*expr.Expr{key}
		if !hasProblem(r, elements) {
			return nil
		}
	}
	r.keys = nil
	if strings.HasPrefix(elements[0].Raw, "[") {
		return fmt.Errorf("the elements are lists, whose elements are %s", strings.TrimSuffix(strings.TrimSpace(r.each.String()), "[]")+"[][]")
	}
	return errors.New("not all elements have an .id, a .name or a .metadata.name")
}

func hasProblem(r *reader, elements []element) bool {
	for i := range elements {
		if _, err := r.key(&elements[i]); err != nil {
			return true
		}
	}
	return false
}

// key returns the name of an element.
func (r *reader) key(e *element) (string, error) {
	if r.keys == nil {
		if e.Name == "" {
			return "", errors.New("an element has no name: it is empty")
		}
		return e.Name, nil
	}
	var name strings.Builder
	for i, key := range r.keys {
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
func (e *Elements) Names(elements []expr.Element) ([]string, error) {
	r := reader{each: e.Each, keys: e.Keys}
	all := make([]element, len(elements))
	for i := range elements {
		all[i].Element = elements[i]
	}
	if err := r.choose(all); err != nil {
		return nil, err
	}
	names, taken := make([]string, len(all)), make(map[string]bool, len(all))
	for i := range all {
		name, err := r.key(&all[i])
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
