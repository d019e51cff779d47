package ui

import (
	"cmp"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// A count is a number of targets in some state, by its word.
type count struct {
	n    int
	word string
	tone term.Tone
}

// endings counts the targets by how they ended, those that go on under "".
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

// counts returns how many targets are in which state: first how they ended.
func (b *Board) counts() []count {
	ended, waiting := b.endings(), map[status.Status]int{}
	for _, r := range b.rows {
		switch {
		case r == nil || r.over():
		case r.status.Ends(): // it was not seen often enough
			waiting[status.NotReady]++
		default:
			waiting[r.status]++
		}
	}
	all := []count{
		{ended[poll.Succeeded], string(status.Success), term.Good},
		{ended[poll.Failed] + ended[poll.CannotRun], string(status.Error), term.Bad},
		{ended[poll.HintTooLong], "throttled past the deadline", term.Bad},
		{ended[poll.AttemptsExhausted], outOfAttempts, term.Bad},
		{ended[poll.TimedOut], string(poll.TimedOut), term.Bad},
		{ended[poll.Interrupted], string(poll.Interrupted), term.Bad},
		{ended[poll.Cancelled], string(poll.Cancelled), term.Faint},
		{waiting[status.NotReady], string(status.NotReady), term.Pending},
		{waiting[status.Throttled], string(status.Throttled), term.Slow},
		{ended[""] - waiting[status.NotReady] - waiting[status.Throttled], "waiting", term.Faint},
	}
	return slices.DeleteFunc(all, func(c count) bool { return c.n <= 0 })
}

// outOfAttempts says how several targets ended: "2 attempts exhausted" would count attempts.
const outOfAttempts = "out of attempts"

// pieces returns the counts as parts of a line.
func (b *Board) pieces(p term.Palette) (all []piece) {
	for _, c := range b.counts() {
		n := strconv.Itoa(c.n) + " "
		all = append(all, piece{n + c.word, n + p.Paint(c.tone, c.word)})
	}
	return all
}

// countWords returns the counts as part of a line.
func (b *Board) countWords(p term.Palette) string {
	return line(math.MaxInt, ", ", b.pieces(p)...)
}

// A crowd is rows that have something in common.
type crowd struct {
	rows []*Row
	key  string
}

// crowds returns the targets by a key, without those whose key is "", the largest crowd
// first.
func (b *Board) crowds(keyOf func(*Row) string) []*crowd {
	byKey := map[string]*crowd{}
	for _, r := range b.rows {
		if r == nil {
			continue
		}
		key := keyOf(r)
		if byKey[key] == nil {
			byKey[key] = &crowd{key: key}
		}
		byKey[key].rows = append(byKey[key].rows, r)
	}
	delete(byKey, "")
	return slices.SortedFunc(maps.Values(byKey), func(a, b *crowd) int {
		return cmp.Or(cmp.Compare(len(b.rows), len(a.rows)), cmp.Compare(a.rows[0].n, b.rows[0].n))
	})
}

// reason returns the reason of the first row, with a mark for each number in which others
// differ. Those that were cancelled may have had other reasons.
func (c *crowd) reason(mark string) string {
	text := c.rows[0].kind
	for i, n := range c.rows[0].numbers {
		if slices.ContainsFunc(c.rows, func(r *Row) bool { return i >= len(r.numbers) || r.numbers[i] != n }) {
			n = mark
		}
		text = strings.Replace(text, numberPlace, n, 1)
	}
	return text
}

// commonest returns the targets that go on by their reasons, the most common one first.
func (b *Board) commonest(most int) []*crowd {
	all := b.crowds(func(r *Row) string {
		if r.over() {
			return ""
		}
		return r.kind
	})
	return all[:min(len(all), most)]
}

// number is what differs between the reasons of targets: a long word with digits, 41, 1m30s or
// 10.0.0.7. The code of an answer does not.
var number = regexp.MustCompile(`(HTTP|exit) \d+|[\w-]{8,}|\d\w*(\.\w+)*`)

// numberPlace stands for a number. Text that passed the sanitizer has none.
const numberPlace = "\x00"

// setReason notes what is said of a target.
func (r *Row) setReason(words string) {
	if words == r.reason {
		return
	}
	r.reason, r.numbers = words, nil
	r.kind = number.ReplaceAllStringFunc(words, func(found string) string {
		if strings.HasPrefix(found, "HTTP ") || strings.HasPrefix(found, "exit ") || !strings.ContainsAny(found, "0123456789") {
			return found
		}
		r.numbers = append(r.numbers, found)
		return numberPlace
	})
}
