package world

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// clone returns a copy of a plan in which anything may be changed.
func (p *plan) clone() *plan {
	q := *p
	q.Ops, q.Faults, q.Kills = slices.Clone(p.Ops), slices.Clone(p.Faults), slices.Clone(p.Kills)
	for i := range q.Ops {
		q.Ops[i].Phases = slices.Clone(q.Ops[i].Phases)
	}
	if p.List != nil {
		l := *p.List
		l.Known = slices.Clone(l.Known)
		q.List = &l
	}
	return &q
}

// cuts are the ways to make a plan simpler, the boldest first. One that changes nothing is left out
// by who tries them.
func (p *plan) cuts() (all []func(*plan)) {
	add := func(f func(*plan)) { all = append(all, f) }
	for _, size := range []int{len(p.Faults), len(p.Faults) / 2, len(p.Faults) / 4, 1} {
		for from := 0; size > 0 && from+size <= len(p.Faults); from += size {
			add(func(q *plan) { q.Faults = slices.Delete(q.Faults, from, from+size) })
		}
	}
	for i := range p.Kills {
		add(func(q *plan) { q.Kills = slices.Delete(q.Kills, i, i+1) })
	}
	for i := len(p.Ops) - 1; i > 0; i-- {
		add(func(q *plan) { q.dropOp(i) })
	}
	for i, o := range p.Ops {
		for j := range len(o.Phases) - 1 {
			add(func(q *plan) {
				q.Ops[i].Phases = slices.Delete(q.Ops[i].Phases, j, j+1)
				q.Ops[i].Phases[0].At = 0
			})
		}
		add(func(q *plan) { q.Ops[i].Style = 0 })
	}
	zero := []func(*plan){
		func(q *plan) { q.Threshold = 1 }, func(q *plan) { q.Interval = 0 }, func(q *plan) { q.Attempt = 0 }, func(q *plan) { q.Most = 0 },
		func(q *plan) { q.AtLeast, q.FailFast = 0, false }, func(q *plan) { q.Rate = 0 }, func(q *plan) { q.ErrorIf = nil },
		func(q *plan) { q.Alone = false }, func(q *plan) { q.Line.Share = false }, func(q *plan) { q.Line.File = false },
		func(q *plan) { q.Line.Events = false }, func(q *plan) { q.Line.Print = "" }, func(q *plan) { q.Line.Twice = false },
		func(q *plan) { q.Line.Batch = 0 }, func(q *plan) { q.Line.Log, q.Line.Twice, q.Kills = "", false, nil }, func(q *plan) { q.Until = &atoms[0] },
	}
	if p.List != nil {
		zero = append(zero, func(q *plan) { q.List.Known, q.Line.Batch = nil, 0 }, func(q *plan) { q.List.Expect = 0 }, func(q *plan) { q.List.Size = 9 }, func(q *plan) { q.List.Next = "auto" })
	}
	return append(all, zero...)
}

// dropOp leaves out an operation.
func (p *plan) dropOp(i int) {
	id := p.Ops[i].ID
	p.Ops = slices.Delete(p.Ops, i, i+1)
	p.AtLeast = min(p.AtLeast, len(p.Ops))
	if p.List != nil {
		p.AtLeast = 0
		p.List.Known = slices.DeleteFunc(p.List.Known, func(k int) bool { return k == id })
		p.List.Expect = min(p.List.Expect, len(p.Ops))
	}
}

// shrink returns the simplest plan that it finds which breaks an invariant as p does.
func shrink(t *testing.T, p *plan, invariant string) *plan {
	tries := 300
	for {
		better := false
		for _, cut := range p.cuts() {
			q := p.clone()
			if cut(q); fmt.Sprintf("%+v", q.view()) == fmt.Sprintf("%+v", p.view()) {
				continue
			}
			if tries--; tries < 0 {
				return p
			}
			if breaks(t, q, invariant) {
				p, better = q, true
				break
			}
		}
		if !better {
			return p
		}
	}
}

// view returns a plan without pointers, to compare and to show.
func (p *plan) view() []any {
	list := listing{}
	if p.List != nil {
		list = *p.List
	}
	q := *p
	q.Until, q.ErrorIf, q.List = nil, nil, nil
	return []any{q, p.Until.String(), p.ErrorIf.String(), list}
}

// most is how many lines of what happened a story has.
const most = 12

// story tells how a plan breaks an invariant: what was waited for, what went wrong, and the last of
// what happened.
func story(t *testing.T, p *plan, invariant string) string {
	rep := simulate(t, p)
	var b strings.Builder
	line := func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	for _, x := range rep.broken {
		if x.invariant == invariant {
			line("seed %d breaks %q: %s", p.Seed, x.invariant, x.what)
			break
		}
	}
	line("  again: scripts/world -seed %d -count 1%s", p.Seed, onlyFlag())
	if strings.HasPrefix(p.Caller, "line") {
		line("  poll %q", p.args("DIR")[4:])
	} else {
		line("  %s: --until %s --error-if %s, gone %v, 404 is not yet %v, threshold %d, interval %s, timeout %s, attempt %s, at most %d, at least %d, rate %.1f",
			p.Caller, p.untilText(), p.ErrorIf, p.Gone, p.NotYet, p.Threshold, p.Interval, p.Timeout, p.Attempt, p.Most, p.AtLeast, p.Rate)
	}
	if p.List != nil {
		line("  list %+v", *p.List)
	}
	for _, o := range p.Ops[:min(4, len(p.Ops))] {
		line("  %d: %s %s %v, style %d", o.ID, o.Method, o.Answer, o.Phases, o.Style)
	}
	if len(p.Faults)+len(p.Kills) > 0 {
		line("  faults %v, kills %+v, two at once %v", p.faultNames(), p.Kills, p.Line.Twice)
	}
	if left := len(rep.story) - most; left > 0 {
		line("  ... %d more", left)
		rep.story = rep.story[left:]
	}
	return b.String() + strings.Join(rep.story, "\n")
}

func onlyFlag() string {
	if *only == "" {
		return ""
	}
	return " -only '" + *only + "'"
}

// faultNames names the faults of a plan, the first eight.
func (p *plan) faultNames() (names []string) {
	for _, f := range p.Faults[:min(8, len(p.Faults))] {
		names = append(names, fmt.Sprintf("%s of %s#%d", f.Kind, f.Key, f.N))
	}
	return names
}
