package ui

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
)

const (
	shownLists   = 3 // how many lists are drawn at the same time
	closingHints = 3 // how many hints are printed for targets with the same reason
)

// A board holds the display state of all targets: one [boardRow] per target. Every face, a way to show a wait, draws
// the board. If only one target is waited for, the board is called single and has one row. With --each, the board
// also has a row for each list, a response whose elements are the targets.
type board struct {
	goal     string      // the goal in words; "" for a single board
	size     int         // the number of targets, including targets without an event so far
	rows     []*boardRow // the rows of targets, by target number minus 1; nil before a target's first event
	lists    []*boardRow
	began    time.Time           // the start of the wait; zero before the first event
	timeline timeline            // the attempts of the only target, if the board is single
	hints    map[string][]string // by [boardRow.key]: the hints for the first target with that key
}

// single reports whether the board shows a wait for one target, which is not part of a group.
func (b *board) single() bool { return b.goal == "" }

// isFew reports whether there are so few targets that each is shown separately.
func (b *board) isFew() bool { return b.size <= mostShown }

// at returns the time from the start of the wait to t, or 0 if t is earlier.
func (b *board) at(t time.Time) time.Duration { return max(0, t.Sub(b.began)) }

// isEnd reports whether ev is the last event of the run.
func (b *board) isEnd(ev poll.Event) bool {
	return ev.Kind == poll.EventGoal || ev.Kind == poll.EventEnd && b.single()
}

// update updates the board according to the event ev, and returns the row of the event's target. It returns nil if
// the event does not belong to a target.
func (b *board) update(ev poll.Event) *boardRow {
	if b.began.IsZero() {
		b.began, b.timeline.ended = ev.At.Add(-ev.Elapsed), ev.Elapsed
	}
	if ev.Kind == poll.EventOrigin || ev.Kind == poll.EventGoal {
		return nil
	}
	if b.single() {
		b.timeline.update(ev)
	}
	r := b.row(ev)
	if r.attempt = ev.State.Attempts; ev.Kind == poll.EventWait {
		r.attempt++ // the next attempt
	}
	if ev.Kind != poll.EventEnd {
		r.update(ev)
		return r
	}
	r.end(ev.Outcome)
	if !b.single() && r.isLacking() && b.hints[r.key()] == nil {
		hints := advice(ev.Outcome)
		b.hints[r.key()] = hints[:min(len(hints), closingHints)]
	}
	return r
}

// row returns the row of the event's target or list. It adds a row at the first event of a target or list.
func (b *board) row(ev poll.Event) *boardRow {
	list := &b.rows
	i := max(1, ev.N) - 1
	if ev.N == 0 && !b.single() {
		list = &b.lists
		if i = slices.IndexFunc(b.lists, func(r *boardRow) bool { return r.name == ev.Target }); i < 0 {
			i = len(b.lists)
		}
	}
	for len(*list) <= i {
		*list = append(*list, nil)
	}
	if (*list)[i] == nil {
		(*list)[i] = &boardRow{n: ev.N, name: ev.Target, began: b.at(ev.At.Add(-ev.Elapsed)), limit: timeoutOf(ev)}
	}
	b.size = max(b.size, len(b.rows))
	return (*list)[i]
}

// age returns how long poll has waited for the row's target: until the time now, or until the target ended.
func (b *board) age(r *boardRow, now time.Time) time.Duration {
	if r.over() {
		return r.elapsed
	}
	return max(0, b.at(now)-r.began)
}

// open returns up to shownLists lists that have not ended, sorted by the time of their next attempt.
func (b *board) open() []*boardRow {
	open := slices.DeleteFunc(slices.Clone(b.lists), (*boardRow).over)
	slices.SortStableFunc(open, func(a, b *boardRow) int { return a.due.Compare(b.due) })
	return open[:min(len(open), shownLists)]
}

// failed returns the lists that have ended. A list ends on its own only if poll cannot wait for its elements.
func (b *board) failed() []*boardRow {
	return slices.DeleteFunc(slices.Clone(b.lists), func(list *boardRow) bool { return !list.over() })
}

// endings returns the number of targets for each ending. The key "" counts the targets that have not ended.
func (b *board) endings() map[poll.Ending]int {
	n := map[poll.Ending]int{"": b.size}
	for _, r := range b.rows {
		if r != nil && r.over() {
			n[r.ending]++
			n[""]--
		}
	}
	return n
}

// states returns the number of targets in each state as text, such as "4 done, 1 failed, 10 waiting".
func (b *board) states() string {
	n, order := map[string]int{}, []string{}
	ended := b.endings()
	for _, m := range meanings() {
		n[m.state] += ended[m.ending]
		order = append(order, m.state)
	}
	return words.Counts(n, slices.Compact(order)...)
}

// A bucket is a group of targets with the same state and, apart from numbers in the reason, the same reason.
type bucket []*boardRow

// buckets groups the rows for which wanted returns true, and returns the largest bucket first.
func buckets(rows []*boardRow, wanted func(*boardRow) bool) []bucket {
	byKey := map[string]bucket{}
	for _, r := range rows {
		if r != nil && wanted(r) {
			byKey[r.key()] = append(byKey[r.key()], r)
		}
	}
	return slices.SortedFunc(maps.Values(byKey), func(a, b bucket) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a[0].n, b[0].n))
	})
}

// reason returns the reason that the targets in b share. Numbers that differ between the targets are replaced by
// "...".
func (b bucket) reason() string {
	if slices.ContainsFunc(b, func(r *boardRow) bool { return r.reason != b[0].reason }) {
		return b[0].reasonPattern()
	}
	return b[0].reason
}

// commonest returns the largest buckets of targets that have not ended, in descending order. most is the maximum
// number of buckets. commonest ignores targets without a reason.
func (b *board) commonest(most int) []bucket {
	all := buckets(b.rows, func(r *boardRow) bool { return !r.over() && r.reason != "" })
	return all[:min(len(all), most)]
}

// A moment is an attempt in the timeline of a single wait, the list of attempts in the output of --json.
type moment struct {
	Attempt int         `json:"attempt"`
	At      secondsJSON `json:"at_s"` // when the attempt started, since the start of the run
	Status  string      `json:"status"`
	Reason  string      `json:"reason"`
	Took    secondsJSON `json:"took_s"`
	Wait    secondsJSON `json:"wait_s"` // how long poll waited before the attempt
}

// The numbers of attempts that a timeline keeps from the start and from the end of a wait.
const (
	firstMoments = 50
	lastMoments  = 450
)

// A timeline holds the attempts of a single wait. It drops attempts in the middle of a long wait.
type timeline struct {
	moments []moment
	ended   time.Duration // when the last attempt ended; before the first attempt, the time of the first event
}

// update adds the attempt that the event ev reports. It ignores other events. It drops many attempts at a time,
// because each drop moves all later attempts.
func (t *timeline) update(ev poll.Event) {
	if ev.Kind != poll.EventAttempt {
		return
	}
	if len(t.moments) == firstMoments+2*lastMoments {
		t.moments = slices.Delete(t.moments, firstMoments, firstMoments+lastMoments)
	}
	start := ev.Elapsed - ev.Took
	t.moments = append(t.moments, moment{
		Attempt: ev.State.Attempts, At: seconds(start), Status: string(ev.Verdict.Status),
		Reason: term.Line(ev.Verdict.Reason), Took: seconds(ev.Took), Wait: seconds(max(0, start-t.ended)),
	})
	t.ended = ev.Elapsed
}

// kept returns the first and the last attempts, without the attempts between them.
func (t *timeline) kept() []moment {
	all := append([]moment{}, t.moments...)
	first := min(len(all), firstMoments)
	return slices.Delete(all, first, max(first, len(all)-lastMoments))
}

// secondsJSON is a number of seconds in JSON, rounded to milliseconds.
type secondsJSON float64

func seconds(d time.Duration) secondsJSON {
	return secondsJSON(math.Round(d.Seconds()*1000) / 1000)
}
