package poll

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/poll/internal/elements"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
	"github.com/pollcli/poll/words"
)

// A list is what a source has whose answers hold the states of several operations. A wait of
// its own sets the schedule and judges each answer as a whole. Each element that is waited for
// has a wait that judges the element.
type list struct {
	Elements
	lead   *wait
	reader elements.Reader

	members map[string]*element // by key, also those that have ended
	waiting []*wait             // of elements that have not ended, in order of appearance
	answers int                 // complete ones so far
	seen    int                 // how many members they have held
	asked   int                 // how many of Known the probe asks about
	good    bool                // the last answer was complete
	shown   time.Time           // when the first of the complete answers in a row showed nothing to wait for; zero for none
	alone   bool                // the elements are looked at by themselves from now on

	undecided bool // an element has ended that was not judged SUCCESS or ERROR
}

// addList adds the source of a list, which its lead sets the schedule of.
func (l *loop) addList(lead *wait) {
	list := &list{Elements: *lead.p.Elements, lead: lead, members: make(map[string]*element)}
	list.reader = elements.Reader{Each: list.Each, Keys: list.Keys}
	lead.list, lead.deadline, lead.limit = list, l.deadline, l.deadline.Sub(lead.p.Start)
	keys := list.Known
	if keys == nil {
		keys = slices.Sorted(maps.Keys(list.Past))
		l.growing++
	}
	for _, key := range keys {
		list.join(key)
	}
	list.asked = len(list.waiting)
	l.add(lead).list = list
	l.lists++
	list.number()
	list.hurry()
}

// openList begins a list, unless its elements are all that is left to look at, or had ended
// before.
func (l *loop) openList(s *source) (begun bool) {
	list, lead := s.list, s.lead()
	if list.Alone && lead.Sent > 0 && !lead.startDue() { // what was started was listed then
		for _, w := range list.waiting {
			w.p.Probe = lead.p.Probe
		}
		list.alone = true
	} else if list.narrow(); len(list.waiting) > 0 || list.Known == nil {
		return true
	}
	l.endList(s, "")
	return false
}

// endList ends a list, and the targets that it has left, unless they are looked at alone. How it
// ended is told if that is why there are no further targets, or if there may be some; "" means
// that it is complete.
func (l *loop) endList(s *source, how Ending) {
	list := s.list
	switch {
	case how == Failed, how == CannotRun, how == HintTooLong, how != "" && how != Cancelled && list.isShort():
		l.tellEnd(list.lead, how)
	}
	if list.alone {
		for _, w := range list.waiting {
			if l.add(w); w.p.Past == nil {
				w.Began = list.lead.Began
			}
		}
	} else {
		l.endSome(s, func(*wait) Ending { return how })
	}
	s.waits, s.list = nil, nil
	l.lists--
	if list.Known == nil {
		l.growing--
	}
	l.short += list.missing()
}

// join makes an element a target.
func (l *list) join(key string) *wait {
	p := l.lead.p
	p.Target = strings.Clone(key)
	p.Elements, p.Probe, p.Past, p.Starting = nil, nil, nil, nil
	if past, ok := l.Past[key]; ok {
		p.Past = &past
	}
	if l.answers > 1 {
		p.Start = time.Now()
	}
	w := newWait(l.lead.loop, p)
	w.element = new(element)
	w.tally = l.lead.tally
	w.Began = earliest(w.Began, w.Start)
	if w.Shown || w.Ended() {
		w.Shown = true
		l.seen++
	}
	l.members[p.Target] = w.element
	l.waiting = append(l.waiting, w)
	return w
}

// number numbers the targets that are new. It reports whether there are any.
func (l *list) number() (joined bool) {
	for _, w := range l.waiting {
		if w.n == 0 {
			joined = true
			l.lead.loop.number(w)
		}
	}
	return joined
}

// hurry sets the deadline of the next look: the earliest of the targets that wait for it.
func (l *list) hurry() {
	l.lead.deadline = l.lead.loop.deadline
	for _, w := range l.waiting {
		l.lead.deadline = earliest(l.lead.deadline, w.deadline)
	}
}

// endLate ends the elements of a list whose deadline has come before the next look, which is
// held back. The others go on.
func (l *loop) endLate(s *source, now time.Time) {
	l.endSome(s, func(w *wait) Ending {
		if w.deadline.IsZero() || w.deadline.After(now) {
			return ""
		}
		return w.endingIfStopped()
	})
	s.list.hurry()
	next := s.lead().deadline
	if due := s.lead().Due; due.After(now) {
		next = earliest(next, due)
	}
	l.sleep(s, next)
}

// classify judges an answer as a whole and, if it is complete, the members by it.
func (l *list) classify(ctx context.Context, j *judged) status.Verdict {
	o := j.observation
	if !o.Good() {
		return l.whole(ctx, o, "")
	}
	if o.Truncated {
		return l.whole(ctx, o, "the answer is longer than what is kept of it")
	}
	found, last, err := l.reader.Read(o)
	if err != nil {
		without := *o
		without.Within, without.Presence, without.Body = expr.NewDoc(o.Body), status.Unknown, nil
		return l.whole(ctx, &without, err.Error())
	}
	if l.Whole && status.NextPage(last.Bytes()) != "" {
		words := status.NextPage(last.Bytes()) + " tells of another page: a command has to print all, as many do by a flag"
		o.Page, o.Failure = len(o.Pages)+1, &status.Failure{Reason: words, Advice: status.Advice{Code: status.AdviceNext}}
		return l.whole(ctx, o, "")
	}
	l.answers++
	if moved, err := l.identify(found); err != nil {
		v := status.Verdict{Status: status.Error, Reason: err.Error(), Advice: status.Advice{Code: status.AdviceKey}}
		if moved {
			v.Status = status.NotReady
		}
		return v
	}
	l.good = true
	if l.Alone {
		return l.fork(o)
	}
	v := status.Verdict{Status: status.NotReady, Reason: l.progress(o)}
	for _, w := range l.waiting {
		if l.judge(ctx, j, w, last); w.Status == status.Throttled {
			v.Status, v.Rule, v.Reason = status.Throttled, w.last.verdict.Rule, w.Reason
		}
	}
	return v
}

// whole judges an answer whose elements cannot be read. Whatever it is, it is no SUCCESS.
func (l *list) whole(ctx context.Context, o *status.Observation, problem string) status.Verdict {
	v := l.lead.p.Rules.Classify(ctx, *o)
	if problem == "" {
		problem = o.Statement()
	} else if v.Status == status.NotReady {
		v.Rule, v.Reason = "", problem
	}
	if v.Status == status.Success {
		v.Status, v.Rule, v.Reason, v.Notes = status.NotReady, "", problem, nil
	}
	return v
}

// identify finds out which elements are members, and makes others members. Two pages may hold
// an element of one name, and not the same: if it has moved while the pages were read, another
// look can tell.
func (l *list) identify(found []elements.Element) (moved bool, err error) {
	if err := l.reader.Choose(found); err != nil {
		return false, err
	}
	for i := range found {
		e := &found[i]
		key, err := l.reader.Key(e)
		if err != nil {
			return false, err
		}
		m := l.members[key]
		if m == nil && l.Known != nil {
			continue // it is not waited for
		}
		if m == nil {
			w := l.join(key)
			w.Attempts, m = 1, w.element
		}
		if m.seen == l.answers {
			if m.page == e.Page {
				return false, fmt.Errorf("two elements are named %s", key)
			}
			if m.now.Raw != e.Raw {
				return true, fmt.Errorf("two elements are named %s, on the pages %d and %d", key, m.page+1, e.Page+1)
			}
		}
		m.seen, m.page, m.now = l.answers, e.Page, e
	}
	for _, w := range l.waiting {
		if !w.Shown && w.element.seen == l.answers {
			w.Shown = true
			l.seen++
		}
	}
	return false, nil
}

// judge judges a target by its element in a complete answer, whose last page is where it
// would be.
func (l *list) judge(ctx context.Context, answer *judged, w *wait, last *expr.Doc) {
	o, changed := w.observe(answer.observation, w.appear(l.answers), last)
	v := w.p.Rules.Classify(ctx, o)
	if o.Presence == status.Present {
		l.lead.tally.Add(&o, v)
	}
	own := w.own
	if own != nil && !changed && own.verdict.Status == v.Status && own.verdict.Reason == v.Reason {
		kept := own.observation
		kept.Attempt, kept.Elapsed, kept.Unchanged = o.Attempt, o.Elapsed, o.Unchanged
		v.Answers = nil
		own.verdict, own.took = v, answer.took
	} else {
		seen := o // o itself stays on the stack
		w.news, w.own = true, &judged{observation: &seen, verdict: v, took: answer.took}
	}
	w.adopt(w.own)
}

// fork lets each element be looked at alone, once an answer has listed enough.
func (l *list) fork(o *status.Observation) status.Verdict {
	v := status.Verdict{Status: status.NotReady, Reason: l.progress(o)}
	isAbsent := func(w *wait) bool { return w.element.seen != l.answers }
	if l.missing() > 0 || slices.ContainsFunc(l.waiting, isAbsent) {
		if o.Following.Start {
			v.Status, v.Final = status.Error, true
			v.Reason += "; the request that starts them is sent once"
		}
		return v
	}
	forks, able := l.lead.probe.(forker)
	for _, w := range l.waiting {
		probe, err := Probe(nil), errors.New("the probe cannot look at an element alone")
		if able {
			probe, err = forks.Fork([]byte(w.element.now.Raw))
		}
		if w.p.Probe = probe; err != nil {
			w.p.Probe = impossible{err}
		}
		w.Attempts, w.tally = 0, new(status.Tally)
	}
	l.alone = len(l.waiting) > 0
	return v
}

// expected returns how many elements there are at least, as far as that is known.
func (l *list) expected() int {
	if l.Known != nil {
		return len(l.Known)
	}
	return max(l.Expect, l.lead.loop.AtLeast)
}

// missing returns how many more elements have to become known.
func (l *list) missing() int {
	least := l.expected()
	if l.Known == nil && l.Expect == 0 && !l.MayBeNone {
		least = max(least, 1)
	}
	return max(0, least-len(l.members))
}

// progress says how many elements have been seen, in words, and whether that may not be all.
func (l *list) progress(o *status.Observation) string {
	seen := words.Count(l.seen, "element")
	if n := l.expected(); l.seen < n {
		seen += fmt.Sprintf(", %d expected", n)
	}
	if o.Doubt != "" {
		seen += "; " + o.Doubt
	}
	return seen
}

// settleList tells what an attempt was judged to be, and ends the targets for which it was the
// last, and the list once that is over.
func (l *loop) settleList(s *source) {
	list, lead, now := s.list, s.lead(), time.Now()
	if how := lead.unrunnable(); how != "" {
		lead.Attempts--
		l.endList(s, how)
		return
	}
	joined := list.number()
	if list.alone { // what is told of the look comes after their first events, as its State has to come after theirs
		l.endList(s, "")
		l.openAll()
		l.emit(lead.event(EventAttempt, now))
		return
	}
	l.emit(lead.event(EventAttempt, now))
	for _, w := range list.waiting {
		if w.news {
			l.emit(w.event(EventAttempt, now))
		}
	}
	lastLook := lead.LastLook && lead.deadline.Equal(l.deadline)
	lead.deadline = l.deadline
	how := lead.ending()
	hopeless := how == Failed || how == HintTooLong
	if !list.good || list.Alone || hopeless {
		for _, w := range list.waiting {
			w.adopt(lead.last)
		}
	}
	if hopeless {
		l.endList(s, how)
		return
	}
	l.endSome(s, func(w *wait) Ending {
		how := w.ending()
		if how == "" && w.news && w.last == w.own {
			w.slim()
		}
		return how
	})
	switch {
	case list.isComplete(joined, lastLook || how == TimedOut):
		l.endList(s, "")
	case how != "" && (how != AttemptsExhausted || len(list.waiting) == 0):
		l.endList(s, how)
	default:
		list.hurry()
		list.narrow()
	}
}

// lag is by how much a list may be behind: a look that is to show whether all elements
// of an unknown number are known comes so long after the one before it. Where the deadline is
// nearer, the looks go on as before, and the last of them counts.
const lag = 5 * time.Second

// isComplete reports whether the last answer shows that there is nothing more to wait for.
func (l *list) isComplete(joined, lastLook bool) bool {
	if len(l.waiting) > 0 || !l.good || l.missing() > 0 {
		l.shown = time.Time{}
		return false
	}
	if joined || l.shown.IsZero() {
		l.shown, lastLook = time.Now(), false
	}
	return l.Known != nil || l.Expect > 0 || lastLook || time.Since(l.shown) >= lag || l.Alone && l.lead.Sent > 0
}

// confirmWait returns the wait before the next look, the schedule's own being wait: one that
// only confirms that nothing new is shown comes when it counts.
func (l *list) confirmWait(wait time.Duration) time.Duration {
	counts := l.shown.Add(lag)
	if d := l.lead.deadline; l.shown.IsZero() || !d.IsZero() && !counts.Before(d) {
		return wait
	}
	return max(wait, time.Until(counts))
}

// isShort reports whether there may be more to wait for than is known.
func (l *list) isShort() bool {
	return l.missing() > 0 || len(l.waiting) == 0 && !l.undecided && l.Known == nil
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
	if h, ok := l.lead.probe.(holder); ok {
		h.Release()
	}
	l.lead.p.Probe = l.Narrow(keys)
	l.lead.openSession()
}
