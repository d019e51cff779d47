package ui

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

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

// outOfAttempts says how several targets ended: "2 attempts exhausted" would count attempts.
const outOfAttempts = "out of attempts"

// state says in a word where one of several targets stands.
func (r *Row) state() string {
	switch {
	case r == nil || r.status == status.None && !r.over():
		return "waiting"
	case isOpen(r.ending):
		return "still " + r.pending()
	case !r.over():
		return r.pending()
	case endedByVerdict(r.ending):
		return string(statusOf(r.ending))
	case r.ending == poll.AttemptsExhausted:
		return outOfAttempts
	}
	return string(r.ending)
}

// pending returns the status of a target that is not done. A SUCCESS or an ERROR was then not seen
// often enough.
func (r *Row) pending() string {
	if r.status == status.Throttled || r.ending == poll.HintTooLong {
		return string(status.Throttled)
	}
	return string(status.NotReady)
}

// tone returns the colour of the state.
func (r *Row) tone() term.Tone {
	if r.isMissed() {
		return term.Bad
	}
	return term.Tone(r.state())
}

// counts says how many targets are in which state: first how they ended.
func (b *Board) counts() string {
	n := map[string]int{"waiting": b.size - len(b.rows)}
	for _, r := range b.rows {
		n[r.state()]++
	}
	return words.Counts(n, "SUCCESS", "ERROR", outOfAttempts, "interrupted", "cancelled", "still NOT_READY", "still THROTTLED", "NOT_READY", "THROTTLED", "waiting")
}

// A crowd is targets that have a state and a reason in common, but for its numbers.
type crowd []*Row

// crowds returns the targets that are wanted, the largest crowd first.
func (b *Board) crowds(wanted func(*Row) bool) []crowd {
	byKey := map[string]crowd{}
	for _, r := range b.rows {
		if r != nil && wanted(r) {
			byKey[r.key()] = append(byKey[r.key()], r)
		}
	}
	return slices.SortedFunc(maps.Values(byKey), func(a, b crowd) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a[0].n, b[0].n))
	})
}

// key is what targets in a crowd have in common. Of those that were cancelled the reason does
// not matter.
func (r *Row) key() string {
	if r.ending == poll.Cancelled {
		return r.state()
	}
	return r.state() + ", " + r.kind
}

// reason returns the reason of the targets, without its numbers if they differ.
func (c crowd) reason() string {
	if slices.ContainsFunc(c, func(r *Row) bool { return r.reason != c[0].reason }) {
		return c[0].kind
	}
	return c[0].reason
}

// commonest returns the targets that go on, most of which have the first reason.
func (b *Board) commonest(most int) []crowd {
	all := b.crowds(func(r *Row) bool { return !r.over() && r.reason != "" })
	return all[:min(len(all), most)]
}

// number is what differs between the reasons of targets: 41, 1m30s, 10.0.0.7, job-41. The
// code of an answer does not.
var number = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(HTTP|exit) \d+|[\w-]*\d[\w.-]*`) })

// setReason notes what is said of a target.
func (r *Row) setReason(words string) {
	if words == r.reason {
		return
	}
	r.reason = words
	r.kind = number().ReplaceAllStringFunc(words, func(found string) string {
		if strings.Contains(found, " ") {
			return found
		}
		return "..."
	})
}
