// Package world simulates whole waits: servers that fail, lie and forget, the truth, and
// callers that are killed and resume. Time is that of a synctest bubble, connections are pipes, and
// all chance comes from a seed, so a seed shows the same story again. The truth at each moment is
// known, so a verdict is compared with the truth, and not with a response.
package world

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/status"
)

var (
	first  = flag.Uint64("seed", 1, "the first seed")
	count  = flag.Int("count", 1000, "how many seeds")
	period = flag.Duration("for", 0, "as many seeds as fit into this time")
	only   = flag.String("only", "", "one caller: poller, step, group, list, line, line list")
	asked  = flag.Bool("table", false, "show what was exercised")
	all    = flag.Bool("all", false, "show all that happened")
)

// A report is the result of one simulation.
type report struct {
	broken    []breach
	saw       map[string]bool
	exercised map[string]bool
	story     []string
	took      time.Duration // of simulated time
}

// simulate runs a plan in a world of its own.
func simulate(t *testing.T, p *plan) *report {
	rep := &report{exercised: make(map[string]bool)}
	synctest.Test(t, func(*testing.T) {
		w := newWorld(p)
		run := w.runLibrary
		if p.isLine() {
			run = w.runLine
		}
		res := run()
		w.ended = time.Now()
		time.Sleep(5 * time.Minute) // for what hangs
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, i := range invariants {
			if i.check(w, res) {
				rep.exercised[i.name] = true
			}
		}
		w.saw["no --until"], w.saw["no condition"], w.saw["at least a share"] = p.Unless, p.Plain, p.Percent > 0
		if preset := p.presetName(); preset != "" {
			w.saw["preset "+preset] = true
		}
		w.saw["credentials in the URL"] = p.User
		w.saw["object of a preset"], w.saw["list within an object"] = p.Object, p.List != nil && p.List.Within
		w.saw["success for a time"], w.saw["error threshold"], w.saw["error for a time"] = p.Steady > 0, p.Errors > 0, p.Healing > 0
		w.saw["shared directory"] = p.Share
		w.saw["queries"], w.saw["state in the header"], w.saw["cache"], w.saw["condition that denies"] = p.Query, p.Head, p.Cache != nil, p.Text > 0
		w.saw["hosts that hang"], w.saw["host that leads to another"], w.saw["name with addresses"] = p.Hung > 0, p.Alias, p.Names != nil
		if p.Stream != nil {
			w.saw["stream of "+p.Stream.Kind] = true
		}
		w.saw["learned"] = p.isLine() && p.Line.Learn > 0
		w.saw["HTTP/2"] = p.HTTP2 && p.Probe == ""
		w.saw["probe "+cmp.Or(p.Probe, "http")] = true
		w.saw["caller "+p.Caller], w.saw["ending "+cmp.Or(string(res.How), "refused")] = true, true
		others, names := p.newFaults(w.broken)
		for _, name := range names {
			w.saw["known: "+name] = true
		}
		rep.broken, rep.saw, rep.story, rep.took = others, w.saw, w.story, res.End.Sub(w.began)
	})
	return rep
}

func TestWorld(t *testing.T) {
	if *period > 0 {
		*count = math.MaxInt
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // each world is small, and soon gone
	s := &session{table: newTable(), began: time.Now(), failed: make(map[string]int)}
	s.next.Store(*first)
	t.Run("seeds", func(t *testing.T) {
		for worker := range runtime.GOMAXPROCS(0) {
			t.Run(fmt.Sprint(worker), func(t *testing.T) {
				t.Parallel()
				for s.one(t) {
				}
			})
		}
	})
	if *asked {
		fmt.Printf("%s\n%.0f seeds a second\n", s.table, float64(s.table.seeds)/time.Since(s.began).Seconds())
	}
}

// Plans that have shown a fault stay.
func TestWorld_found(t *testing.T) {
	for line := range strings.Lines(string(must(os.ReadFile("testdata/found.txt")))) {
		p := new(plan)
		if strings.HasPrefix(line, "#") {
			continue
		}
		if err := json.Unmarshal([]byte(line), p); err != nil {
			t.Fatalf("no plan: %s: %v", line, err)
		}
		if rep := simulate(t, p); len(rep.broken) > 0 {
			t.Error(story(t, p, rep.broken[0].invariant))
		}
	}
}

// The same seed tells the same story.
func TestWorld_repeats(t *testing.T) {
	for seed := *first; seed < *first+100; seed++ {
		// Processes that share a limit wait by their own chance. Requests at once over one connection of HTTP/2, and targets that end
		// at the same moment, have no order.
		if p := newPlan(seed, *only); p.Share || p.HTTP2 || p.FailFast {
			continue
		}
		one, two := simulate(t, newPlan(seed, *only)).story, simulate(t, newPlan(seed, *only)).story
		slices.Sort(one)
		slices.Sort(two)
		for i := range min(len(one), len(two)) {
			if one[i] != two[i] {
				t.Fatalf("seed %d tells another story:\n%s\n%s", seed, one[i], two[i])
			}
		}
	}
}

// A session is a run of many seeds, by several workers.
type session struct {
	next   atomic.Uint64
	began  time.Time
	mu     sync.Mutex
	table  *table
	failed map[string]int // seeds, by invariant
}

// stories is the number of seeds of each invariant whose story is printed. Each further seed has one line.
const stories = 3

// one simulates the next seed. It returns false if there is none.
func (s *session) one(t *testing.T) bool {
	seed := s.next.Add(1) - 1
	if seed-*first >= uint64(*count) || *period > 0 && time.Since(s.began) > *period {
		return false
	}
	p := newPlan(seed, *only)
	rep := simulate(t, p)
	if *all {
		t.Log(strings.Join(rep.story, "\n"))
	}
	s.mu.Lock()
	s.table.add(p, rep)
	isNew := false
	if len(rep.broken) > 0 {
		s.failed[rep.broken[0].invariant]++
		isNew = s.failed[rep.broken[0].invariant] <= stories
	}
	s.mu.Unlock()
	switch {
	case isNew:
		t.Error(story(t, p, rep.broken[0].invariant))
	case len(rep.broken) > 0:
		t.Errorf("seed %d of %s breaks %q: %s", seed, p.Caller, rep.broken[0].invariant, rep.broken[0].what)
	}
	return true
}

func (n *node) String() string { return n.text() }

// shown is how many lines of what happened a story has: the last.
const shown = 14

// story returns how a plan breaks an invariant: the operation, and the events.
func story(t *testing.T, p *plan, invariant string) string {
	rep := simulate(t, p)
	var b strings.Builder
	for _, x := range rep.broken {
		if x.invariant == invariant {
			fmt.Fprintf(&b, "seed %d breaks %q: %s\n  again: scripts/world -seed %d -count 1 -only %q\n", p.Seed, x.invariant, x.what, p.Seed, p.Caller)
			break
		}
	}
	b.WriteString("  ")
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	out.Encode(p)
	if p.isLine() {
		fmt.Fprintf(&b, "  poll %q\n", p.args("DIR")[4:])
	}
	left := max(0, len(rep.story)-shown)
	if *all {
		left = 0
	}
	fmt.Fprintf(&b, "  after %d other lines:\n", left)
	return b.String() + strings.Join(rep.story[left:], "\n")
}

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

// known are faults that are not mended yet. The table counts them, and no test fails by them. After the
// fix, remove the row here, and add its plan to testdata/found.txt.
var known = []struct {
	what string
	is   func(p *plan, b breach) bool
}{
	{"no time is kept before the deadline for the turns that --rate gives the last looks of others", func(p *plan, b breach) bool {
		return p.Rate > 0 && len(p.Ops) > 1 && p.List == nil && b.invariant == "awake"
	}},
	{"a list whose pages a cache has from different times may lack an element that is there, and counts as one absence", func(p *plan, b breach) bool {
		return p.Cache != nil && p.List != nil && p.List.Gone && (b.invariant == "true" || b.invariant == "whole")
	}},
}

// newFaults returns the breaches that are of no known fault, and names the known ones.
func (p *plan) newFaults(broken []breach) (others []breach, names []string) {
	for _, b := range broken {
		name := ""
		for _, k := range known {
			if k.is(p, b) {
				name = k.what
			}
		}
		if name == "" {
			others = append(others, b)
		} else {
			names = append(names, name)
		}
	}
	return others, names
}

// A table counts the exercised features.
type table struct {
	seeds, broken, lines, waits int
	invariants, breaks          map[string]int
	features                    map[string]int
	simulated                   time.Duration
}

func newTable() *table {
	return &table{invariants: make(map[string]int), breaks: make(map[string]int), features: make(map[string]int)}
}

func (t *table) add(p *plan, rep *report) {
	t.seeds++
	t.waits += len(p.Ops)
	t.simulated += rep.took
	if p.isLine() {
		t.lines++
	}
	if len(rep.broken) > 0 {
		t.broken++
	}
	for _, b := range rep.broken {
		t.breaks[b.invariant]++
	}
	for name := range rep.exercised {
		t.invariants[name]++
	}
	for name, is := range rep.saw {
		if is {
			t.features[name]++
		}
	}
}

// rare is the share of seeds below which a feature counts as untested.
const rare = 0.01

func (t *table) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d seeds with %d waits, one for each target or element; %d seeds are command lines; %.0f simulated hours; %d show a fault\n", t.seeds, t.waits, t.lines, t.simulated.Hours(), t.broken)
	for _, i := range invariants {
		fmt.Fprintf(&b, "  %-10s exercised by %8d, broken %d times\n", i.name, t.invariants[i.name], t.breaks[i.name])
	}
	for _, name := range sorted(t.features) {
		share, mark := float64(t.features[name])/float64(t.seeds), ""
		if share < rare && !strings.HasPrefix(name, "known") {
			mark = ", rare"
		}
		fmt.Fprintf(&b, "  %s %.1f%%%s;", name, 100*share, mark)
	}
	return b.String()
}
