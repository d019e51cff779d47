package world

import "strings"

// known are faults that are not mended yet. The table counts them, and no test fails by them. What is
// mended goes from here, and its plan into testdata/found.txt.
var known = []struct {
	what string
	is   func(p *plan, b breach) bool
}{
	{"no time is kept before the deadline for the turns that --rate gives the last looks of others", func(p *plan, b breach) bool {
		return p.Rate > 0 && len(p.Ops) > 1 && p.List == nil && b.invariant == "awake"
	}},
	{"an ERROR that has to be confirmed is confirmed by the same copy of a cache", func(p *plan, b breach) bool {
		return p.Cache != nil && p.Errors+int(p.Healing) > 0 && strings.Contains(b.what, "nothing said so")
	}},
	{"a run in slices takes a copy of a cache for another list", func(p *plan, b breach) bool {
		return p.Cache != nil && p.isLine() && p.List != nil && p.Threshold+int(p.Steady) > 0 && (b.invariant == "true" || b.invariant == "whole")
	}},
	{"the Date of a page is not compared with that of the 303 of a start which led to the page", func(p *plan, b breach) bool {
		return p.Cache != nil && p.Cache.Mute && p.Ops[0].Answer == "303" && b.invariant == "true"
	}},
	{"a 429 that --error-if makes an ERROR closes no host", func(p *plan, b breach) bool {
		return p.Line.Patience > 0 && b.invariant == "polite"
	}},
	{"the limit of an element that is looked at alone is not kept for the next list", func(p *plan, b breach) bool {
		return p.isLine() && p.List != nil && p.List.Follow && b.invariant == "polite"
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
