package world

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var (
	first  = flag.Uint64("seed", 1, "the first seed")
	count  = flag.Int("count", 3000, "how many seeds")
	period = flag.Duration("for", 0, "as many seeds as fit into this time")
	only   = flag.String("only", "", "one caller: poller, step, group, list, line, line list")
	asked  = flag.Bool("table", false, "show what was exercised")
	all    = flag.Bool("all", false, "show all that happened")
)

// A report is what one simulation has come to.
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
		w.saw["caller "+p.Caller], w.saw["ending "+string(res.How)] = true, true
		w.saw["no --until"], w.saw["at least a share"] = p.Unless, p.Percent > 0
		others, names := p.newFaults(w.broken)
		for _, name := range names {
			w.saw["known: "+name] = true
		}
		rep.broken, rep.saw, rep.story, rep.took = others, w.saw, w.story, res.End.Sub(w.began)
	})
	return rep
}

// breaks reports whether a plan breaks an invariant.
func breaks(t *testing.T, p *plan, invariant string) bool {
	return slices.ContainsFunc(simulate(t, p).broken, func(b breach) bool { return b.invariant == invariant })
}

func TestWorld(t *testing.T) {
	if *period > 0 {
		*count = math.MaxInt
	}
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
		if err := json.Unmarshal([]byte(line), p); err != nil || !p.isSound() {
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

// stories is how many seeds of each invariant are shrunk and told. Of the rest there is a line.
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
		invariant := rep.broken[0].invariant
		t.Error(story(t, shrink(t, p, invariant), invariant))
	case len(rep.broken) > 0:
		t.Errorf("seed %d of %s breaks %q: %s", seed, p.Caller, rep.broken[0].invariant, rep.broken[0].what)
	}
	return true
}
