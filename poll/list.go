package poll

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// Elements describes the elements of a probe's responses that are targets. Only Each is required.
//
// The wait is over once all known elements have ended. With Known or Expect it is over at once then. Otherwise a
// second response must show the same elements: from an attempt that starts at least 5 s later, or from the last
// attempt before the deadline if the deadline is nearer. A response that may be incomplete, such as a redirect
// to another page, does not count as one of the two responses. A response that is not successful, not complete,
// or has no list is evaluated as a whole. So is a response with two elements of the same name, which is an
// ERROR.
type Elements struct {
	// Each is the path of the elements in a response.
	Each *expr.Each
	// Keys are the expressions whose values, joined by slashes, name an element. Nil means the key of a member of
	// an object. For an array nil means the first of .id, .name and .metadata.name that all elements of the first
	// response have.
	Keys []*expr.Expr
	// Known has the keys of the elements that are targets; the wait ignores all other elements. Nil means all
	// elements.
	Known []string
	// Expect is the least number of elements. 0 means that the number is unknown, but at least 1. A negative number
	// means that the list may be empty.
	Expect int
	// Whole is true if a response that names another page, as by .next_page_token, does not hold the whole list: it
	// is NOT_READY. [HTTP.Next] has the same effect without Whole if the list is not within an object. If a member
	// with an unfamiliar name may name another page, the [Summary] has a note about the member.
	Whole bool

	// Past has the states of elements that this run continues, by key; see [Poller.Past]. These elements are known
	// before the first response.
	Past map[string]State
	// Resumed is true if a later run continues this run. If the number of elements is unknown, the last attempt
	// before the deadline then does not count as the second response: the later run makes a further attempt.
	Resumed bool

	// Narrow returns the probe that requests only the elements with keys, which are members of Known that have not
	// ended. It is called each time fewer elements are left, unless the list has started an operation. If it
	// returns nil, the elements have Failed. Without Narrow the Poller's Probe always requests all elements.
	Narrow func(keys []string) Probe
}

// A list belongs to a wait whose responses hold the states of several operations. This wait, the lead, sets the
// schedule and evaluates each response as a whole. Each element that is a target has a wait that evaluates the
// element.
type list struct {
	Elements
	lead   *wait
	reader listReader

	members        map[string]*element // by key, also those that have ended
	waiting        []*wait             // the waits of elements that have not ended, in order of appearance
	responses      int                 // the number of complete responses so far
	unconfirmed    int                 // how many of the last of them in a row have left SUCCESS of an element to be confirmed
	least          int                 // the least number of members, as far as it is known
	lastComplete   bool                // the last response was complete
	countedMissing int                 // the last result of missing that the loop has counted
}

// An element is the record of an element that is a target, or was a target.
type element struct {
	current *listed     // in the complete response that is being evaluated
	seen    int         // the number of the last complete response with the element, 0 without such a response
	shown   bool        // a response has held the element, perhaps in an earlier run
	last    *conclusion // about the element or its absence, from the last complete response
	changed int         // the number of the last complete response that changed the conclusion
}

// newList returns the list of the wait lead, with the known elements as its first members. atLeast is AtLeast of the group.
func newList(lead *wait, atLeast int) *list {
	l := &list{Elements: *lead.p.Elements, lead: lead, members: make(map[string]*element)}
	l.reader = listReader{each: l.Each, keys: l.Keys, wants: l.wants}
	lead.classify, lead.list = l.classify, l
	keys, listed := l.Known, lead.Listed
	if keys == nil {
		keys = slices.Sorted(maps.Keys(l.Past))
	}
	for _, key := range keys {
		if l.members[key] == nil { // a key may be named twice
			l.join(key)
		}
	}
	if l.least = len(l.members); l.Known == nil {
		l.least = max(l.Expect, atLeast, 0)
	}
	if !l.isCounted() {
		lead.Listed = l.listedBefore(listed)
	}
	return l
}

// listedBefore returns the time since which earlier runs saw the same elements, zero if it is unknown. listed is
// the Listed of the lead's Past, which may be older than the States of the elements if that run was killed. If
// the lead's Past does not know the last list, the time is at most the time when the last element ended.
func (l *list) listedBefore(listed time.Time) (at time.Time) {
	isOpen := false
	for _, past := range l.Past {
		isOpen = isOpen || !past.Ended()
		if past.Start.After(listed) {
			listed = time.Time{}
		}
		if end := past.Start.Add(past.Elapsed); end.After(at) {
			at = earliest(end, time.Now()) // the clock of an earlier run may have been ahead
		}
	}
	if isOpen || l.lead.Keys != 0 { // the State has the last list and its time
		return listed
	}
	return earliest(at, listed)
}

// wants reports whether the element with a key is a target.
func (l *list) wants(key string) bool { return l.Known == nil || l.members[key] != nil }

// join makes the element with a key a target.
func (l *list) join(key string) *element {
	p := l.lead.p
	p.Target = strings.Clone(key)
	p.Elements, p.Probe, p.Past, p.Starting = nil, nil, nil, nil
	if past, ok := l.Past[key]; ok {
		p.Past = &past
	}
	if l.responses > 1 {
		p.Start = time.Now()
	}
	w := newWait(l.lead.run, p)
	w.lead = l.lead
	w.deadline, w.budget, w.coach = l.lead.deadline, l.lead.budget, l.lead.coach
	w.Began = earliest(w.Began, w.Start)
	w.Attempts += min(l.responses, 1)
	w.element = &element{shown: w.Shown || w.Ended()}
	l.members[p.Target] = w.element
	l.waiting = append(l.waiting, w)
	l.lead.Listed = time.Time{}
	return w.element
}

// narrow makes the probe request only the elements that have not ended, if there is a Narrow. asked is how many elements the
// probe requests.
func (l *list) narrow(asked int) {
	if l.Narrow == nil || len(l.waiting) == asked || l.lead.Sent > 0 { // a start request is not sent again
		return
	}
	keys := make([]string, len(l.waiting))
	for i, w := range l.waiting {
		keys[i] = w.p.Target
	}
	l.lead.use(cmp.Or(l.Narrow(keys), Probe(impossible{err: errNoProbe})))
}

// isNews reports whether the last response was complete and changed the element of w: then the element has an
// EventAttempt.
func (l *list) isNews(w *wait) bool {
	return l.lastComplete && w.element.changed == l.responses
}

// classify evaluates a response as a whole and, if the response is complete, for each element. It returns the
// verdict of the list, which is never SUCCESS.
func (l *list) classify(ctx context.Context, response *conclusion) status.Verdict {
	o := response.observation
	if !l.lead.p.Rules.Admits(o) {
		return l.whole(ctx, *o, "")
	}
	found, last, err := l.reader.read(o)
	switch {
	case err != nil:
		return l.whole(ctx, *o, err.Error())
	case len(found) == 0 && !o.Good(): // a failure does not show that elements are absent
		return l.whole(ctx, *o, "")
	}
	switch next := l.reader.next; {
	case next == "" || !l.Whole || o.Complete:
	case o.Kind == status.KindCommand:
		words := next + " names another page: a command has to print all, as many do by a flag"
		o.Page, o.Failure = len(o.Pages)+1, &status.Failure{Reason: words, Advice: status.Advice{Code: status.AdviceNext}}
		return l.whole(ctx, *o, "")
	default: // the request layer does not know where the list is, and cannot see this
		l.reader.partial = cmp.Or(l.reader.partial, next+" names another page")
	}
	found, moved, err := l.reader.name(ctx, found)
	if err != nil {
		v := status.Verdict{Status: status.Error, Reason: err.Error(), Advice: status.Advice{Code: status.AdviceKey}}
		if moved || ctx.Err() != nil {
			v.Status = status.NotReady
		}
		return v
	}
	l.note(found)
	v := status.Verdict{Status: status.NotReady, Reason: l.progress(o)}
	if !l.isCounted() && l.reader.partial != "" {
		v.Reason += "; there may be more: " + l.reader.partial
		v.Advice.Code = status.AdviceExpect
	}
	for _, w := range l.waiting {
		if l.evaluate(ctx, response, w, last); w.Status == status.Throttled {
			v.Status, v.Rule, v.Reason = status.Throttled, w.last.verdict.Rule, w.Reason
		}
	}
	// The number belongs to the list: with numbers of its elements, the schedule would restart for each element that is
	// done.
	if l.unconfirmed++; !slices.ContainsFunc(l.waiting, (*wait).isToConfirm) {
		l.unconfirmed = 0
	}
	return v
}

// whole evaluates a response whose elements cannot be read. problem is the reason why; "" if the rules give the
// reason. The verdict is never SUCCESS.
func (l *list) whole(ctx context.Context, o status.Observation, problem string) status.Verdict {
	if problem != "" {
		o.Within, o.Presence, o.Body = expr.NewDoc(o.Body), status.UnknownPresence, nil
	}
	v := l.lead.verdict(ctx, &o)
	if v.Status == status.Success || v.Status == status.NotReady && problem != "" {
		v.Status, v.Rule, v.Reason, v.Notes = status.NotReady, "", cmp.Or(problem, meaning.Stated(&o)), nil
	}
	return v
}

// note records the elements that a complete response holds, and makes new elements targets.
func (l *list) note(found []listed) {
	l.responses++
	l.lastComplete = true
	keys := uint32(1) // 0 means unknown
	for i := range found {
		keys += crc32.ChecksumIEEE([]byte(found[i].id)) // a sum does not depend on the order
		e := l.members[found[i].id]
		if e == nil {
			e = l.join(found[i].id)
		}
		if !e.shown {
			e.shown, e.changed = true, l.responses
		}
		e.seen, e.current = l.responses, &found[i]
	}
	if l.lead.Keys != 0 && l.lead.Keys != keys {
		l.lead.Listed = time.Time{}
	}
	l.lead.Keys = keys
}

// evaluate evaluates the rules of w on its element in a complete response. last is the last page of the response,
// which holds the element if no earlier page does.
func (l *list) evaluate(ctx context.Context, response *conclusion, w *wait, last *expr.Doc) {
	e, o := w.element, l.view(response.observation, w, last)
	changed := w.noteChange(&o, time.Now())
	v := w.verdict(ctx, &o)
	l.lead.coach.Add(&o, &v)
	if e.last == nil || changed || e.last.verdict.Status != v.Status || e.last.verdict.Reason != v.Reason {
		o.Body = bytes.Clone(o.Body) // without the page
		e.last, e.changed = &conclusion{observation: &o}, l.responses
	}
	e.last.verdict, e.last.begun, e.last.took = v, response.begun, response.took
	w.record(e.last)
}

// view returns the observation of the element of w in a complete response.
func (l *list) view(response *status.Observation, w *wait, last *expr.Doc) status.Observation {
	o, e := *response, w.element
	o.Attempt, o.Target = w.Attempts, w.p.Target
	o.Elapsed = max(0, l.lead.Start.Add(o.Elapsed).Sub(w.Start))
	o.Hint, o.Quota, o.Pages, o.Remarks = nil, nil, nil, nil
	o.Body, o.Within, o.Presence = nil, last, status.Missing
	if w.Absent++; l.reader.partial != "" {
		w.Absent = 0
	}
	switch {
	case e.seen == l.responses:
		o.Body, o.Within, o.Presence = e.current.json.Bytes(), e.current.doc, status.Present
		w.Shown, w.Absent = true, 0
	case w.Shown && w.Absent > 1:
		o.Presence = status.Gone
	}
	e.current = nil // it would keep the whole response in memory
	o.Size = int64(len(o.Body))
	return o
}

// missing returns how many more elements the list needs before it can be complete.
func (l *list) missing() int {
	least := l.least
	if l.Known == nil && l.Expect == 0 {
		least = max(least, 1)
	}
	return max(0, least-len(l.members))
}

// progress returns the number of elements so far, and why there may be more, for people.
func (l *list) progress(o *status.Observation) string {
	shown := 0
	for _, e := range l.members {
		if e.shown {
			shown++
		}
	}
	seen := words.Count(shown, "element")
	if shown < l.least {
		seen += fmt.Sprintf(", %d expected", l.least)
	}
	if o.Doubt != "" {
		seen += "; " + o.Doubt
	}
	return seen
}

// confirmDelay is the time after which a list surely shows an existing element. If the number of elements is
// unknown, a second attempt, started at least confirmDelay after the first response, has to show the same
// elements. If the deadline is nearer, the attempts follow the schedule, and the last attempt counts as the
// second.
const confirmDelay = 5 * time.Second

// checkComplete reports whether the last responses show that no further element has to be waited for. It sets
// Listed to the time of the first such response. If the number of elements is unknown, all such responses hold
// the same elements. lastLook is true if no further attempt is planned.
func (l *list) checkComplete(lastLook bool) bool {
	if l.lead.last.isOutdated { // an outdated response does not count
		return false
	}
	if len(l.waiting) > 0 || !l.showsAll() {
		l.lead.Listed = time.Time{}
		return false
	}
	if l.lead.Listed.IsZero() {
		l.lead.Listed, l.lead.Evidence, lastLook = time.Now(), l.lead.evidence(), false
	}
	return l.isCounted() || lastLook && !l.confirms() || l.lead.last.begun.Sub(l.lead.Listed) >= confirmDelay
}

// isCounted reports whether the number of elements is known, by Known or Expect.
func (l *list) isCounted() bool { return l.Known != nil || l.Expect > 0 }

// showsAll reports whether the last response may hold all elements.
func (l *list) showsAll() bool {
	return l.lastComplete && l.missing() == 0 && (l.isCounted() || l.reader.partial == "")
}

// confirms reports whether the next attempt only has to show the same elements, and fits before the deadline.
// The attempt needs the median duration of an attempt, or the duration of the last attempt if that is shorter.
func (l *list) confirms() bool {
	end, takes := l.lead.deadline, min(l.lead.median(), l.lead.last.took)
	wait := max(0, confirmDelay-time.Since(l.lead.Listed))
	return !l.lead.Listed.IsZero() && (end.IsZero() || l.Resumed || wait+takes < time.Until(end))
}

// listing returns the part of the plan for the next attempt that depends on the list.
func (l *list) listing(now time.Time) listing {
	of := listing{streak: l.unconfirmed, hold: l.lead.toHold(now)}
	if l.confirms() {
		of.confirmAt = l.lead.Listed.Add(confirmDelay)
	}
	for _, w := range l.waiting { // one attempt then confirms all elements
		of.hold = max(of.hold, w.toHold(now))
	}
	return of
}

// mayHaveMore reports whether the list may hold targets that are not known yet.
func (l *list) mayHaveMore() bool {
	return l.missing() > 0 || len(l.waiting) == 0 && l.Known == nil
}
