package poll

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"slices"
	"time"
)

// A loop waits for one target, or for all targets of a group. Each wait repeats the same round: it sleeps until
// its attempt is due, passes the gate (which limits concurrent attempts), runs the probe, and acts on the
// verdict. A single wait runs on the goroutine that consumes its events. In a group, each attempt runs on its
// own goroutine (see schedule.go).
type loop struct {
	*run
	score
	gate
	schedule
	single bool    // there is only one wait, and it does not belong to a Group
	waits  []*wait // waits for the targets and lists, in the order of the group's Pollers
}

// defaultParallel is the number of concurrent attempts if Group.Parallel is 0.
const defaultParallel = 50

// newLoop returns a loop that passes its events to yield until yield returns false. It fills in the defaults of
// g.
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

// start creates the context for all attempts, and a wait for each Poller in pollers. It returns a function that
// releases the context.
func (l *loop) start(pollers iter.Seq[Poller]) (release func()) {
	l.ctx, l.cancel = context.WithCancelCause(l.caller)
	stop := func() {}
	if !l.stepping { // the deadline of a Step's context does not limit the whole wait
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

// driveOne runs a single wait for p, from its first attempt to its end.
func (l *loop) driveOne(p Poller) {
	defer l.start(slices.Values([]Poller{p}))()
	w := l.waits[0]
	for l.open(w); !w.hasEnded && l.sleep(w) && l.turn(w, func() {}); {
	}
}

// sleep plans the next attempt of a single wait, and sleeps until the attempt is due. It returns false if the
// wait has ended, or if a [Poller.Step] has to return before the attempt.
func (l *loop) sleep(w *wait) bool {
	now := time.Now()
	isKnown := l.stepping && !w.Due.IsZero() // the previous Step planned the attempt
	if !isKnown {
		w.plan(now)
	}
	w.origin = l.originOf(w)
	isLater := w.Due.After(now)
	if !isKnown || isLater {
		l.emit(w.event(EventWait, now))
	}
	if l.stepping && (isLater || l.Attempts > 0) && !w.isDeadline(now) && !l.isOver() {
		return false
	}
	sleepUntil(l.ctx, earliest(w.deadline, w.Due))
	if l.isOver() || w.isDeadline(time.Now()) {
		l.end(w)
	}
	return !w.hasEnded
}

// plan sets the time of w's next attempt.
func (w *wait) plan(now time.Time) {
	of := listing{hold: w.timeToHold(now)}
	if w.list != nil {
		of = w.list.listing(now)
	} else if w.isToConfirm() {
		of.streak = w.Streak
	}
	w.Due, w.LastAttempt, w.Previous = w.next(of, now)
}

// turn runs one attempt of w: it sends w through the gate, runs the probe, reports a rejected request or a
// quota to the limiter, and acts on the verdict. As soon as w has passed the gate, or has given up, turn calls
// next with the loop locked, so that another wait may enter the gate. It returns false if no attempt was made,
// because the wait has ended or a [Poller.Step] has to return first.
func (l *loop) turn(w *wait, next func()) (ok bool) {
	ctx, cancel := w.context(0)
	defer cancel()
	leave, pace, ok := l.enter(ctx, w)
	l.begin(w, ok, next)
	if !ok {
		return false
	}
	defer leave()
	if w.planned.streams { // a stream may take long, and must not keep other waits from their attempts
		leave()
	}
	w.attempt(ctx, pace)
	if pace != nil {
		w.Pause = cmp.Or(pace.feedBack(w.origin.name, w.last.observation, w.last.verdict), w.Pause)
	}
	w.finalize()
	l.conclude(w)
	return true
}

// begin counts an attempt of w and emits its EventStart. If ok is false, w did not pass the gate. Then w ends,
// unless a later [Poller.Step] can continue the wait. Before it unlocks the loop, begin calls next.
func (l *loop) begin(w *wait, ok bool, next func()) {
	defer l.lock()()
	defer next()
	if !ok {
		if !l.stepping || l.isOver() || w.closedPastDeadline != "" || w.isDeadline(time.Now()) {
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

// conclude emits the verdict of an attempt, and ends the targets that need no further attempt. An attempt that
// could not be made is not counted.
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
	if l.decide(); l.isOver() {
		l.end(w)
	}
}

// open prepares w for its first attempt. It ends the targets that had already ended in an earlier run, and all
// targets of w if no attempt can succeed.
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
		w.p.Probe = nil // w.probe holds the probe of the next attempt, so the first probe can be released
	case len(w.list.waiting) == 0 && w.list.Known != nil: // all elements had ended in earlier runs
		l.endList(w, "")
	default:
		w.list.narrow(asked)
	}
}

// end ends all targets of w that have not ended, because the run is over, the origin is closed, or the deadline
// has passed.
func (l *loop) end(w *wait) {
	if !w.hasEnded {
		l.endAll(w, cmp.Or(w.stopped(), TimedOut))
	}
}
