// Package world simulates whole waits: servers that fail, lie and forget, the truth, and
// callers that are killed and resume. Time is that of a synctest bubble, connections are pipes, and
// all chance comes from a seed, so a seed shows the same story again. The truth at each moment is
// known, so a verdict is compared with the truth, and not with a response.
package world

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/pollcli/poll/status"
)

// A world is the state of one simulation. mu guards all of it.
type world struct {
	*plan
	mu      sync.Mutex
	began   time.Time
	ended   time.Time
	lives   []*life // in the order of the plan
	asked   map[string]int
	hints   map[string]hint      // by the name that limited returns
	longest map[string]time.Time // the last of all hints
	wholes  []whole
	copies  map[string]reply // that the cache has, by key

	conditions func() status.Rules // compiled once
	judged     map[string]bool     // whether a document shows success

	processes []*process
	cuts      int // of them, killed
	troubled  time.Time
	answered  time.Time // the last request, whether somebody still waited for it or not
	onKill    func()
	onStart   func() // once one was processed

	saw    map[string]bool // features
	broken []breach
	story  []string
}

// A breach says which invariant does not hold, and how.
type breach struct{ invariant, what string }

func newWorld(p *plan) *world {
	w := &world{plan: p, began: time.Now(), asked: make(map[string]int), hints: make(map[string]hint), longest: make(map[string]time.Time), saw: make(map[string]bool), judged: make(map[string]bool)}
	w.conditions = sync.OnceValue(p.rules)
	for i := range p.Ops {
		l := &life{operation: &p.Ops[i]}
		if l.Method == "" {
			l.started = w.began
		}
		if p.Line.Strict {
			l.excuse = "--strict"
		}
		w.lives = append(w.lives, l)
	}
	w.copies = w.newCopies()
	return w
}

// lifeOf returns that of an operation, nil if there is none of that ID.
func (w *world) lifeOf(id string) *life {
	for _, l := range w.lives {
		if fmt.Sprint(l.ID) == id {
			return l
		}
	}
	return nil
}

// tell adds a line to the story.
func (w *world) tell(format string, a ...any) {
	w.story = append(w.story, fmt.Sprintf("%9.4fs ", time.Since(w.began).Seconds())+fmt.Sprintf(format, a...))
}

// blame notes a breach.
func (w *world) blame(invariant, format string, a ...any) {
	w.broken = append(w.broken, breach{invariant, fmt.Sprintf(format, a...)})
}

// pick returns one of some.
func pick[T any](r *rand.Rand, some ...T) T { return some[r.IntN(len(some))] }

// drawn returns a time between two.
func drawn(r *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(r.Int64N(int64(to-from)))
}

// sorted returns the keys of a table in an order that is always the same.
func sorted[V any](table map[string]V) []string { return slices.Sorted(maps.Keys(table)) }
