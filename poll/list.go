package poll

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A list is what a source has whose answers hold the states of several operations. A run
// of its own sets the schedule and judges each answer as a whole; each element that is
// waited for is a member with a run that judges the element.
type list struct {
	Elements
	run      *run
	template Poller     // of the members' runs
	deadline time.Time  // of the list itself: that of the group
	goal     int        // how many have to succeed, 0 for all
	number   func() int // gives the next target's number
	reader   reader
	skips    bool // a member whose element has not changed need not be judged again

	members map[string]*member // by key
	bySum   map[uint64]*member // by their elements in the last complete answer
	waiting []*member          // those that have not ended, in order of appearance
	fresh   []*member          // those that the last look has found
	told    []*member          // those whose verdict at the last look is to be told
	answers int                // complete ones so far
	seen    int                // how many members they have held
	code    int                // the HTTP status of the last one, 0 for none
	good    bool               // the last answer was one of these

	none *judged // what a member was last before its first attempt

	shown   time.Time // when the first of the complete answers in a row showed nothing to wait for; zero for none
	decided bool      // all members that have ended were judged SUCCESS or ERROR
	asked   int       // how many of Known the probe asks about
	alone   []*run    // of members that are looked at by themselves from now on
}

// newList makes the list of a run whose Poller has Elements, of which goal have to succeed, or
// all if goal is 0.
func newList(r *run, goal int, number func() int) *list {
	l := &list{
		Elements: *r.Elements, run: r, template: r.Poller, goal: goal, number: number, members: make(map[string]*member),
		skips: r.Rules.OfElementOnly(), none: &judged{}, decided: true,
	}
	l.reader = reader{each: l.Each, keys: l.Keys, seed: maphash.MakeSeed()}
	l.template.Elements, l.template.Probe, l.template.ID, l.template.Past, l.template.Starting = nil, nil, 0, nil, nil
	r.Timeout, r.Settle = 0, nil
	r.deadline, _ = r.ctx.Deadline()
	l.deadline = r.deadline
	for _, key := range l.Known {
		l.join(key)
	}
	if l.Known == nil {
		for _, key := range slices.Sorted(maps.Keys(l.Past)) {
			l.join(key)
		}
	}
	l.asked = len(l.waiting)
	l.tellNumbers()
	l.hurry()
	return l
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
	m := &member{name: p.Target, run: newRun(l.run.ctx, p)}
	m.caller, m.tally, m.began = l.run.caller, l.run.tally, m.Start
	if m.Past == nil {
		m.last, m.complete = l.none, l.none
	}
	if m.shown || m.Past != nil && m.Past.Ended {
		m.shown = true
		l.seen++
	}
	l.members[p.Target] = m
	l.waiting = append(l.waiting, m)
	l.fresh = append(l.fresh, m)
	return m
}

// tellNumbers numbers the members that are new.
func (l *list) tellNumbers() {
	for _, m := range l.fresh {
		m.n = l.number()
	}
	l.fresh = nil
}

// hurry sets the deadline of the next look: the earliest of those who wait for it.
func (l *list) hurry() {
	l.run.deadline = l.deadline
	if l.template.Timeout <= 0 {
		return
	}
	for _, m := range l.waiting {
		if !m.deadline.IsZero() && (l.run.deadline.IsZero() || m.deadline.Before(l.run.deadline)) {
			l.run.deadline = m.deadline
		}
	}
}

// open opens the session. It returns nil if there is nothing to look at: no attempt can
// succeed, all members had ended before, or they are looked at alone.
func (l *list) open(e *emitter) Probe {
	r := l.run
	l.endSome(e, func(m *member) (Outcome, bool) { return m.over() })
	if o, over := r.over(); over {
		l.fail(e, o)
		return nil
	}
	if err := r.open(); err != nil {
		l.fail(e, r.cannotBegin(err))
		return nil
	}
	if l.Alone && r.sent > 0 && !r.startDue() { // what was started was listed then
		for _, m := range l.waiting {
			m.Probe = r.Probe
			l.alone = append(l.alone, m.run)
		}
		return nil
	}
	l.narrow()
	if len(l.waiting) == 0 && l.Known != nil {
		return nil
	}
	return r.probe
}

// fail ends the list, and its members in the same way.
func (l *list) fail(e *emitter, o Outcome) {
	e.emit(l.run.endEvent(o))
	l.run = nil
	for _, m := range l.waiting {
		o.Run, o.Target, o.Resumed = m.ID, m.Target, false
		l.endMember(e, m, o)
	}
	l.waiting = nil
}

// begin begins a look, which is an attempt for all members.
func (l *list) begin() {
	l.good, l.told = false, l.told[:0]
	for _, m := range l.waiting {
		m.attempts++
	}
}

// classify judges an answer as a whole and, if it is complete, the members by it.
func (l *list) classify(ctx context.Context, j *judged) status.Verdict {
	o := j.observation
	defer l.reader.forget()
	if !o.Good() {
		return l.whole(ctx, o, "")
	}
	if o.Truncated {
		return l.whole(ctx, o, "the answer is longer than what is kept of it")
	}
	elements, err := l.reader.read(o)
	if err != nil {
		without := *o
		without.Within, without.Presence, without.Body = expr.NewDoc(o.Body), status.Unknown, nil
		return l.whole(ctx, &without, err.Error())
	}
	if l.Whole && status.NextPage(l.reader.last.Bytes()) != "" {
		words := status.NextPage(l.reader.last.Bytes()) + " tells of another page: a command has to print all, as many do by a flag"
		o.Page, o.Failure = len(o.Pages)+1, &status.Failure{Reason: words, Advice: status.Advice{Code: status.AdviceNext}}
		return l.whole(ctx, o, "")
	}
	l.answers++
	if err := l.identify(elements); err != nil {
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
	if throttled := l.judge(ctx, j); throttled != nil {
		v.Status, v.Rule, v.Reason = status.Throttled, throttled.Rule, throttled.Reason
	}
	return v
}

// whole judges an answer whose elements cannot be read. Whatever it is, it is no SUCCESS.
func (l *list) whole(ctx context.Context, o *status.Observation, problem string) status.Verdict {
	v := l.run.Rules.Classify(ctx, *o)
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
func (l *list) identify(elements []element) error {
	if err := l.reader.choose(elements); err != nil {
		return err
	}
	known := l.bySum
	l.bySum = make(map[uint64]*member, len(elements))
	for i := range elements {
		e := &elements[i]
		m, again := known[e.sum]
		if !again {
			key, err := l.reader.key(e)
			if err != nil {
				return err
			}
			m = l.members[key]
			if m == nil && l.Known == nil {
				m = l.join(key)
				m.attempts = 1
			}
		}
		l.bySum[e.sum] = m
		if m == nil {
			continue // it is not waited for
		}
		if m.seen == l.answers {
			if m.page == e.page {
				return fmt.Errorf("two elements are named %s", m.name)
			}
			if other := m.now; other != nil && other.sum != e.sum { // otherwise it has moved meanwhile
				return &movedError{m.name, m.page + 1, e.page + 1}
			}
		}
		if m.run != nil && !m.shown {
			m.shown = true
			l.seen++
		}
		m.seen, m.page, m.now = l.answers, e.page, e
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

// judge judges all members that have not ended by a complete answer. It returns the verdict
// on one that is THROTTLED, nil if none is.
func (l *list) judge(ctx context.Context, answer *judged) (throttled *status.Verdict) {
	code := 0
	if c := answer.observation.Code; c != nil {
		code = *c
	}
	skips := l.skips && code == l.code
	l.code = code
	for _, m := range l.waiting {
		presence := m.appear(l.answers)
		if skips && m.own != nil && m.sameAs(presence) {
			m.adopt(m.own)
		} else {
			l.judgeAnew(ctx, answer, m, presence)
		}
		m.now = nil
		if v := &m.last.verdict; v.Status == status.Throttled {
			throttled = v
		}
	}
	return throttled
}

// judgeAnew judges a member by its element.
func (l *list) judgeAnew(ctx context.Context, answer *judged, m *member, presence status.Presence) {
	before := m.own
	began := l.run.Start.Add(answer.observation.Elapsed)
	o := m.observe(answer.observation, began, presence, l.reader.last)
	v := m.Rules.Classify(ctx, *o)
	if presence == status.Present {
		l.run.tally.Add(o, v)
	}
	m.own = &judged{observation: o, verdict: v, took: answer.took}
	m.adopt(m.own)
	if m.sum = 0; m.now != nil && !v.Abandoned {
		m.sum = m.now.sum
	}
	if l.skips || before == nil || before.verdict.Status != v.Status || before.verdict.Reason != v.Reason {
		l.told = append(l.told, m)
	}
}

// fork lets each member be looked at alone, once an answer has listed enough.
func (l *list) fork(o *status.Observation) status.Verdict {
	v := status.Verdict{Status: status.NotReady, Reason: l.progress(o)}
	absent := 0
	for _, m := range l.waiting {
		if m.seen != l.answers {
			absent++
		}
	}
	if l.missing()+absent > 0 {
		if o.Following.Start {
			v.Status, v.Final = status.Error, true
			v.Reason += "; the request that starts them is sent once"
		}
		return v
	}
	forker, able := l.run.probe.(Forker)
	for _, m := range l.waiting {
		probe, err := Probe(nil), errors.New("the probe cannot look at an element alone")
		if able {
			probe, err = forker.Fork([]byte(m.now.Raw))
		}
		if m.Probe = probe; err != nil {
			m.Probe = impossible{err}
		}
		m.attempts, m.now, m.tally = 0, nil, new(status.Tally)
		l.alone = append(l.alone, m.run)
	}
	return v
}

// expected returns how many elements there are at least, as far as that is known.
func (l *list) expected() int {
	if l.Known != nil {
		return len(l.Known)
	}
	return max(l.Expect, l.goal)
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

// settle emits what an attempt, perhaps the last one before the deadline, was judged to be.
// It reports whether the list is over; run is nil then if that was told.
func (l *list) settle(e *emitter, lastLook bool) (over bool) {
	r := l.run
	if ending, never := r.unrunnable(); never {
		r.attempts--
		return l.end(e, ending, true)
	}
	joined := len(l.fresh) > 0
	l.tellNumbers()
	if l.alone != nil {
		return true // what is told of the look comes after their first events
	}
	e.emit(r.attemptEvent())
	for _, m := range l.told {
		e.emit(m.attemptEvent())
	}
	r.deadline = l.deadline
	ending, over := r.ending()
	hopeless := over && (ending == Failed || ending == HintTooLong)
	if !l.good || l.Alone || hopeless {
		for _, m := range l.waiting {
			m.adopt(r.last)
		}
	}
	if hopeless {
		return l.end(e, ending, true)
	}
	l.settleMembers(e)
	switch {
	case l.isComplete(joined, lastLook || over && ending == TimedOut):
		return true
	case over && (ending != AttemptsExhausted || len(l.waiting) == 0):
		return l.end(e, ending, l.isShort() && ending != Cancelled)
	}
	l.hurry()
	l.narrow()
	return false
}

// settleMembers ends the members for which the last attempt was the last.
func (l *list) settleMembers(e *emitter) {
	l.endSome(e, func(m *member) (o Outcome, over bool) {
		ending, over := m.ending()
		if over {
			o = m.outcome(ending)
		}
		return o, over
	})
	for _, m := range l.told {
		m.slim()
	}
	clear(l.told)
}

// endSome ends the members that are over. The others are waited for.
func (l *list) endSome(e *emitter, over func(*member) (Outcome, bool)) {
	on := l.waiting[:0]
	for _, m := range l.waiting {
		if outcome, over := over(m); over {
			l.endMember(e, m, outcome)
		} else {
			on = append(on, m)
		}
	}
	clear(l.waiting[len(on):])
	l.waiting = on
}

// endMember ends a member. That it was one stays known.
func (l *list) endMember(e *emitter, m *member, outcome Outcome) {
	e.emit(m.endEvent(outcome))
	l.decided = l.decided && (outcome.Ending == Succeeded || outcome.Ending == Failed)
	m.run, m.own, m.now = nil, nil, nil
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
	return l.Known != nil || l.Expect > 0 || lastLook || time.Since(l.shown) >= lag || l.Alone && l.run.sent > 0
}

// confirms reports whether the next look is only to confirm that nothing new is shown.
func (l *list) confirms() bool { return l != nil && !l.shown.IsZero() }

// isShort reports whether there may be more to wait for than is known.
func (l *list) isShort() bool {
	return l.missing() > 0 || len(l.waiting) == 0 && l.decided && l.Known == nil
}

// end ends the list and the members that have not ended.
func (l *list) end(e *emitter, ending Ending, told bool) (over bool) {
	if told {
		e.emit(l.run.endEvent(l.run.outcome(ending)))
		l.run = nil
	}
	for _, m := range l.waiting {
		l.endMember(e, m, m.outcome(ending))
	}
	l.waiting = nil
	return true
}

// stop ends those whose deadline has come: all of them if that is the list's own, or if the
// context is done. It reports whether the list is over.
func (l *list) stop(e *emitter) (over bool) {
	r := l.run
	soonest := r.deadline
	for _, m := range l.waiting {
		m.closed = r.closed
	}
	if r.deadline = l.deadline; r.ctx.Err() != nil || soonest.Equal(l.deadline) {
		ending := r.stopped()
		return l.end(e, ending, l.isShort() && ending != Cancelled)
	}
	l.endSome(e, func(m *member) (Outcome, bool) {
		if m.deadline.After(soonest) {
			m.closed = ""
			return Outcome{}, false
		}
		return m.outcome(m.stopped()), true
	})
	r.closed = ""
	l.hurry()
	return false
}

// narrow asks only about the members that have not ended from now on.
func (l *list) narrow() {
	if l.Narrow == nil || len(l.waiting) == l.asked || l.run.sent > 0 { // what was started is not started again
		return
	}
	keys := make([]string, len(l.waiting))
	for i, m := range l.waiting {
		keys[i] = m.name
	}
	l.asked = len(keys)
	r := l.run
	if h, ok := r.probe.(holder); ok {
		h.Release()
	}
	r.Probe = l.Narrow(keys)
	r.openSession()
}
