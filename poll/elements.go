package poll

import (
	"github.com/pollcli/poll/poll/internal/elements"
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
	// ended. It is called each time fewer are left, unless the list has started an operation. Nil means that the Poller's Probe always asks about all.
	Narrow func(keys []string) Probe
	// Alone looks at each element by itself, once an answer has listed them, as
	// [HTTP.FollowEach] says where.
	Alone bool
}

// An element is what is known of an element that is waited for, or was.
type element struct {
	now  *elements.Element // in the complete answer that held it last
	seen int               // the number of that answer, 0 for none
	page int               // of that answer
}

// appear notes whether the complete answer with that number holds the element.
func (w *wait) appear(answer int) status.Presence {
	if w.element.seen == answer {
		w.Absent = 0
		return status.Present
	}
	if w.Absent++; w.Shown && w.Absent > 1 {
		return status.Gone
	}
	return status.Missing
}

// observe returns what an answer says of the element, and whether that is another than before.
// page is where the element would be if it is absent.
func (w *wait) observe(answer *status.Observation, presence status.Presence, page *expr.Doc) (o status.Observation, changed bool) {
	began := w.loop.Start.Add(answer.Elapsed)
	o = *answer
	o.Attempt, o.Elapsed, o.Target = w.Attempts, max(0, began.Sub(w.Start)), w.p.Target
	o.Hint, o.Quota, o.Pages, o.Remarks = nil, nil, nil, nil
	o.Body, o.Within, o.Presence = nil, page, presence
	if presence == status.Present {
		o.Body, o.Within = []byte(w.element.now.Raw), w.element.now.Doc
	}
	w.element.now = nil // it holds on to the whole answer
	o.Size = int64(len(o.Body))
	changed = w.noteChange(&o)
	return o, changed
}

// Names returns what names each of the elements of an answer, as a wait does. An error says
// which part of a name is missing, or that two are equal.
func (e *Elements) Names(found []expr.Element) ([]string, error) {
	return elements.Names(e.Each, e.Keys, found)
}
