package poll

import (
	"cmp"
	"context"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll/internal/elements"
	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// Elements says which elements of a probe's answers are waited for. Only Each is required.
//
// The wait is over once all elements that are known have ended. With Known or Expect, that is as
// soon as they have. Otherwise a second look must show the same elements: 5 s later, or the last one
// before the deadline if that is nearer. An answer that may not hold all, such as one behind a
// redirect to another page, does not count as either of the two looks. An element that an answer
// does not hold is NOT_READY. An answer that is not good, not complete, or holds no list is judged
// as a whole, and so is one that has two elements of one name, which is an ERROR.
type Elements struct {
	// Each is the path of the elements in an answer.
	Each *expr.Each
	// Keys are the expressions whose values, joined by slashes, name an element. Nil means
	// the key of a member of an object and otherwise the first of .id, .name and
	// .metadata.name that all elements of the first answer have.
	Keys []*expr.Expr
	// Known names the elements to wait for. Others are ignored. Nil means all elements.
	Known []string
	// Expect is how many elements there are at least. 0 means that this is not known: at least
	// one. A negative number means that there may be none.
	Expect int
	// Whole means that an answer which names another page, as by .next_page_token, does not
	// hold all of the list: it is NOT_READY. [HTTP.Next] does that by itself where the list
	// is not within an object. A member that may name another page, by a name that poll does not know, is a note of the
	// [Summary].
	Whole bool

	// Past holds, by key, the states of elements that this run goes on from; see
	// [Poller.Past]. They are known from the beginning.
	Past map[string]State
	// Resumed means that a later run continues this one. Where the number of elements is unknown,
	// the last look before the deadline then does not count as the second one: the later run looks.
	Resumed bool

	// Narrow returns the probe that asks about these keys, some of Known, which have not
	// ended. It is called each time fewer are left, unless the list has started an operation. The
	// elements have Failed if it returns nil. Without Narrow the Poller's Probe always asks about all.
	Narrow func(keys []string) Probe
}

// A list is what a source has whose answers hold the states of several operations. A wait of
// its own sets the schedule and judges each answer as a whole. Each element that is waited for
// has a wait that judges the element.
type list struct {
	Elements
	lead   *wait
	reader elements.Reader

	members          map[string]*element // by key, also those that have ended
	waiting          []*wait             // of elements that have not ended, in order of appearance
	completeAnswers  int                 // complete ones so far
	shownCount       int                 // how many members they have held
	least            int                 // how many members there are at least, as far as that is known
	asked            int                 // how many of Known the probe asks about
	lastComplete     bool                // the last answer was complete
	firstUnconfirmed int                 // the number of the first complete answer after which SUCCESS was to be confirmed, 0 for none
	countedMissing   int                 // what missing was when the loop last counted it
}

// An element is what is known of an element that is waited for, or was.
type element struct {
	current       *elements.Element // in the complete answer that is judged
	lastAnswer    int               // the number of the last complete answer that held it, 0 for none
	shown         bool              // an answer has held it, perhaps in an earlier run
	lastJudged    *judgement        // the last attempt by the element, or by the lack of it
	changedAnswer int               // the number of the last complete answer that changed lastJudged
}

// listedBefore returns the time from which earlier runs saw the same elements, or at which the last element ended,
// if the Past of the lead does not hold what the last list has shown; zero for none. listed is the Listed of the
// lead's Past. It may be older than the States of the elements, if that run was killed.
func (l *list) listedBefore(listed time.Time) (at time.Time) {
	isOpen := false
	for _, past := range l.Past {
		isOpen = isOpen || !past.Ended()
		if past.Start.After(listed) {
			listed = time.Time{}
		}
		if end := past.Start.Add(past.Elapsed); end.After(at) {
			at = earliest(end, time.Now()) // a clock may have been ahead
		}
	}
	if isOpen || l.lead.Keys != 0 { // it is known what the last list has shown, and when
		return listed
	}
	return earliest(at, listed)
}

// wants reports whether an element is one to wait for.
func (l *list) wants(key string) bool { return l.Known == nil || l.members[key] != nil }

// join makes an element a target.
func (l *list) join(key string) *element {
	p := l.lead.p
	p.Target = strings.Clone(key)
	p.Elements, p.Probe, p.Past, p.Starting = nil, nil, nil, nil
	if past, ok := l.Past[key]; ok {
		p.Past = &past
	}
	if l.completeAnswers > 1 {
		p.Start = time.Now()
	}
	w := newWait(l.lead.run, p)
	w.lead = l.lead
	w.deadline, w.budget, w.coach = l.lead.deadline, l.lead.budget, l.lead.coach
	w.Began = earliest(w.Began, w.Start)
	w.Attempts += min(l.completeAnswers, 1)
	w.element = &element{shown: w.Shown || w.Ended()}
	if w.element.shown {
		l.shownCount++
	}
	l.members[p.Target] = w.element
	l.waiting = append(l.waiting, w)
	l.lead.Listed = time.Time{}
	return w.element
}

// narrow asks only about the members that have not ended from now on.
func (l *list) narrow() {
	if l.Narrow == nil || len(l.waiting) == l.asked || l.lead.Sent > 0 { // what was started is not started again
		return
	}
	keys := make([]string, len(l.waiting))
	for i, w := range l.waiting {
		keys[i] = w.p.Target
	}
	l.asked = len(keys)
	l.lead.use(cmp.Or(l.Narrow(keys), Probe(impossible{err: errNoProbe})))
}

// isNews reports whether the last answer calls for an EventAttempt of an element.
func (l *list) isNews(w *wait) bool {
	return l.lastComplete && w.element.changedAnswer == l.completeAnswers
}

// classify judges an answer as a whole and, if it is complete, the members by it.
func (l *list) classify(ctx context.Context, answer *judgement) status.Verdict {
	o := answer.observation
	if !l.lead.p.Rules.Admits(o) {
		return l.whole(ctx, *o, "")
	}
	found, last, err := l.reader.Read(o)
	switch {
	case err != nil:
		return l.whole(ctx, *o, err.Error())
	case len(found) == 0 && !o.Good(): // of what it lacks it says nothing
		return l.whole(ctx, *o, "")
	}
	switch next := l.reader.Next; {
	case next == "" || !l.Whole || o.Complete:
	case o.Kind == status.KindCommand:
		words := next + " names another page: a command has to print all, as many do by a flag"
		o.Page, o.Failure = len(o.Pages)+1, &status.Failure{Reason: words, Advice: status.Advice{Code: status.AdviceNext}}
		return l.whole(ctx, *o, "")
	default: // what the request layer does not see, since it does not know where the list is
		l.reader.Partial = cmp.Or(l.reader.Partial, next+" names another page")
	}
	found, moved, err := l.reader.Name(ctx, found)
	if err != nil {
		v := status.Verdict{Status: status.Error, Reason: err.Error(), Advice: status.Advice{Code: status.AdviceKey}}
		if moved || ctx.Err() != nil {
			v.Status = status.NotReady
		}
		return v
	}
	l.note(found)
	v := status.Verdict{Status: status.NotReady, Reason: l.progress(o)}
	if !l.isCounted() && l.reader.Partial != "" {
		v.Reason += "; there may be more: " + l.reader.Partial
		v.Advice.Code = status.AdviceExpect
	}
	for _, w := range l.waiting {
		if l.judge(ctx, answer, w, last); w.Status == status.Throttled {
			v.Status, v.Rule, v.Reason = status.Throttled, w.last.verdict.Rule, w.Reason
		}
	}
	return v
}

// whole judges an answer whose elements cannot be read. Whatever it is, it is no SUCCESS.
func (l *list) whole(ctx context.Context, o status.Observation, problem string) status.Verdict {
	if problem != "" {
		o.Within, o.Presence, o.Body = expr.NewDoc(o.Body), status.UnknownPresence, nil
	}
	v := l.lead.verdict(ctx, o)
	if v.Status == status.Success || v.Status == status.NotReady && problem != "" {
		v.Status, v.Rule, v.Reason, v.Notes = status.NotReady, "", cmp.Or(problem, meaning.Statement(&o)), nil
	}
	return v
}

// note notes which elements a complete answer holds, and makes those members that are new.
func (l *list) note(found []elements.Element) {
	l.completeAnswers++
	l.lastComplete = true
	keys := uint32(1) // 0 is not known
	for i := range found {
		keys += crc32.ChecksumIEEE([]byte(found[i].ID)) // whatever their order
		e := l.members[found[i].ID]
		if e == nil {
			e = l.join(found[i].ID)
		}
		if !e.shown {
			e.shown, e.changedAnswer = true, l.completeAnswers
			l.shownCount++
		}
		e.lastAnswer, e.current = l.completeAnswers, &found[i]
	}
	if l.lead.Keys != 0 && l.lead.Keys != keys {
		l.lead.Listed = time.Time{}
	}
	l.lead.Keys = keys
}

// judge judges a target by its element in a complete answer, whose last page is where it
// would be.
func (l *list) judge(ctx context.Context, answer *judgement, w *wait, last *expr.Doc) {
	e, o := w.element, l.view(answer.observation, w, last)
	changed := w.noteChange(&o, time.Now())
	v := w.verdict(ctx, o)
	l.lead.coach.Add(&o, &v)
	if e.lastJudged == nil || changed || e.lastJudged.verdict.Status != v.Status || e.lastJudged.verdict.Reason != v.Reason {
		seen := o // o itself stays on the stack
		e.lastJudged, e.changedAnswer = &judgement{observation: &seen}, l.completeAnswers
	}
	e.lastJudged.verdict, e.lastJudged.begun, e.lastJudged.took = v, answer.begun, answer.took
	w.record(e.lastJudged)
}

// view returns what a complete answer says of an element.
func (l *list) view(answer *status.Observation, w *wait, last *expr.Doc) status.Observation {
	o, e := *answer, w.element
	o.Attempt, o.Target = w.Attempts, w.p.Target
	o.Elapsed = max(0, l.lead.Start.Add(o.Elapsed).Sub(w.Start))
	o.Hint, o.Quota, o.Pages, o.Remarks = nil, nil, nil, nil
	o.Body, o.Within, o.Presence = nil, last, status.Missing
	if w.Absent++; l.reader.Partial != "" {
		w.Absent = 0
	}
	switch {
	case e.lastAnswer == l.completeAnswers:
		o.Body, o.Within, o.Presence = e.current.Body(), e.current.Doc, status.Present
		w.Shown, w.Absent = true, 0
	case w.Shown && w.Absent > 1:
		o.Presence = status.Gone
	}
	e.current = nil // it holds on to the whole answer
	o.Size = int64(len(o.Body))
	return o
}

// missing returns how many more elements have to become known.
func (l *list) missing() int {
	least := l.least
	if l.Known == nil && l.Expect == 0 {
		least = max(least, 1)
	}
	return max(0, least-len(l.members))
}

// progress says how many elements have been seen, in words, and whether that may not be all.
func (l *list) progress(o *status.Observation) string {
	seen := words.Count(l.shownCount, "element")
	if l.shownCount < l.least {
		seen += fmt.Sprintf(", %d expected", l.least)
	}
	if o.Doubt != "" {
		seen += "; " + o.Doubt
	}
	return seen
}

// confirmDelay is how long an element may exist before its list shows it. If the number of elements
// is not known, a second look, begun so long after the first, has to show the same ones. If the deadline is
// nearer than that, the looks go on as scheduled, and the last one counts as the second.
const confirmDelay = 5 * time.Second

// checkComplete reports whether the last answers show that nothing more is to be waited for. It notes in Listed
// when the first of these answers came. If the number of elements is not known, all of these answers hold the same.
func (l *list) checkComplete(lastLook bool) bool {
	if l.lead.last.isOutdated { // as if there had been none
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

// isCounted reports whether it is known how many elements are enough.
func (l *list) isCounted() bool { return l.Known != nil || l.Expect > 0 }

// showsAll reports whether the last answer may hold all elements.
func (l *list) showsAll() bool {
	return l.lastComplete && l.missing() == 0 && (l.isCounted() || l.reader.Partial == "")
}

// confirms reports whether the next look has only to show the same elements, and there is time for it
// before the deadline: as much as a look takes, or took last if that was less.
func (l *list) confirms() bool {
	end, takes := l.lead.deadline, min(l.lead.median(), l.lead.last.took)
	wait := max(0, confirmDelay-time.Since(l.lead.Listed))
	return !l.lead.Listed.IsZero() && (end.IsZero() || l.Resumed || wait+takes < time.Until(end))
}

// listing returns what the list adds to the plan of its next attempt.
func (l *list) listing(now time.Time) listing {
	of := listing{streak: l.confirmStreak(), hold: l.lead.toHold(now)}
	if l.confirms() {
		of.confirmAt = l.lead.Listed.Add(confirmDelay)
	}
	for _, w := range l.waiting { // one attempt then confirms all elements
		of.hold = max(of.hold, w.toHold(now))
	}
	return of
}

// confirmStreak returns how many complete answers in a row have left SUCCESS of some element to be
// confirmed. It is that of the list, since the schedule would else begin anew with each element that is done.
func (l *list) confirmStreak() int {
	if !slices.ContainsFunc(l.waiting, (*wait).isToConfirm) {
		l.firstUnconfirmed = 0
		return 0
	}
	if l.firstUnconfirmed == 0 {
		l.firstUnconfirmed = l.completeAnswers
	}
	return l.completeAnswers - l.firstUnconfirmed + 1
}

// mayHaveMore reports whether there may be more to wait for than is known.
func (l *list) mayHaveMore() bool {
	return l.missing() > 0 || len(l.waiting) == 0 && l.Known == nil
}
