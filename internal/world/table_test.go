package world

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A table counts what was exercised.
type table struct {
	seeds, broken       int
	invariants, breaks  map[string]int
	features            map[string]int
	simulated           float64 // hours
	waits, lines, kills int
}

func newTable() *table {
	return &table{invariants: make(map[string]int), breaks: make(map[string]int), features: make(map[string]int)}
}

func (t *table) add(p *plan, rep report) {
	t.seeds++
	t.simulated += rep.took.Hours()
	if strings.HasPrefix(p.Caller, "line") {
		t.lines++
	} else {
		t.waits++
	}
	if len(rep.broken) > 0 {
		t.broken++
	}
	for name := range rep.exercised {
		t.invariants[name]++
	}
	for name := range rep.saw {
		t.features[name]++
	}
	for _, b := range rep.broken {
		t.breaks[b.invariant]++
	}
}

// rare is the share of seeds below which a feature counts as untested.
const rare = 0.01

func (t *table) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d seeds: %d waits, %d command lines, %.0f simulated hours; %d show a fault\n", t.seeds, t.waits, t.lines, t.simulated, t.broken)
	for _, i := range invariants {
		fmt.Fprintf(&b, "  %-10s exercised %8d, broken %d\n", i.name, t.invariants[i.name], t.breaks[i.name])
	}
	var line []string
	for _, name := range slices.Sorted(maps.Keys(t.features)) {
		mark := ""
		if float64(t.features[name]) < rare*float64(t.seeds) {
			mark = " (rare)"
		}
		line = append(line, fmt.Sprintf("%s %.1f%%%s", name, 100*float64(t.features[name])/float64(t.seeds), mark))
	}
	return b.String() + "  " + strings.Join(line, "; ")
}
