package ui

import (
	"slices"
	"time"

	"github.com/pollcli/poll/internal/detail"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// mostTold is how many of a kind are shown or reported one by one: targets, lists, failures, places, and
// changes of a reason.
const mostTold = 20

// shownLists is how many of the lists are shown.
const shownLists = 3

// A Row is what is known of a target, or of a list whose elements are targets. It is little,
// since there may be many.
type Row struct {
	n       int // from 1; 0 for a single wait and for a list
	name    string
	status  status.Status // of the last attempt or, once it has ended, of the outcome
	reason  string        // likewise, on one line
	kind    string        // the reason without the numbers by which targets differ
	attempt int           // that is waited for, under way, or was the last
	judged  int           // the last attempt that has ended, 0 for none
	began   time.Duration // since the start of the board
	limit   time.Duration // of the wait, 0 for none

	phase       poll.EventKind // that it is in: a wait, a start or an attempt
	since       time.Time      // the beginning of the phase
	due         time.Time      // the next attempt
	held        poll.HeldBy    // by this, in a wait
	messages    int            // of its streams
	heard       time.Time      // when the last of them came
	hint        string         // what the server asks for, in words
	tellsHint   bool           // the reason does so, too
	trouble     bool           // of a list: its elements could not be read
	operational time.Time      // since then the operation runs, zero before its start

	ending   poll.Ending // "" while it goes on
	elapsed  time.Duration
	outcome  *poll.Outcome // of a list; nil while it goes on
	progress reading       // of the last answer that says anything
	logged   logged
}

// A Board is what is known of all targets. A single wait is a board of one row.
type Board struct {
	goal    string // in words; "" for a single wait
	size    int    // targets, also those that have no event yet
	rows    []*Row // by their numbers; nil before the first event
	lists   []*Row
	began   time.Time           // zero before the first event
	history history             // of a single wait
	advice  map[string][]string // by how targets ended, what the first of them was told
}

// single reports whether the board is of one wait.
func (b *Board) single() bool { return b.goal == "" }

// few reports whether each target is shown by itself.
func (b *Board) few() bool { return b.size <= mostTold }

// at returns when something happened, since the start of the board.
func (b *Board) at(t time.Time) time.Duration { return max(0, t.Sub(b.began)) }

// Update brings the board up to date. It returns the row that an event is about, nil for
// none.
func (b *Board) Update(ev poll.Event) *Row {
	if b.began.IsZero() {
		b.began = ev.At.Add(-ev.Elapsed)
	}
	if ev.Kind == poll.EventPlace || ev.Kind == poll.EventGoal {
		return nil
	}
	if b.single() {
		b.history.update(ev)
	}
	r := b.row(ev)
	r.attempt = attemptOf(ev)
	if ev.Kind == poll.EventEnd {
		r.phase = ""
		b.end(r, ev.Outcome)
		return r
	}
	if r.messages, r.heard = ev.State.Messages, ev.State.Heard; ev.Kind == poll.EventMessage {
		b.judge(r, ev)
		return r
	}
	if ev.Kind == poll.EventAttempt {
		b.judge(r, ev)
	}
	r.phase, r.since, r.due, r.held = ev.Kind, ev.At, ev.State.Due, ev.HeldBy
	r.hint, r.operational = hintWords(ev), ev.State.Began
	return r
}

// row returns the row of an event, a new one if it is the first.
func (b *Board) row(ev poll.Event) *Row {
	if ev.N == 0 && !b.single() {
		for _, list := range b.lists {
			if list.name == ev.Target {
				return list
			}
		}
		b.lists = append(b.lists, b.newRow(ev))
		return b.lists[len(b.lists)-1]
	}
	n := max(1, ev.N)
	for len(b.rows) < n {
		b.rows = append(b.rows, nil)
	}
	b.size = max(b.size, n)
	if b.rows[n-1] == nil {
		b.rows[n-1] = b.newRow(ev)
	}
	return b.rows[n-1]
}

func (b *Board) newRow(ev poll.Event) *Row {
	return &Row{n: ev.N, name: ev.Target, began: b.at(ev.At.Add(-ev.Elapsed)), limit: timeoutOf(ev)}
}

// judge notes what an attempt came to.
func (b *Board) judge(r *Row, ev poll.Event) {
	r.status = ev.Verdict.Status
	r.setReason(verdictWords(ev))
	r.judged, r.tellsHint = attemptOf(ev), ev.Verdict.TellsHint
	r.trouble = ev.Verdict.Status != status.NotReady || ev.Observation != nil && !ev.Observation.Good()
}

// neverSeen is the reason of an element that no answer of a list has held.
const neverSeen = "never seen"

// end notes how a target ended.
func (b *Board) end(r *Row, o *poll.Outcome) {
	r.status, r.ending, r.elapsed = o.Status, o.Ending, o.Elapsed
	if r.n == 0 {
		r.outcome = o
		r.setReason(oneLine(o.Reason))
		return
	}
	lines := advice(o)
	r.setReason(oneLine(decisive(o)))
	if o.Observation != nil && o.Observation.Presence == detail.Missing && !o.State.Shown {
		r.setReason(neverSeen)
		lines = []string{"hint: an element's name is what --id reads in it, or else its .id, .name or .metadata.name"}
	}
	if r.isLacking() && b.advice[r.key()] == nil {
		b.advice[r.key()] = lines
	}
}

// busy reports whether an attempt is under way.
func (r *Row) busy() bool { return r.phase == poll.EventStart }

// age returns how long a target has been waited for, or was.
func (b *Board) age(r *Row, now time.Time) time.Duration {
	if r.over() {
		return r.elapsed
	}
	return max(0, b.at(now)-r.began)
}

// operation returns how long the operation of a row has been running, 0 before its start.
func (r *Row) operation(now time.Time) time.Duration {
	if r.operational.IsZero() {
		return 0
	}
	return max(0, now.Sub(r.operational))
}

// open returns the first of the lists that can be waited for, the next one to be looked at before others.
func (b *Board) open() []*Row {
	open := slices.DeleteFunc(slices.Clone(b.lists), (*Row).over)
	slices.SortStableFunc(open, func(a, b *Row) int { return a.due.Compare(b.due) })
	return open[:min(len(open), shownLists)]
}
