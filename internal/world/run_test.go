package world

import (
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
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
	period = flag.Duration("for", 0, "as many seeds as fit into this time, on all processors")
	only   = flag.String("only", "", "one caller: poller, step, group, list, line, line list")
	shared = flag.Bool("share", false, "half of the command lines share their limits, whose chance is not that of the seed")
	asked  = flag.Bool("table", false, "show what was exercised")
	all    = flag.Bool("all", false, "show the whole story of one seed")
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
func simulate(t *testing.T, p *plan) (rep report) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(p)
		res := callers[p.Caller](w)
		w.close()
		time.Sleep(5 * time.Minute) // for what hangs
		synctest.Wait()
		rep.exercised = make(map[string]bool)
		for _, i := range invariants {
			if i.check(w, res) {
				rep.exercised[i.name] = true
			}
		}
		w.saw["caller "+p.Caller], w.saw["ending "+string(res.How)] = true, true
		rep.broken, rep.saw, rep.story, rep.took = w.broken, w.saw, w.story, res.End.Sub(res.Began)
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
	if *asked || testing.Verbose() {
		fmt.Printf("%s\n%.0f seeds a second\n", s.table, float64(s.table.seeds)/time.Since(s.began).Seconds())
	}
}

// Seeds that have shown a fault once stay.
func TestWorld_foundSeeds(t *testing.T) {
	text, err := os.ReadFile("testdata/seeds.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		caller, number, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		seed, err := strconv.ParseUint(strings.TrimSpace(number), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		p := newPlan(seed, caller)
		if rep := simulate(t, p); len(rep.broken) > 0 {
			t.Error(story(t, p, rep.broken[0].invariant))
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
	s.mu.Lock()
	s.table.add(p, rep)
	isNew := false
	if len(rep.broken) > 0 {
		s.failed[rep.broken[0].invariant]++
		isNew = s.failed[rep.broken[0].invariant] <= stories
	}
	s.mu.Unlock()
	if *all {
		t.Log(strings.Join(rep.story, "\n"))
	}
	if len(rep.broken) == 0 {
		return true
	}
	first := rep.broken[0]
	if isNew {
		t.Error(story(t, shrink(t, p, first.invariant), first.invariant))
	} else {
		t.Errorf("seed %d breaks %q: %s", seed, first.invariant, first.what)
	}
	return true
}

// The same seed tells the same story.
func TestDeterminism(t *testing.T) {
	differ := 0
	for seed := *first; seed < *first+uint64(min(*count, 200)); seed++ {
		p := newPlan(seed, *only)
		one, two := simulate(t, p), simulate(t, p.clone())
		if slices.Sort(one.story); true {
			slices.Sort(two.story)
		}
		if !slices.Equal(one.story, two.story) {
			if differ++; differ <= 3 {
				for i := range min(len(one.story), len(two.story)) {
					if one.story[i] != two.story[i] {
						t.Logf("seed %d, %+v, alone %v, rate %v, line %d:\n%s\n---\n%s", seed, p.Line, p.Alone, p.Rate, i, strings.Join(one.story[max(0, i-5):i+1], "\n"), strings.Join(two.story[max(0, i-5):i+1], "\n"))
						break
					}
				}
			}
		}
	}
	if differ > 0 {
		t.Errorf("%d seeds tell another story the second time", differ)
	}
}
