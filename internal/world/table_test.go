package world

import (
	"fmt"
	"strings"
	"time"
)

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
