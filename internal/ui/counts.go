package ui

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/pollcli/poll/internal/words"
	"github.com/pollcli/poll/poll"
)

// counts says how many targets are in which state: first how they ended.
func (b *Board) counts() string {
	n := map[string]int{"waiting": b.size - len(b.rows)}
	for _, r := range b.rows {
		n[r.state()]++
	}
	return words.Counts(n, "SUCCESS", "ERROR", "out of attempts", "interrupted", "cancelled", "still NOT_READY", "still THROTTLED", "NOT_READY", "THROTTLED", "waiting")
}

// A group is targets that have a state and a reason in common, but for its numbers.
type group []*Row

// groups returns the targets that are wanted, the largest group first.
func (b *Board) groups(wanted func(*Row) bool) []group {
	byKey := map[string]group{}
	for _, r := range b.rows {
		if r != nil && wanted(r) {
			byKey[r.key()] = append(byKey[r.key()], r)
		}
	}
	return slices.SortedFunc(maps.Values(byKey), func(a, b group) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a[0].n, b[0].n))
	})
}

// key is the same for all targets of a group. Cancelled targets are one group, whatever their
// reasons.
func (r *Row) key() string {
	if r.ending == poll.Cancelled {
		return r.state()
	}
	return r.state() + ", " + r.kind
}

// reason returns the reason of the targets, without its numbers if they differ.
func (g group) reason() string {
	if slices.ContainsFunc(g, func(r *Row) bool { return r.reason != g[0].reason }) {
		return g[0].kind
	}
	return g[0].reason
}

// commonest returns the largest groups of the targets that go on.
func (b *Board) commonest(most int) []group {
	all := b.groups(func(r *Row) bool { return !r.over() && r.reason != "" })
	return all[:min(len(all), most)]
}

// number is what differs between the reasons of targets: 41, 1m30s, 10.0.0.7, job-41. The
// code of an answer does not.
var number = words.Pattern(`(HTTP|exit) \d+|[\w-]*\d[\w.-]*`)

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
