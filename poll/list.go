package poll

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/words"
	"github.com/pollcli/poll/poll/internal/elements"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A list is what a source has whose answers hold the states of several operations. A wait of
// its own sets the schedule and judges each answer as a whole. Each element that is waited for
// is a member, with a wait that judges the element.
type list struct {
	Elements
	loop     *loop
	lead     *wait
	template Poller // of the members
	reader   elements.Reader

	members map[string]*member // by key
	waiting []*member          // those that have not ended, in order of appearance
	fresh   []*member          // those that the last look has found
	told    []*member          // those whose verdict at the last look is to be told
	alone   []*wait            // of members that are looked at by themselves from now on
	answers int                // complete ones so far
	seen    int                // how many members they have held
	asked   int                // how many of Known the probe asks about
	good    bool               // the last answer was complete
	shown   time.Time          // when the first of the complete answers in a row showed nothing to wait for; zero for none
	decided bool               // all members that have ended were judged SUCCESS or ERROR
}

// addList adds the source of a list, which its lead sets the schedule of.
func (l *loop) addList(lead *wait) {
	list := &list{
		Elements: *lead.p.Elements, loop: l, lead: lead, template: lead.p, members: make(map[string]*member), decided: true,
	}
	list.reader = elements.Reader{Each: list.Each, Keys: list.Keys}
	list.template.Elements, list.template.Probe, list.template.ID, list.template.Past, list.template.Starting = nil, nil, 0, nil, nil
	lead.list, lead.p.Settle = list, nil
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
	l.live++
	l.lists++
	list.number()
}

// openList opens the session of a list, unless there is nothing to look at: no attempt can
// succeed, all members had ended before, or they are looked at alone.
func (l *loop) openList(s *source) {
	list, lead := s.list, s.lead()
	list.endSome(func(m *member) (o Outcome, over bool) {
		how := m.before()
		if how != "" {
			o = m.resumed(how)
		}
		return o, how != ""
	})
	if how := lead.before(); how != "" {
		list.fail(lead.resumed(how))
		s.waits = nil
		return
	}
	if err := lead.open(); err != nil {
		list.fail(lead.cannotBegin(err))
		s.waits = nil
		return
	}
	if list.Alone && lead.Sent > 0 && !lead.startDue() { // what was started was listed then
		for _, m := range list.waiting {
			m.p.Probe = lead.p.Probe
			list.alone = append(list.alone, m.wait)
		}
		s.waits = nil
		return
	}
	if list.narrow(); len(list.waiting) == 0 && list.Known != nil {
		s.waits = nil
		return
	}
	s.share()
}

// leaveList notes that a list is over, and looks at its elements alone if it is to.
func (l *loop) leaveList(s *source) {
	list := s.list
	if list == nil || !s.ended() {
		return
	}
	s.list = nil
	l.lists--
	if list.Known == nil {
		l.growing--
	}
	l.short += list.missing()
	if list.lead != nil { // it has not told so itself
		l.live--
	}
	for _, w := range list.alone { // a State that is kept of the list has to come after theirs
		own := l.add(w)
		l.open(own)
		if w.p.Past == nil {
			w.Began = list.lead.Began
		}
		l.plan(own)
	}
	if list.alone != nil && list.lead.last.observation != nil { // it was looked at in this run
		l.emit(list.lead.attempted())
	}
}

// join makes an element a member.
func (l *list) join(key string) *member {
	p := l.template
	p.Target = strings.Clone(key)
	if past, ok := l.Past[key]; ok {
		p.Past = &past
	}
	if l.answers > 1 {
		p.Start = time.Now()
	}
	m := &member{name: p.Target, wait: newWait(l.loop, p)}
	m.tally, m.deadline, m.limit = l.lead.tally, l.lead.deadline, l.lead.limit
	m.Began = earliest(m.Began, m.Start)
	if m.Shown || m.Ended() {
		m.Shown = true
		l.seen++
	}
	l.members[m.name] = m
	l.waiting = append(l.waiting, m)
	l.fresh = append(l.fresh, m)
	return m
}

// number numbers the members that are new.
func (l *list) number() {
	for _, m := range l.fresh {
		l.loop.number(m.wait)
	}
	l.fresh = nil
}

// fail ends the list, and its members in the same way.
func (l *list) fail(o Outcome) {
	l.tellEnd(o)
	l.endSome(func(m *member) (Outcome, bool) {
		o.Run, o.Target, o.Resumed = m.p.ID, m.p.Target, false
		return o, true
	})
}

// tellEnd tells the end of the list itself.
func (l *list) tellEnd(o Outcome) {
	l.loop.live--
	l.loop.tellEnd(l.lead, o)
	l.lead = nil
}

// begin begins a look, which is an attempt for all members.
func (l *list) begin() {
	l.good, l.told = false, l.told[:0]
	for _, m := range l.waiting {
		m.Attempts++
	}
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
	if next := status.NextPage(last.Bytes()); l.Whole && next != "" {
		words := next + " tells of another page: a command has to print all, as many do by a flag"
		o.Page, o.Failure = len(o.Pages)+1, &status.Failure{Reason: words, Advice: status.Advice{Code: status.AdviceNext}}
		return l.whole(ctx, o, "")
	}
	l.answers++
	if err := l.identify(found); err != nil {
		v := status.Verdict{Status: status.Error, Reason: err.Error(), Advice: status.Advice{Code: status.AdviceKey}}
		if _, moved := errors.AsType[*movedError](err); moved {
			v.Status = status.NotReady
		}
		return v
	}
	l.good = true
	if l.Alone {
		return l.fork(o)
	}
	v := status.Verdict{Status: status.NotReady, Reason: l.progress(o)}
	for _, m := range l.waiting {
		if l.judge(ctx, j, m, last); m.Status == status.Throttled {
			v.Status, v.Rule, v.Reason = status.Throttled, m.last.verdict.Rule, m.Reason
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

// identify finds out which elements are members, and makes others members.
func (l *list) identify(found []elements.Element) error {
	if err := l.reader.Choose(found); err != nil {
		return err
	}
	for i := range found {
		e := &found[i]
		key, err := l.reader.Key(e)
		if err != nil {
			return err
		}
		m := l.members[key]
		if m == nil && l.Known != nil {
			continue // it is not waited for
		}
		if m == nil {
			m = l.join(key)
			m.Attempts = 1
		}
		if m.seen == l.answers {
			if m.page == e.Page {
				return fmt.Errorf("two elements are named %s", m.name)
			}
			if m.now != nil && m.now.Raw != e.Raw { // otherwise it has moved meanwhile
				return &movedError{m.name, m.page + 1, e.Page + 1}
			}
		}
		if m.wait != nil && !m.Shown {
			m.Shown = true
			l.seen++
		}
		m.seen, m.page, m.now = l.answers, e.Page, e
	}
	return nil
}

// A movedError means that two pages hold an element of one name, and not the same. It may
// have changed while the pages were read, so that another look can tell.
type movedError struct {
	name          string
	first, second int // pages
}

func (e *movedError) Error() string {
	return fmt.Sprintf("two elements are named %s, on the pages %d and %d", e.name, e.first, e.second)
}

// judge judges a member by its element in a complete answer, whose last page is where it
// would be.
func (l *list) judge(ctx context.Context, answer *judged, m *member, last *expr.Doc) {
	o, changed := m.observe(answer.observation, m.appear(l.answers), last)
	v := m.p.Rules.Classify(ctx, o)
	if o.Presence == status.Present {
		l.lead.tally.Add(&o, v)
	}
	m.now = nil
	if own := m.own; own != nil && !changed && own.verdict.Status == v.Status && own.verdict.Reason == v.Reason {
		kept := own.observation
		kept.Attempt, kept.Elapsed, kept.Unchanged = o.Attempt, o.Elapsed, o.Unchanged
		v.Answers = nil
		own.verdict, own.took = v, answer.took
		m.adopt(own)
		return
	}
	kept := o
	m.own = &judged{observation: &kept, verdict: v, took: answer.took}
	m.adopt(m.own)
	l.told = append(l.told, m)
}

// fork lets each member be looked at alone, once an answer has listed enough.
func (l *list) fork(o *status.Observation) status.Verdict {
	v := status.Verdict{Status: status.NotReady, Reason: l.progress(o)}
	isAbsent := func(m *member) bool { return m.seen != l.answers }
	if l.missing() > 0 || slices.ContainsFunc(l.waiting, isAbsent) {
		if o.Following.Start {
			v.Status, v.Final = status.Error, true
			v.Reason += "; the request that starts them is sent once"
		}
		return v
	}
	forks, able := l.lead.probe.(forker)
	for _, m := range l.waiting {
		probe, err := Probe(nil), errors.New("the probe cannot look at an element alone")
		if able {
			probe, err = forks.Fork([]byte(m.now.Raw))
		}
		if m.p.Probe = probe; err != nil {
			m.p.Probe = impossible{err}
		}
		m.Attempts, m.now, m.tally = 0, nil, new(status.Tally)
		l.alone = append(l.alone, m.wait)
	}
	return v
}

// expected returns how many elements there are at least, as far as that is known.
func (l *list) expected() int {
	if l.Known != nil {
		return len(l.Known)
	}
	return max(l.Expect, l.loop.AtLeast)
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

// settle tells what an attempt was judged to be. It reports whether the list is over; its lead
// is nil then if that was told.
func (l *list) settle() (over bool) {
	lead := l.lead
	if ending, never := lead.unrunnable(); never {
		lead.Attempts--
		l.end(ending, true)
		return true
	}
	joined := len(l.fresh) > 0
	if l.number(); l.alone != nil {
		return true // what is told of the look comes after their first events
	}
	l.loop.emit(lead.attempted())
	for _, m := range l.told {
		l.loop.emit(m.attempted())
	}
	ending := lead.ending()
	hopeless := ending == Failed || ending == HintTooLong
	if !l.good || l.Alone || hopeless {
		for _, m := range l.waiting {
			m.adopt(lead.last)
		}
	}
	if hopeless {
		l.end(ending, true)
		return true
	}
	l.settleMembers()
	switch {
	case l.isComplete(joined, lead.LastLook || ending == TimedOut):
		return true
	case ending != "" && (ending != AttemptsExhausted || len(l.waiting) == 0):
		l.end(ending, l.isShort() && ending != Cancelled)
		return true
	}
	l.narrow()
	return false
}

// settleMembers ends the members for which the last attempt was the last.
func (l *list) settleMembers() {
	told := l.told
	l.endSome(func(m *member) (o Outcome, over bool) {
		ending := m.ending()
		if ending != "" {
			o = m.outcome(ending)
		}
		return o, ending != ""
	})
	for _, m := range told {
		if m.wait != nil && m.last == m.own {
			m.slim()
		}
	}
	clear(l.told)
}

// endSome ends the members that are over. That they were members stays known. The others are
// waited for.
func (l *list) endSome(over func(*member) (Outcome, bool)) {
	l.waiting = slices.DeleteFunc(l.waiting, func(m *member) bool {
		o, over := over(m)
		if over {
			l.loop.live--
			l.loop.tellEnd(m.wait, o)
			l.decided = l.decided && (o.Ending == Succeeded || o.Ending == Failed)
			m.wait, m.own, m.now = nil, nil, nil
		}
		return over
	})
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
	if joined || !l.confirms() {
		l.shown, lastLook = time.Now(), false
	}
	return l.Known != nil || l.Expect > 0 || lastLook || time.Since(l.shown) >= lag || l.Alone && l.lead.Sent > 0
}

// confirms reports whether the next look is only to confirm that nothing new is shown.
func (l *list) confirms() bool { return l != nil && !l.shown.IsZero() }

// confirmWait returns the wait before the next look, the schedule's own being wait: one that
// confirms comes when it counts.
func (l *list) confirmWait(wait time.Duration) time.Duration {
	if !l.confirms() {
		return wait
	}
	counts := l.shown.Add(lag)
	if d := l.lead.deadline; !d.IsZero() && !counts.Before(d) {
		return wait
	}
	return max(wait, time.Until(counts))
}

// isShort reports whether there may be more to wait for than is known.
func (l *list) isShort() bool {
	return l.missing() > 0 || len(l.waiting) == 0 && l.decided && l.Known == nil
}

// end ends the list, which is told if that is told, and the members that have not ended.
func (l *list) end(ending Ending, told bool) {
	if told {
		l.tellEnd(l.lead.outcome(ending))
	}
	l.endSome(func(m *member) (Outcome, bool) { return m.outcome(ending), true })
}

// stop ends the list and its members, since the deadline has come, or the loop ends.
func (l *list) stop() {
	ending := l.lead.stopped()
	l.end(ending, l.isShort() && ending != Cancelled)
}

// narrow asks only about the members that have not ended from now on.
func (l *list) narrow() {
	if l.Narrow == nil || len(l.waiting) == l.asked || l.lead.Sent > 0 { // what was started is not started again
		return
	}
	keys := make([]string, len(l.waiting))
	for i, m := range l.waiting {
		keys[i] = m.name
	}
	l.asked = len(keys)
	if h, ok := l.lead.probe.(holder); ok {
		h.Release()
	}
	l.lead.p.Probe = l.Narrow(keys)
	l.lead.openSession()
}
