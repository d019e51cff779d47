package poll

import (
	"errors"
	"fmt"
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
	// Alone looks at each element by itself, once an answer has listed them, as
	// [HTTP.FollowEach] says where.
	Alone bool
}

// An element is an element of an answer.
type element struct {
	expr.Element
	page int
	doc  *expr.Doc // the page
}

// A member is an element that is waited for.
type member struct {
	*wait          // nil once it has ended
	name  string   // its key
	own   *judged  // by its element, or by the lack of it
	now   *element // in the last complete answer, nil if it is not there
	seen  int      // the number of the complete answer that held it last, 0 for none
	page  int      // of that answer
}

// appear notes whether the complete answer with that number holds the member.
func (m *member) appear(answer int) status.Presence {
	if m.seen == answer {
		m.Absent = 0
		return status.Present
	}
	m.now = nil
	if m.Absent++; m.Shown && m.Absent > 1 {
		return status.Gone
	}
	return status.Missing
}

// observe returns what an answer says of the member, and whether that is another than before.
// page is where the member would be if it is absent.
func (m *member) observe(answer *status.Observation, presence status.Presence, page *expr.Doc) (o status.Observation, changed bool) {
	began := m.loop.Start.Add(answer.Elapsed)
	o = *answer
	o.Attempt, o.Elapsed, o.Target = m.Attempts, max(0, began.Sub(m.Start)), m.name
	o.Hint, o.Quota, o.Pages, o.Remarks = nil, nil, nil, nil
	o.Body, o.Within, o.Presence = nil, page, presence
	if m.now != nil {
		o.Body, o.Within = []byte(m.now.Raw), m.now.doc
	}
	o.Size = int64(len(o.Body))
	changed = m.noteChange(&o)
	return o, changed
}

// A reader reads the elements of answers.
type reader struct {
	each   *expr.Each
	keys   []*expr.Expr // nil if the member's key is the name, or if no answer had an element
	listed bool         // elements of a list have been seen
}

// read returns the elements of an answer, and its last page, or says why they cannot be read.
func (r *reader) read(o *status.Observation) (elements []element, last *expr.Doc, err error) {
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
			elements = append(elements, element{e, page, last})
		}
	}
	r.listed = r.listed || len(elements) > 0 && elements[0].Name == ""
	return elements, last, nil
}

// elements returns the elements of a page, or what is wrong with that.
func (r *reader) elements(page *expr.Doc) (found []expr.Element, problem string) {
	found, problem = r.each.Elements(page)
	if problem != "" || len(found) > 0 {
		return found, problem
	}
	if r.listed && r.each.Members(page) {
		return nil, "an object without members is where a list was"
	}
	if why := status.Incomplete(page.Bytes()); why != "" { // as GraphQL has it, where what was asked for is null
		return nil, "the list is empty, and there is " + why
	}
	return nil, ""
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
