package poll

import (
	"cmp"
	"container/heap"
	"sync"
	"time"
)

// A schedule keeps the due times of the waits of a group. A wait that is due lines up at its origin, and gets a
// goroutine for one attempt when its turn comes. So a wait that sleeps costs no goroutine. The waits of an origin have
// their turns in the order of their due times.
type schedule struct {
	agenda agenda
	woken  chan struct{}  // has a value if the agenda has a new first entry
	turns  sync.WaitGroup // the goroutines of attempts
}

// A line is where waits that are due stand until their turn. The gate takes one wait of a line at a time.
type line struct {
	waits  []*wait
	isBusy bool // one wait is in the gate
}

// drive waits for the targets of a group, and ends the targets that are left.
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

// openAll opens all waits, and plans their first attempts.
func (l *loop) openAll() {
	defer l.lock()()
	for _, w := range l.waits {
		l.open(w)
	}
	for _, w := range l.waits {
		l.plan(w)
		if !w.over && !w.deadline.Equal(l.deadline) {
			l.wakeAt(w, w.deadline)
		}
	}
	l.decide()
}

// plan plans the next attempt of a wait, unless all its targets have ended.
func (l *loop) plan(w *wait) {
	w.isBusy = false
	if w.over || l.isOver() {
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

// rest ends a wait that makes no more attempts. The loop keeps no data of waits that have ended.
func (l *loop) rest(w *wait) {
	l.end(w)
	w.leaveOrigin()
	l.waits[w.order] = nil
	*w = wait{over: true}
}

// endResting ends the waits that make no attempt.
func (l *loop) endResting() {
	defer l.lock()()
	for _, w := range l.waits {
		if w != nil && !w.isBusy {
			l.rest(w)
		}
	}
}

// leaveOrigin removes a wait from the count of its origin.
func (w *wait) leaveOrigin() {
	if w.origin != nil {
		w.origin.waits--
	}
}

// timeForOthers returns the time that one attempt of each other wait takes if all take as long as the attempts of w. All
// waits share the workers, and the waits of an origin share its room.
func (l *loop) timeForOthers(w *wait) time.Duration {
	took := w.median()
	others := time.Duration(l.unfinished-1) * took / time.Duration(l.Parallel)
	if w.origin.most > 0 {
		others = max(others, time.Duration(w.origin.waits-1)*took/time.Duration(w.origin.most))
	}
	return others
}

// lineUpDue sends the waits that are due into their lines, and ends the waits whose deadline has come. It returns the
// time until the next appointment; ok is false without a further appointment.
func (l *loop) lineUpDue() (wait time.Duration, ok bool) {
	defer l.lock()()
	for len(l.agenda) > 0 && !l.isOver() {
		now := time.Now()
		if wait := l.agenda[0].at.Sub(now); wait > 0 {
			return wait, true
		}
		w := heap.Pop(&l.agenda).(appointment).wait
		switch {
		case w.over || w.isBusy: // an attempt that is under way ends at the deadline by itself
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

// lineOf returns the line of a wait: the line of its origin, or its own line if the wait has a limiter of its own. Other
// waits do not wait for such a limiter.
func (l *loop) lineOf(w *wait) *line {
	if w.p.Limiter != nil {
		return &w.own
	}
	return &w.origin.line
}

// admit starts the turn of the first wait in a line. The turn of the next wait starts once the first wait is
// through the gate.
func (l *loop) admit(line *line) {
	line.isBusy = false
	for len(line.waits) > 0 && !line.isBusy && !l.isOver() {
		w := line.waits[0]
		line.waits = line.waits[1:]
		if w.over { // at its deadline
			continue
		}
		line.isBusy, w.isBusy = true, true
		l.turns.Go(func() {
			defer l.next(w) // also if the probe ends its goroutine
			l.turn(w, func() { l.admit(line) })
		})
	}
}

// next plans the next attempt of a wait after its turn.
func (l *loop) next(w *wait) {
	defer l.lock()()
	l.plan(w)
	l.decide()
}

// An agenda is a heap of appointments (container/heap). Equal times have the order of their waits.
type agenda []appointment

// An appointment is the due time of a wait, or its deadline.
type appointment struct {
	at   time.Time
	wait *wait
}

func (a agenda) Len() int { return len(a) }

func (a agenda) Less(i, j int) bool {
	return cmp.Or(a[i].at.Compare(a[j].at), cmp.Compare(a[i].wait.order, a[j].wait.order)) < 0
}

func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }

// Push adds an appointment at the end; package heap calls it.
func (a *agenda) Push(x any) { *a = append(*a, x.(appointment)) }

// Pop removes the last appointment; package heap calls it.
func (a *agenda) Pop() any {
	last := len(*a) - 1
	x := (*a)[last]
	*a = (*a)[:last]
	return x
}

// wakeAt adds an appointment.
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
