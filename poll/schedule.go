package poll

import (
	"cmp"
	"container/heap"
	"sync"
	"time"
)

// A schedule runs the waits of a group at the right times. A wait that sleeps needs no goroutine: it only has
// an entry in the agenda. When its attempt is due, the wait joins the line of its origin, and gets a goroutine
// for that one attempt when it reaches the front. Waits at the same origin are served in the order of their due
// times.
type schedule struct {
	agenda agenda
	woken  chan struct{}  // receives a value when the first entry of the agenda changes
	turns  sync.WaitGroup // counts the goroutines of attempts
}

// A line is a queue of waits whose attempts are due. The first wait leaves the line and enters the gate, which limits
// concurrent attempts. The next wait leaves the line only after that wait has passed the gate, or has given up.
type line struct {
	waits  []*wait
	isBusy bool // a wait from this line is in the gate
}

// drive runs all targets of a group until the group is over, and ends the targets that are left.
func (l *loop) drive() {
	l.openAll()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for !l.isOver() {
		if wait, ok := l.lineUpDue(); ok {
			timer.Reset(wait)
		}
		select {
		case <-timer.C:
		case <-l.woken:
		case <-l.ctx.Done():
		}
	}
	l.endResting()
	l.turns.Wait()
}

// openAll prepares all waits, and plans their first attempts.
func (l *loop) openAll() {
	defer l.lock()()
	for _, w := range l.waits {
		l.open(w)
	}
	for _, w := range l.waits {
		l.plan(w)
		if !w.hasEnded && !w.deadline.Equal(l.deadline) {
			l.wakeAt(w, w.deadline)
		}
	}
	l.decide()
}

// plan plans the next attempt of w. If no attempt is needed because all targets of w have ended, or the run is
// over, plan retires w.
func (l *loop) plan(w *wait) {
	w.isBusy = false
	if w.hasEnded || l.isOver() {
		l.rest(w)
		return
	}
	now := time.Now()
	w.leaveOrigin()
	w.origin = l.originOf(w)
	w.origin.waits++
	w.others = l.timeForOthers(w)
	w.plan(now)
	l.emit(w.event(EventWait, now))
	l.wakeAt(w, w.Due)
}

// rest retires w, which makes no further attempts: it ends w's remaining targets, and releases the memory of w.
func (l *loop) rest(w *wait) {
	l.end(w)
	w.leaveOrigin()
	l.waits[w.index] = nil
	*w = wait{hasEnded: true}
}

// endResting retires all waits that are not making an attempt.
func (l *loop) endResting() {
	defer l.lock()()
	for _, w := range l.waits {
		if w != nil && !w.isBusy {
			l.rest(w)
		}
	}
}

// leaveOrigin subtracts w from the number of waits at its origin.
func (w *wait) leaveOrigin() {
	if w.origin != nil {
		w.origin.waits--
	}
}

// timeForOthers estimates the total time for one attempt of every wait except w. It assumes that each attempt takes as
// long as the attempts of w. At most Parallel attempts run at the same time. At most ParallelOrigin attempts run at
// the same time at one origin.
func (l *loop) timeForOthers(w *wait) time.Duration {
	took := w.median()
	others := time.Duration(l.unfinished-1) * took / time.Duration(l.Parallel)
	if w.origin.most > 0 {
		others = max(others, time.Duration(w.origin.waits-1)*took/time.Duration(w.origin.most))
	}
	return others
}

// lineUpDue handles the agenda's entries whose time has come. It adds a wait to its line if an attempt is due,
// and ends the wait if its deadline has passed. It returns the time until the next entry. ok is false if the
// agenda is empty or the run is over.
func (l *loop) lineUpDue() (wait time.Duration, ok bool) {
	defer l.lock()()
	for len(l.agenda) > 0 && !l.isOver() {
		now := time.Now()
		if wait := l.agenda[0].at.Sub(now); wait > 0 {
			return wait, true
		}
		w := heap.Pop(&l.agenda).(appointment).wait
		switch {
		case w.hasEnded || w.isBusy: // a running attempt ends at its deadline by itself
		case w.isDeadline(now):
			l.rest(w)
			l.decide()
		default:
			line := l.lineOf(w)
			if line.waits = append(line.waits, w); !line.isBusy {
				l.admit(line)
			}
		}
	}
	return 0, false
}

// lineOf returns the line for w, which usually is the line of w's origin. A wait with its own limiter has its
// own line, so that the limiter delays no other wait.
func (l *loop) lineOf(w *wait) *line {
	if w.p.Limiter != nil {
		return &w.ownLine
	}
	return &w.origin.line
}

// admit starts an attempt of the first wait in line, on a new goroutine. When that wait has passed the gate or has
// given up, admit is called again for the next wait.
func (l *loop) admit(line *line) {
	line.isBusy = false
	for len(line.waits) > 0 && !line.isBusy && !l.isOver() {
		w := line.waits[0]
		line.waits = line.waits[1:]
		if w.hasEnded { // the wait has ended at its deadline
			continue
		}
		line.isBusy, w.isBusy = true, true
		l.turns.Go(func() {
			defer l.next(w) // deferred, so that it also runs if the probe calls runtime.Goexit
			l.turn(w, func() { l.admit(line) })
		})
	}
}

// next plans w's next attempt after an attempt has ended. It ends the run if the group's goal is now decided.
func (l *loop) next(w *wait) {
	defer l.lock()()
	l.plan(w)
	l.decide()
}

// An agenda is a heap of appointments, ordered by time. Appointments at the same time are in the order of their
// waits. It implements [heap.Interface].
type agenda []appointment

// An appointment is the time of a wait's next attempt, or its deadline.
type appointment struct {
	at   time.Time
	wait *wait
}

func (a agenda) Len() int { return len(a) }

func (a agenda) Less(i, j int) bool {
	return cmp.Or(a[i].at.Compare(a[j].at), cmp.Compare(a[i].wait.index, a[j].wait.index)) < 0
}

func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }

// Push implements [heap.Interface]. Only package heap calls it.
func (a *agenda) Push(x any) { *a = append(*a, x.(appointment)) }

// Pop implements [heap.Interface]. Only package heap calls it.
func (a *agenda) Pop() any {
	last := len(*a) - 1
	x := (*a)[last]
	*a = (*a)[:last]
	return x
}

// wakeAt adds an appointment for w to the agenda. If the appointment becomes the first of the agenda, wakeAt
// wakes the loop.
func (l *loop) wakeAt(w *wait, at time.Time) {
	heap.Push(&l.agenda, appointment{at, w})
	if l.agenda[0].wait != w {
		return
	}
	select {
	case l.woken <- struct{}{}:
	default:
	}
}
