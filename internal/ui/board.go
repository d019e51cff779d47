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
	shownLists   = 3 // the largest number of lists that are drawn
	closingHints = 3 // and of the hints for the targets with the same reason
)

// A Board is the state of all targets. A single wait is a board of one row.
type Board struct {
	goal     string // in words; "" for a single wait
	size     int    // the number of targets, also before their first events
	rows     []*Row // by their numbers; nil before the first event
	lists    []*Row
	began    time.Time           // zero before the first event
	timeline timeline            // of a single wait
	hints    map[string][]string // by the key of a row: the hints for the first target
}

// single reports whether the board has a single wait.
func (b *Board) single() bool { return b.goal == "" }

// few reports whether each target is shown by itself.
func (b *Board) few() bool { return b.size <= mostTold }

// at returns when something happened, since the start of the board.
func (b *Board) at(t time.Time) time.Duration { return max(0, t.Sub(b.began)) }

// isEnd reports whether an event is the last.
func (b *Board) isEnd(ev poll.Event) bool {
	return ev.Kind == poll.EventGoal || ev.Kind == poll.EventEnd && b.single()
}

// Update reads an event, and returns the row of its target. It returns nil for an event without a target.
func (b *Board) Update(ev poll.Event) *Row {
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
	r.attempt = attemptOf(ev)
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

// row returns the row of an event, a new one for the first event of a target.
func (b *Board) row(ev poll.Event) *Row {
	list := &b.rows
	i := max(1, ev.N) - 1
	if ev.N == 0 && !b.single() {
		list = &b.lists
		if i = slices.IndexFunc(b.lists, func(r *Row) bool { return r.name == ev.Target }); i < 0 {
			i = len(b.lists)
		}
	}
	for len(*list) <= i {
		*list = append(*list, nil)
	}
	if (*list)[i] == nil {
		(*list)[i] = newRow(ev, b.at(ev.At.Add(-ev.Elapsed)))
	}
	b.size = max(b.size, len(b.rows))
	return (*list)[i]
}

// age returns the duration of the wait for a target, up to now or to its end.
func (b *Board) age(r *Row, now time.Time) time.Duration {
	if r.over() {
		return r.elapsed
	}
	return max(0, b.at(now)-r.began)
}

// open returns the first lists that have not ended, those with the earliest next attempt first.
func (b *Board) open() []*Row {
	open := slices.DeleteFunc(slices.Clone(b.lists), (*Row).over)
	slices.SortStableFunc(open, func(a, b *Row) int { return a.due.Compare(b.due) })
	return open[:min(len(open), shownLists)]
}

// failed returns the lists that have ended: they could not be waited for.
func (b *Board) failed() []*Row {
	return slices.DeleteFunc(slices.Clone(b.lists), func(list *Row) bool { return !list.over() })
}

// endings counts the targets by their endings, and under "" the targets before their ends.
func (b *Board) endings() map[poll.Ending]int {
	n := map[poll.Ending]int{"": b.size}
	for _, r := range b.rows {
		if r != nil && r.over() {
			n[r.ending]++
			n[""]--
		}
	}
	return n
}

// states counts the targets by their states: "4 done, 1 failed, 10 waiting".
func (b *Board) states() string {
	n, order := map[string]int{}, []string{}
	ended := b.endings()
	for _, m := range meanings() {
		n[m.state] += ended[m.ending]
		order = append(order, m.state)
	}
	return words.Counts(n, slices.Compact(order)...)
}

// A bucket is targets with the same state and reason, except for numbers in the reason.
type bucket []*Row

// buckets returns the rows that are wanted, the largest bucket first.
func buckets(rows []*Row, wanted func(*Row) bool) []bucket {
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

// reason returns the reason of the targets, without its numbers if they differ.
func (b bucket) reason() string {
	if slices.ContainsFunc(b, func(r *Row) bool { return r.reason != b[0].reason }) {
		return b[0].pattern
	}
	return b[0].reason
}

// commonest returns the largest buckets of the targets that have not ended.
func (b *Board) commonest(most int) []bucket {
	all := buckets(b.rows, func(r *Row) bool { return !r.over() && r.reason != "" })
	return all[:min(len(all), most)]
}

// A Moment is an attempt in the timeline of a wait.
type Moment struct {
	Attempt int     `json:"attempt"`
	At      Seconds `json:"at_s"` // since the start of the run, the start of the attempt
	Status  string  `json:"status"`
	Reason  string  `json:"reason"`
	Took    Seconds `json:"took_s"`
	Wait    Seconds `json:"wait_s"` // before the attempt
}

// The numbers of the first and of the last attempts that are kept.
const (
	firstMoments = 50
	lastMoments  = 450
)

// A timeline is the attempts of a single wait.
type timeline struct {
	moments []Moment
	ended   time.Duration // the end of the last attempt, or the first event
}

// update reads an event.
func (t *timeline) update(ev poll.Event) {
	if ev.Kind != poll.EventAttempt {
		return
	}
	start := ev.Elapsed - ev.Took
	t.add(Moment{
		Attempt: attemptOf(ev), At: seconds(start), Status: string(ev.Verdict.Status),
		Reason: term.Line(ev.Verdict.Reason), Took: seconds(ev.Took), Wait: seconds(max(0, start-t.ended)),
	})
	t.ended = ev.Elapsed
}

func (t *timeline) add(m Moment) {
	if len(t.moments) == firstMoments+lastMoments {
		t.moments = slices.Delete(t.moments, firstMoments, firstMoments+1)
	}
	t.moments = append(t.moments, m)
}

// Seconds is a number of seconds in JSON, to the millisecond.
type Seconds float64

func seconds(d time.Duration) Seconds {
	return Seconds(math.Round(d.Seconds()*1000) / 1000)
}
