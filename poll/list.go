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

// Elements configures a list: a probe whose responses contain several elements, each of which is a target. Only
// the field Each is required.
//
// The wait for a list ends when all known elements have ended. If neither Known nor Expect is set, a second
// response must then confirm that there are no further elements. It must show the same elements, and its
// attempt must start at least 5 s later. For a Poller without Starting, the last attempt before the deadline
// may start earlier. A response that may be incomplete, for example after a redirect to another page, counts
// neither as the first nor as the second response.
//
// A response that is unsuccessful or incomplete, or that contains no list, is evaluated as a whole instead of
// element by element. If two elements on one page have the same name, the response is an ERROR.
type Elements struct {
	// Each is the path to the elements in a response.
	Each *expr.Each
	// Keys are the expressions that give an element its name: their values, joined by slashes. Nil means the
	// member's key if the elements are the members of an object. For the elements of an array, nil means the
	// first of .id, .name and .metadata.name that is present in all elements of the first response.
	Keys []*expr.Expr
	// Known lists the names of the elements that are targets; all other elements are ignored. Nil means that
	// every element is a target.
	Known []string
	// Expect is the minimum number of elements. 0 means that the number is unknown, but that there is at least
	// one element. A negative number means that there may be no elements.
	Expect int
	// Whole requires the whole list: a response that names a next page, for example in .next_page_token, is
	// then NOT_READY. If the list is not inside an object, setting [HTTP.Next] has the same effect. If a member
	// with an unusual name might name a next page, the [Summary] has a note about that member.
	Whole bool

	// Past holds the states of elements from an earlier run, by element name; see [Poller.Past]. These elements
	// are known from the start, before any response shows them.
	Past map[string]State

	// Narrow helps with APIs whose requests name the elements. It returns a probe that requests only the elements
	// with the given keys, the members of Known that have not ended. It is called each time some elements have
	// ended, unless a start request was sent. If it returns nil, the remaining elements end with Failed. If
	// Narrow is nil, every attempt uses the Poller's Probe, which requests all elements.
	Narrow func(keys []string) Probe
}

// A list handles responses that contain the states of several operations. One wait, the parent, makes the
// attempts and evaluates each response as a whole. Each element that is a target has a wait of its own, which
// evaluates only that element.
type list struct {
	Elements
	parent *wait
	reader listReader

	members        map[string]*element // by element name; includes elements that have ended
	waiting        []*wait             // waits of the elements that have not ended, in the order in which they were first seen
	responses      int                 // number of complete responses so far
	unconfirmed    int                 // number of consecutive complete responses after which some element's SUCCESS still had to be confirmed
	least          int                 // known minimum number of members
	lastComplete   bool                // whether the last response was complete
	countedMissing int                 // this list's part of score.missing, the count for the whole loop
}

// An element records the responses about one element that is, or was, a target.
type element struct {
	shown   bool        // whether any response has contained the element, even in an earlier run
	last    *conclusion // conclusion about the element, present or absent, from the last complete response
	changed int         // number of the last complete response that changed the conclusion
}

// newList returns the list whose attempts the wait parent makes, and stores the list in parent. The keys of the initial
// members are in Known. If Known is nil, the keys are in Past. atLeast is the group's AtLeast: if Known is nil, the
// list must have at least atLeast members.
func newList(parent *wait, atLeast int) *list {
	l := &list{Elements: *parent.p.Elements, parent: parent, members: make(map[string]*element)}
	l.reader = listReader{each: l.Each, keys: l.Keys, wants: l.wants}
	parent.classify, parent.list = l.classify, l
	keys, listed := l.Known, parent.Listed
	if keys == nil {
		keys = slices.Sorted(maps.Keys(l.Past))
	}
	for _, key := range keys {
		if l.members[key] == nil { // Known may contain a name twice
			l.join(key)
		}
	}
	if l.least = len(l.members); l.Known == nil {
		l.least = min(max(l.Expect, atLeast, 0), 1<<31-1) // the sum for several lists must not overflow
	}
	if !l.isCounted() {
		parent.Listed = l.listedBefore(listed)
	}
	return l
}

// listedBefore returns the time since which earlier runs have seen the same set of elements, or zero if that
// time is unknown. The argument listed is the Listed time in parent.Past. That time does not count if an
// element started later: parent.Past is then older than the State of that element, for example after a crash.
// If all elements have ended, and parent.Past does not describe the last list, the result is the end of the
// last element, or listed if that is earlier.
func (l *list) listedBefore(listed time.Time) (at time.Time) {
	isOpen := false
	for _, past := range l.Past {
		isOpen = isOpen || !past.Ended()
		if past.Start.After(listed) {
			listed = time.Time{}
		}
		if end := past.Start.Add(past.Elapsed); end.After(at) {
			at = earliest(end, time.Now()) // the clock of the earlier run may have been ahead
		}
	}
	if isOpen || l.parent.Keys != 0 { // the State describes the last list and its time
		return listed
	}
	return earliest(at, listed)
}

// wants reports whether the element named key is, or has to become, a target.
func (l *list) wants(key string) bool { return l.Known == nil || l.members[key] != nil }

// join adds the element named key to the targets, and returns its record.
func (l *list) join(key string) *element {
	p := l.parent.p
	p.Target = strings.Clone(key)
	p.Elements, p.Probe, p.Past, p.Starting = nil, nil, nil, nil
	if past, ok := l.Past[key]; ok {
		p.Past = &past
	}
	if l.responses > 1 {
		p.Start = time.Now()
	}
	w := newWait(l.parent.run, p)
	w.parent = l.parent
	w.deadline, w.budget, w.coach = l.parent.deadline, l.parent.budget, l.parent.coach
	w.Began = earliest(w.Began, w.Start)
	w.Attempts += min(l.responses, 1)
	w.element = &element{shown: w.Shown || w.Ended()}
	l.members[p.Target] = w.element
	l.waiting = append(l.waiting, w)
	l.parent.Listed = time.Time{}
	return w.element
}

// narrow replaces parent's probe by the probe that Narrow returns for the remaining elements. It does nothing if
// Narrow is nil, if a start request was sent, or if the current probe already requests just these elements.
// asked is the number of elements that the current probe requests.
func (l *list) narrow(asked int) {
	if l.Narrow == nil || len(l.waiting) == asked || l.parent.Sent > 0 { // a new probe would send the start request again
		return
	}
	keys := make([]string, len(l.waiting))
	for i, w := range l.waiting {
		keys[i] = w.p.Target
	}
	l.parent.setProbe(cmp.Or(l.Narrow(keys), Probe(failingProbe{err: errNoProbe})))
}

// isNews reports whether the last response was complete and changed the conclusion about w's element. Only then
// does the element get an EventAttempt.
func (l *list) isNews(w *wait) bool {
	return l.lastComplete && w.element.changed == l.responses
}

// classify evaluates a response as a whole and, if it is complete, element by element. It returns the verdict
// for the list as a whole, which is never SUCCESS.
func (l *list) classify(ctx context.Context, response *conclusion) status.Verdict {
	o := response.observation
	if !l.parent.rules.Admits(o) {
		return l.whole(ctx, *o, "")
	}
	found, last, err := l.reader.read(o)
	switch {
	case err != nil:
		return l.whole(ctx, *o, err.Error())
	case len(found) == 0 && !o.Good(): // a failed response does not show that the elements are absent
		return l.whole(ctx, *o, "")
	}
	switch next := l.reader.next; {
	case next == "" || !l.Whole || o.Complete:
	case o.Kind == status.KindCommand:
		words := next + " names another page: the command has to print all pages, and many commands have a flag for that"
		o.Page, o.Failure = len(o.Pages)+1, &status.Failure{Reason: words, Hints: []status.Hint{{Kind: status.HintNext}}}
		return l.whole(ctx, *o, "")
	default: // the request layer does not know which member is the list, so it could not detect the next page
		l.reader.partial = cmp.Or(l.reader.partial, next+" names another page")
	}
	found, moved, err := l.reader.name(ctx, found)
	if err != nil {
		v := status.Verdict{Status: status.Error, Reason: err.Error(), Hints: []status.Hint{{Kind: status.HintKey}}}
		if moved || ctx.Err() != nil {
			v.Status = status.NotReady
		}
		return v
	}
	present := l.note(found)
	v := status.Verdict{Status: status.NotReady, Reason: l.progress(o)}
	if !l.isCounted() && l.reader.partial != "" {
		v.Reason += "; there may be more: " + l.reader.partial
		v.Hints = []status.Hint{{Kind: status.HintExpect}}
	}
	for _, w := range l.waiting {
		if l.evaluate(ctx, response, w, present[w.p.Target], last); w.Status == status.Throttled {
			v.Status, v.Rule, v.Reason = status.Throttled, w.last.verdict.Rule, w.Reason
		}
	}
	// The list has one count for all elements. If each element had its own count, the schedule would restart
	// for each element that succeeds.
	if l.unconfirmed++; !slices.ContainsFunc(l.waiting, (*wait).isToConfirm) {
		l.unconfirmed = 0
	}
	return v
}

// whole evaluates a response as a whole, because its elements could not be read. problem explains why they
// could not be read; if it is "", the rules give the reason. The verdict is never SUCCESS.
func (l *list) whole(ctx context.Context, o status.Observation, problem string) status.Verdict {
	if problem != "" {
		o.Within, o.Presence, o.Body = expr.NewDoc(o.Body), status.UnknownPresence, nil
	}
	v := l.parent.verdict(ctx, &o)
	if v.Status == status.Success || v.Status == status.NotReady && problem != "" {
		v.Status, v.Rule, v.Reason = status.NotReady, "", cmp.Or(problem, meaning.StateText(&o))
	}
	return v
}

// note updates the records of the elements in found, the elements of a complete response. It adds new elements
// to the targets. It returns the elements of found by name.
func (l *list) note(found []listed) (present map[string]*listed) {
	l.responses++
	l.lastComplete = true
	present = make(map[string]*listed, len(found))
	keys := uint32(1) // starts at 1, because 0 means unknown
	for i := range found {
		keys += crc32.ChecksumIEEE([]byte(found[i].id)) // a sum is independent of the order of the elements
		e := l.members[found[i].id]
		if e == nil {
			e = l.join(found[i].id)
		}
		if !e.shown {
			e.shown, e.changed = true, l.responses
		}
		present[found[i].id] = &found[i]
	}
	if l.parent.Keys != 0 && l.parent.Keys != keys {
		l.parent.Listed = time.Time{}
	}
	l.parent.Keys = keys
	return present
}

// evaluate evaluates the rules on w's element in a complete response. current is the element, or nil if no page
// contains the element. The rules can then read last, the last page of the response.
func (l *list) evaluate(ctx context.Context, response *conclusion, w *wait, current *listed, last *expr.Doc) {
	e, o := w.element, l.view(response.observation, w, current, last)
	changed := w.noteChange(&o, time.Now())
	v := w.verdict(ctx, &o)
	l.parent.coach.Add(&o, &v)
	if e.last == nil || changed || e.last.verdict.Status != v.Status || e.last.verdict.Reason != v.Reason {
		o.Body = bytes.Clone(o.Body) // a copy, so that the memory of the page can be released
		e.last, e.changed = &conclusion{observation: &o}, l.responses
	}
	e.last.verdict, e.last.begun, e.last.took = v, response.begun, response.took
	w.record(e.last)
}

// view returns the observation of w's element, derived from the observation of a complete response. If the
// response lacks the element, the observation's Presence is Missing, or Gone if the element was shown before
// and two consecutive complete responses lack it.
func (l *list) view(response *status.Observation, w *wait, current *listed, last *expr.Doc) status.Observation {
	o := *response
	o.Attempt, o.Target = w.Attempts, w.p.Target
	o.Elapsed = max(0, l.parent.Start.Add(o.Elapsed).Sub(w.Start))
	o.RetryAfter, o.Quota, o.Pages, o.Hints = nil, nil, nil, nil
	o.Body, o.Within, o.Presence = nil, last, status.Missing
	if w.Absent++; l.reader.partial != "" {
		w.Absent = 0
	}
	switch {
	case current != nil:
		o.Body, o.Within, o.Presence = current.json.Bytes(), current.doc, status.Present
		w.Shown, w.Absent = true, 0
	case w.Shown && w.Absent > 1:
		o.Presence = status.Gone
	}
	o.Size = int64(len(o.Body))
	return o
}

// missing returns how many more elements must appear before the list can be complete.
func (l *list) missing() int {
	least := l.least
	if l.Known == nil && l.Expect == 0 {
		least = max(least, 1)
	}
	return max(0, least-len(l.members))
}

// progress returns a human-readable message: how many elements have been seen, and why there may be more.
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

// confirmDelay is the time after which a list is certain to show every existing element. If the number of
// elements is unknown, a second attempt has to show the same elements, and must start at least confirmDelay
// after the first response. If the deadline is nearer, the attempts follow the schedule, and the last attempt
// counts as the second attempt.
const confirmDelay = 5 * time.Second

// checkComplete reports whether the list is complete: all its elements have ended, and no further elements are
// to be expected. It sets parent.Listed to the time of the first response that showed such a list. If the
// number of elements is unknown, a later response must show the same list. lastAttempt is true if no further
// attempt is planned.
func (l *list) checkComplete(lastAttempt bool) bool {
	if l.parent.last.isOutdated { // a response from a cache that predates an earlier response does not count
		return false
	}
	if len(l.waiting) > 0 || !l.showsAll() {
		l.parent.Listed = time.Time{}
		return false
	}
	if l.parent.Listed.IsZero() {
		l.parent.Listed, l.parent.Evidence, lastAttempt = time.Now(), l.parent.evidence(), false
	}
	return l.isCounted() || lastAttempt && !l.confirms() || l.parent.last.begun.Sub(l.parent.Listed) >= confirmDelay
}

// isCounted reports whether Known or Expect gives the number of elements.
func (l *list) isCounted() bool { return l.Known != nil || l.Expect > 0 }

// showsAll reports whether the last response may have contained all elements.
func (l *list) showsAll() bool {
	return l.lastComplete && l.missing() == 0 && (l.isCounted() || l.reader.partial == "")
}

// confirms reports whether the next attempt serves only to confirm the list, and there is enough time for that
// attempt before the deadline. With Poller.Starting, it ignores the deadline, because a later run can confirm
// the list. The attempt is expected to take as long as the median attempt or the last attempt, whichever is
// shorter.
func (l *list) confirms() bool {
	end, takes := l.parent.deadline, min(l.parent.median(), l.parent.last.took)
	wait := max(0, confirmDelay-time.Since(l.parent.Listed))
	return !l.parent.Listed.IsZero() && (end.IsZero() || l.parent.p.Starting != nil || wait+takes < time.Until(end))
}

// listing returns the contribution of the list to the plan for the next attempt.
func (l *list) listing(now time.Time) listing {
	of := listing{streak: l.unconfirmed, hold: l.parent.timeToHold(now)}
	if l.confirms() {
		of.confirmAt = l.parent.Listed.Add(confirmDelay)
	}
	for _, w := range l.waiting { // the longest time, so that one attempt can confirm all elements
		of.hold = max(of.hold, w.timeToHold(now))
	}
	return of
}

// mayHaveMore reports whether the list may contain targets that no response has shown yet.
func (l *list) mayHaveMore() bool {
	return l.missing() > 0 || len(l.waiting) == 0 && l.Known == nil
}
