package world

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// A plan is all that a seed decides. It is plain data, of which parts can be left out.
type plan struct {
	Seed   uint64
	Caller string // who waits: see callers
	Ops    []operation
	List   *listing // nil for operations by themselves
	Faults []fault
	Kills  []kill

	Until     *node
	ErrorIf   *node // nil for none
	Gone      bool  // in place of Until
	NotYet    bool  // a 404 means that it is not there yet
	Threshold int
	Interval  time.Duration // 0 for the default schedule
	Timeout   time.Duration
	Attempt   time.Duration // the most for one attempt, 0 for the default
	Most      int           // attempts, 0 for no limit
	AtLeast   int
	FailFast  bool
	Rate      float64
	Alone     bool // a connection is used once only
	Line      lineFlags
}

// pick returns one of some.
func pick[T any](r *rand.Rand, some ...T) T { return some[r.IntN(len(some))] }

// newPlan draws the plan of a seed.
func newPlan(seed uint64, only string) *plan {
	r := rand.New(rand.NewPCG(seed, 42))
	p := &plan{Seed: seed, Threshold: 1}
	p.Caller = pick(r, "poller", "poller", "poller", "step", "step", "group", "group", "list", "list")
	if r.IntN(8) == 0 {
		p.Caller = pick(r, "line", "line", "line list")
	}
	if only != "" {
		p.Caller = only
	}
	p.Until = until(r)
	if r.IntN(2) == 0 {
		p.ErrorIf = pick(r, &node{Op: "==", Path: ".state", Lit: `"failed"`}, &node{Op: "is", Path: ".error"}, &node{Op: "in", Path: ".conclusion", Lit: `["failure"]`})
	}
	p.Gone = !strings.HasSuffix(p.Caller, "list") && r.IntN(5) == 0
	p.NotYet = r.IntN(2) == 0
	if r.IntN(4) == 0 {
		p.Threshold = 2 + r.IntN(2)
	}
	if r.IntN(2) == 0 {
		p.Interval = drawn(r, 100*time.Millisecond, 4*time.Second)
	}
	p.Timeout = drawn(r, 10*time.Second, 2*time.Minute)
	if r.IntN(2) == 0 {
		p.Attempt = drawn(r, time.Second, 12*time.Second)
	}
	if r.IntN(10) == 0 {
		p.Most = 1 + r.IntN(30)
	}
	p.Alone = r.IntN(3) == 0
	p.drawOps(r)
	p.drawLine(r)
	p.drawFaults(r)
	p.drawKills(r)
	return p
}

// drawOps draws what is waited for.
func (p *plan) drawOps(r *rand.Rand) {
	n := 1
	isList := strings.HasSuffix(p.Caller, "list")
	switch {
	case isList:
		n = 1 + r.IntN(9)
		p.List = &listing{Size: 1 + r.IntN(5), Next: pick(r, nexts...), Follow: r.IntN(4) == 0}
		p.List.Gone = !p.List.Follow && r.IntN(8) == 0
		if r.IntN(3) == 0 {
			p.List.Expect = 1 + r.IntN(n)
		}
	case p.Caller == "group" || p.Caller == "line" && r.IntN(2) == 0:
		n = 2 + r.IntN(6)
	}
	starts := !isList && r.IntN(2) == 0
	method := pick(r, "POST", "POST", "PUT", "PATCH", "DELETE")
	if p.Gone { // a POST is to a collection, or an action
		method = pick(r, "PUT", "PATCH", "DELETE", "DELETE")
	}
	answer := p.drawAnswer(r, method)
	for i := range n {
		o := operation{ID: i + 7, Style: r.IntN(16)}
		if starts {
			o.Method, o.Answer, o.Follow = method, answer, answers[answer].follow
		}
		o.Phases = p.drawPhases(r, &o)
		p.Ops = append(p.Ops, o)
	}
	if isList && r.IntN(4) == 0 && !p.List.Gone {
		for _, o := range p.Ops[:1+r.IntN(n)] {
			p.List.Known = append(p.List.Known, o.ID)
		}
		p.List.Expect = 0
	}
	if p.List != nil && p.List.Known != nil {
		n = len(p.List.Known)
	}
	if n > 1 && r.IntN(4) == 0 {
		p.AtLeast, p.FailFast = 1+r.IntN(n), r.IntN(2) == 0
	}
	if n > 1 && r.IntN(3) == 0 {
		p.Rate = 1 + r.Float64()*20
	}
}

// drawAnswer draws how a start is answered.
func (p *plan) drawAnswer(r *rand.Rand, method string) string {
	switch {
	case p.Gone:
		return "204 self"
	case method == "POST":
		return pick(r, "202 Location", "202 Operation-Location", "202 Azure", "201 Location", "303", "200 id", "200 url")
	}
	if p.Caller == "line" {
		return pick(r, "202 Operation-Location", "202 Azure", "202 self")
	}
	return pick(r, "202 Operation-Location", "202 Azure", "202 self", "204 self")
}

// drawPhases draws the life of an operation. It ends as it should more often than not, and may
// change back before that.
func (p *plan) drawPhases(r *rand.Rand, o *operation) []phase {
	var all []phase
	at := time.Duration(0)
	add := func(state string, most time.Duration) {
		all = append(all, phase{at, state})
		at += drawn(r, time.Millisecond, most)
	}
	switch {
	case o.Method == "DELETE":
		add("deleting", 30*time.Second)
	case p.Gone, p.List != nil && p.List.Gone:
		add("running", 30*time.Second)
	default:
		if r.IntN(3) == 0 && (o.Method == "" || p.NotYet) {
			add(absent, pick(r, 3*time.Second, 15*time.Second))
		}
		if r.IntN(2) == 0 {
			add("queued", 5*time.Second)
		}
		add("running", pick(r, 100*time.Millisecond, 20*time.Second, 40*time.Second))
		if r.IntN(5) == 0 {
			add(pick(r, "done", "done", absent), 6*time.Second)
			add("running", 10*time.Second)
		}
		if p.List != nil && r.IntN(8) == 0 {
			add("done", 20*time.Second)
			add(gone, time.Second)
			return all
		}
		add(pick(r, "done", "done", "done", "done", "failed"), time.Second)
		return all
	}
	add(gone, time.Second)
	return all
}

// drawFaults draws what goes wrong: with a share of the first requests of each key.
func (p *plan) drawFaults(r *rand.Rand) {
	share := pick(r, 0, .05, .15, .4)
	last := pick(r, 5, 15, 40)
	var kinds []string
	for _, name := range troubleNames {
		isFor404 := name == "missing" && (p.Gone || p.List != nil && p.List.Follow) // it would be believed, as it has to be
		isForList := name == "null list" || name == "list error"
		if !isFor404 && (!isForList || p.List != nil) && r.IntN(3) == 0 {
			kinds = append(kinds, name)
		}
	}
	if len(kinds) == 0 {
		return
	}
	keys, n := []string{"dial"}, len(p.Ops)
	for _, o := range p.Ops {
		key := fmt.Sprint(o.ID)
		if keys = append(keys, key); o.Method != "" {
			keys = append(keys, key+"!")
		}
	}
	if p.List != nil {
		keys = append(keys, "list")
	}
	for _, key := range keys {
		chance, isStart := share, strings.HasSuffix(key, "!")
		switch {
		case key == "dial" && (p.Gone || n > 1): // that nothing listens means gone; and of several none is the first to connect
			continue
		case key == "dial":
			chance /= 4
		}
		for n := 1; n <= last; n++ {
			kind := pick(r, kinds...)
			fits := key == "dial" || troubles[kind].isStart && isStart || troubles[kind].isLook && !isStart
			if fits && r.Float64() < chance {
				p.Faults = append(p.Faults, fault{key, n, kind, r.Uint64()})
			}
		}
	}
}

// drawKills draws when processes are killed.
func (p *plan) drawKills(r *rand.Rand) {
	if p.Caller == "list" || p.Caller == "group" || strings.HasPrefix(p.Caller, "line") && (p.Line.Log == "" || p.Line.Twice) {
		return
	}
	for run := range pick(r, 0, 0, 1, 2, 4) {
		k := kill{Run: run, At: drawn(r, time.Millisecond, pick(r, time.Second, 12*time.Second)), Soft: r.IntN(3) == 0, Torn: r.IntN(3) == 0}
		if r.IntN(3) == 0 {
			k.Key, k.N, k.Before, k.Soft = fmt.Sprint(p.Ops[0].ID), 1+r.IntN(4), r.IntN(2) == 0, false
			if p.Ops[0].Method != "" && r.IntN(2) == 0 {
				k.Key, k.N = k.Key+"!", 1
			}
		}
		p.Kills = append(p.Kills, k)
	}
}

// killAt returns the kill of a process that has a time, if there is one.
func (p *plan) killAt(run int) (k kill, ok bool) {
	i := slices.IndexFunc(p.Kills, func(k kill) bool { return k.Run == run && k.Key == "" })
	if i < 0 {
		return kill{}, false
	}
	return p.Kills[i], true
}
