package poll

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/pollcli/poll/status"
)

// A loop waits for one target, or for the targets of a group. Each wait goes the same round: it sleeps until its
// attempt is due, enters the gate, checks, and concludes. A single wait does so in the
// goroutine of its consumer. In a group each attempt has a goroutine of its own (schedule.go).
type loop struct {
	*run
	score
	gate
	schedule
	single bool    // it has one wait, which is not a target of a group
	waits  []*wait // for the targets and the lists, in their order
}

const defaultParallel = 50

func newLoop(ctx context.Context, g Group, yield func(Event) bool) *loop {
	if g.Start.IsZero() {
		g.Start = time.Now()
	}
	if g.Rand == nil {
		g.Rand = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	if g.Parallel <= 0 {
		g.Parallel = defaultParallel
	}
	r := &run{Group: g, caller: ctx, held: make(chan struct{}, 1), yield: yield}
	l := &loop{run: r, gate: newGate(g.Parallel)}
	l.woken = make(chan struct{}, 1)
	l.Endings = make(map[Ending]int)
	return l
}

// start creates the context of all attempts, and the waits for the targets. It returns the function that
// releases the context.
func (l *loop) start(pollers iter.Seq[Poller]) (release func()) {
	l.ctx, l.cancel = context.WithCancelCause(l.caller)
	stop := func() {}
	if !l.stepping { // its caller's deadline is not that of the wait
		l.deadline, _ = l.caller.Deadline()
	}
	if l.Timeout != 0 {
		l.deadline = earliest(l.deadline, l.Start.Add(l.Timeout))
	}
	if !l.deadline.IsZero() {
		l.ctx, stop = context.WithDeadlineCause(l.ctx, l.deadline, ErrDeadline)
	}
	for p := range pollers {
		l.add(newWait(l.run, p))
	}
	return func() {
		stop()
		l.cancel(errOver)
	}
}

// driveOne waits for one target.
func (l *loop) driveOne(p Poller) {
	defer l.start(slices.Values([]Poller{p}))()
	w := l.waits[0]
	for l.open(w); !w.over && l.sleep(w) && l.turn(w, func() {}); {
	}
}

// sleep plans the next attempt of a single wait, and sleeps until the attempt is due. It reports false if the wait
// has ended, or if a step ends here.
func (l *loop) sleep(w *wait) bool {
	now := time.Now()
	w.origin = l.originOf(w)
	isKnown := l.stepping && !w.Due.IsZero() // by the last step
	if !isKnown {
		w.plan(now)
	}
	isLater := w.Due.After(now)
	if !isKnown || isLater {
		l.emit(w.event(EventWait, now))
	}
	if l.stepping && (isLater || l.Attempts > 0) && !w.isDeadline(now) && !l.isOver() {
		return false
	}
	if !w.sleep() {
		l.end(w)
	}
	return !w.over
}

// plan plans the next attempt.
func (w *wait) plan(now time.Time) {
	of := listing{hold: w.toHold(now)}
	if w.list != nil {
		of = w.list.listing(now)
	} else if w.isToConfirm() {
		of.streak = w.Streak
	}
	w.Due, w.LastAttempt, w.Previous = w.next(of, now)
}

// turn sends a wait through the gate, checks, and concludes. It calls next, with the loop locked, when the wait has
// left the line: through the gate, or because the wait ends. It reports false without an attempt: the wait has ended,
// or the next step continues the wait.
func (l *loop) turn(w *wait, next func()) (ok bool) {
	ctx, cancel := w.context(0)
	defer cancel()
	leave, pace, ok := l.enter(ctx, w)
	l.begin(w, ok, next)
	if !ok {
		return false
	}
	defer leave()
	if w.planned.streams { // a stream may last, and other waits are to have their turn
		leave()
	}
	l.check(w, pace)
	l.conclude(w)
	return true
}

// begin counts an attempt and emits its EventStart. A wait that is not through the gate ends, unless the next
// step continues the wait.
func (l *loop) begin(w *wait, ok bool, next func()) {
	defer l.lock()()
	defer next()
	if !ok {
		if !l.stepping || l.isOver() || w.closedPastDeadline != "" {
			l.end(w)
		}
		return
	}
	now := time.Now()
	for _, w := range w.all() {
		w.Attempts++
		w.Due, w.Reserved = time.Time{}, false
	}
	if w.list != nil {
		w.list.lastComplete = false
	}
	l.Attempts++
	e := w.event(EventStart, now)
	e.ofStart = w.planned.Once
	l.emit(e)
}

// check runs an attempt, evaluates the response, and reports a refusal or a quota to the limiter. The first request for
// a result in another document belongs to the same attempt.
func (l *loop) check(w *wait, pace *paced) {
	o, took := w.check(pace, w.evaluateMessage)
	if pace != nil {
		pace.noteClosed(&o)
	}
	w.evaluateResponse(o, took)
	if w.result != nil && w.toResult() {
		w.evaluateResponse(w.check(pace, nil)) // a result has no messages
		w.last.took += took
	}
	w.noteEvidence() // before the events, whose States have it
	if pace != nil {
		w.Limit = cmp.Or(pace.feedBack(w.origin.name, w.last.observation, w.last.verdict), w.Limit)
	}
	if w.p.Finalize == nil {
		return
	}
	for _, w := range w.all() {
		if w.Status == status.Success && w.decided() { // here, since it may take its time
			w.final = new(w.p.Finalize(w.outcome(Succeeded)))
		}
	}
}

// conclude emits the verdict of an attempt, and ends the targets that need no further attempt.
func (l *loop) conclude(w *wait) {
	defer l.lock()()
	if how := w.unrunnable(); how != "" {
		w.Attempts--
		l.Attempts--
		l.endAll(w, how)
	} else if w.list == nil {
		l.concludeTargets(w)
	} else {
		l.concludeList(w)
	}
	if l.isOver() {
		l.end(w)
	}
	l.decide()
}

// open prepares a wait. It ends the targets for which no attempt can succeed, and the targets of ended waits.
func (l *loop) open(w *wait) {
	how, asked := w.endingOfPast(), 0
	if w.list != nil {
		asked = len(w.list.waiting)
		l.endSome(w, (*wait).endingOfPast)
	}
	if how == "" {
		how = w.open()
	}
	switch {
	case how != "":
		for _, e := range w.all() {
			if e.hopeless = w.hopeless; w.Ended() {
				e.hopeless = errors.New(w.Reason)
			}
		}
		l.endAll(w, how)
	case w.list == nil:
		w.p.Probe = nil // the wait has the probe of the next attempt
	case len(w.list.waiting) == 0 && w.list.Known != nil: // earlier runs ended all elements
		l.endList(w, "")
	default:
		w.list.narrow(asked)
	}
}

// end ends the targets of a wait that have not ended: the origin or the run ends them, or the deadline has come.
func (l *loop) end(w *wait) {
	if !w.over {
		l.endAll(w, cmp.Or(w.stopped(), TimedOut))
	}
}
