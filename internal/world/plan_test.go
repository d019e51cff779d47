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
	Seed   uint64      `json:",omitzero"`
	Caller string      `json:",omitzero"` // who waits: see callers
	Probe  string      `json:",omitzero"` // what looks, "" for an HTTP request
	Ops    []operation `json:",omitzero"`
	List   *listing    `json:",omitzero"` // nil for operations by themselves
	Faults []fault     `json:",omitzero"`
	Kills  []kill      `json:",omitzero"`

	Until     *node         `json:",omitzero"`
	ErrorIf   *node         `json:",omitzero"` // nil for none
	Gone      bool          `json:",omitzero"` // --gone, in place of Until
	Unless    bool          `json:",omitzero"` // --not-ready-if of its opposite, in place of Until
	Plain     bool          `json:",omitzero"` // no condition at all: an operation that was started says by itself how it is
	NotYet    bool          `json:",omitzero"` // a 404 means that it is not there yet
	Threshold int           `json:",omitzero"` // of SUCCESS, 0 for 1
	Errors    int           `json:",omitzero"` // the threshold of ERROR, 0 for 1
	Steady    time.Duration `json:",omitzero"` // for which SUCCESS has to hold
	Healing   time.Duration `json:",omitzero"` // for which ERROR has to hold
	Interval  time.Duration `json:",omitzero"` // 0 for the default schedule
	Timeout   time.Duration `json:",omitzero"`
	Attempt   time.Duration `json:",omitzero"` // the most for one attempt, 0 for the default
	Most      int           `json:",omitzero"` // attempts, 0 for no limit
	AtLeast   int           `json:",omitzero"`
	Percent   int           `json:",omitzero"` // in place of AtLeast
	FailFast  bool          `json:",omitzero"`
	Rate      int           `json:",omitzero"` // requests a second, 0 for the default
	Alone     bool          `json:",omitzero"` // a connection is used once only
	User      bool          `json:",omitzero"` // the credentials stand in the URL
	Renewal   time.Duration `json:",omitzero"` // after which another token is needed, 0 for never
	Lag       time.Duration `json:",omitzero"` // by which all answers take longer, some time after the beginning
	Mine      bool          `json:",omitzero"` // the conditions are those of a preset of the user
	Object    bool          `json:",omitzero"` // they are about an object in the document
	Skew      time.Duration `json:",omitzero"` // by which the clocks of servers are ahead, negative if they are behind
	Jump      time.Duration `json:",omitzero"` // by which that of the caller jumps between two runs
	HTTP2     bool          `json:",omitzero"`
	Share     bool          `json:",omitzero"` // a directory is shared with other processes
	Stream    *streaming    `json:",omitzero"` // nil for answers
	Query     bool          `json:",omitzero"` // all URLs have one path, and differ in the query
	Head      bool          `json:",omitzero"` // the state stands in a header field, and the body never changes
	Alias     bool          `json:",omitzero"` // the host of the requests redirects all of them to home
	Hung      int           `json:",omitzero"` // how many operations, the last ones, are at hosts that hang
	Names     *naming       `json:",omitzero"` // nil for a name that cannot fail
	Text      int           `json:",omitzero"` // the condition is this one of texts, counted from 1; 0 for a condition on the document
	Cache     *cache        `json:",omitzero"` // in front of home, nil for none
	Line      lineFlags     `json:",omitzero"`
}

func (p *plan) isLine() bool { return strings.HasPrefix(p.Caller, "line") }

// newPlan draws the plan of a seed.
func newPlan(seed uint64, only string) *plan {
	r := rand.New(rand.NewPCG(seed, 42))
	maybe := func(n int) bool { return r.IntN(n) == 0 }
	some := func(n int, least, most time.Duration) time.Duration {
		if maybe(n) {
			return drawn(r, least, most)
		}
		return 0
	}
	p := &plan{Seed: seed, Until: until(r), NotYet: maybe(2), Alone: maybe(3), Timeout: drawn(r, 10*time.Second, 2*time.Minute)}
	p.Caller = pick(r, "poller", "poller", "poller", "step", "step", "group", "group", "list", "list")
	if maybe(10) {
		p.Caller = pick(r, "line", "line", "line list")
	}
	if only != "" {
		p.Caller = only
	}
	if maybe(2) {
		p.ErrorIf = &node{Op: pick(r, `.state == "failed"`, `.error`)}
	}
	p.Gone = maybe(5) && !strings.HasSuffix(p.Caller, "list")
	if maybe(4) {
		p.Threshold = 2 + r.IntN(2)
	}
	if maybe(8) {
		p.Errors = 2
	}
	p.Steady = some(8, time.Second, 15*time.Second)
	p.Interval = some(2, 100*time.Millisecond, 4*time.Second)
	p.Attempt = some(2, time.Second, 12*time.Second)
	if maybe(10) {
		p.Most = 1 + r.IntN(30)
	}
	p.Renewal = some(6, time.Second, 20*time.Second)
	p.Lag = some(6, 50*time.Millisecond, 800*time.Millisecond)
	if strings.HasSuffix(p.Caller, "list") {
		p.drawList(r)
	} else {
		p.drawAlone(r)
	}
	p.drawProbe(r)
	p.drawPreset(r)
	p.drawStream()
	if n := len(p.Ops); n > 1 && maybe(4) && (p.List == nil || p.List.Known == nil) {
		p.AtLeast, p.FailFast = 1+r.IntN(n), maybe(2)
	}
	if len(p.Ops) > 1 && maybe(3) {
		p.Rate = 1 + r.IntN(20)
	}
	p.drawLine(r)
	p.Skew = drawn(r, -20*time.Hour, 20*time.Hour).Round(time.Second)
	if maybe(8) {
		p.Jump = time.Duration(pick(r, -1, 1, 1)) * drawn(r, 40*time.Second, 2*time.Hour)
	}
	p.HTTP2 = maybe(10) && !p.isLine() // which would need encryption
	isSeveral := p.Probe == "" && (p.Caller == "group" || p.Caller == "list")
	p.Share = p.isLine() && maybe(3) || isSeveral && maybe(30) // since files take long
	p.Share = p.Share && p.Stream == nil
	if p.isLine() && p.Share && p.Ops[0].Method == "" && maybe(2) {
		p.Line.Log, p.Line.Twice = "", true
	}
	if p.isLine() && !p.Line.File {
		p.Renewal = 0
	}
	if p.User = maybe(10) && p.Probe == ""; p.User {
		p.Renewal = 0
	}
	p.drawFaults(r)
	p.drawKills(r)
	p.Unless = maybe(8) && !p.Gone && p.presetName() == "" && p.Probe == "" && p.Stream == nil && p.Ops[0].Method == "" && (p.List == nil || !p.List.Gone)
	if p.Unless { // by which any answer without a body is SUCCESS
		p.Faults = slices.DeleteFunc(p.Faults, func(f fault) bool { return f.Kind == "204" })
	}
	if p.Plain = p.isPlain() && maybe(3); p.Plain {
		p.Until, p.ErrorIf = &node{Op: `.state == "done"`}, &node{Op: `.state == "failed"`}
		for i := range p.Ops {
			p.Ops[i].Style |= bare * int(seed%4)
		}
		believed := []string{"lie", "204", "twice", "login", "elsewhere", "loop"} // which would say how it is, or be its result
		p.Faults = slices.DeleteFunc(p.Faults, func(f fault) bool { return slices.Contains(believed, f.Kind) })
	}
	if p.isLine() && p.List != nil && p.List.Expect > 0 && p.AtLeast == 0 && maybe(2) {
		p.Percent = pick(r, 50, 90, 100)
	}
	isKept := p.isLine() && p.Line.Log != "" && !p.Line.Twice
	if p.Line.Full = isKept && len(p.Ops) == 1 && p.List == nil && p.Ops[0].Method != "" && maybe(4); p.Line.Full {
		p.Kills, p.Line.Torn = nil, false
	}
	if p.Errors > 0 && maybe(2) {
		p.drawHealing(r)
	}
	p.drawWay()
	return p
}

// drawWay draws how requests come to a server, by chance of its own: other plans stay as they are.
func (p *plan) drawWay() {
	r := rand.New(rand.NewPCG(p.Seed, 44))
	maybe := func(n int) bool { return r.IntN(n) == 0 }
	p.Query = maybe(4)
	if q := *p; maybe(4) {
		q.Head, q.Until = true, &node{Op: pick(r, `.state == "done"`, `.state in ["done","succeeded"]`, `.state =~ "^done$"`)}
		if q.ErrorIf != nil {
			q.ErrorIf = &node{Op: `.state == "failed"`}
		}
		if q.hasHead() {
			*p = q
		}
	}
	if maybe(2) {
		p.drawNaming(r)
	}
	if q := *p; maybe(4) {
		if q.Alias = true; q.Caller == "group" && q.Rate == 0 {
			q.Rate = 5 + r.IntN(20)
		}
		if q.hasAlias() {
			*p = q
		}
	} else if p.Hung = 1 + r.IntN(6); len(p.Ops) <= p.Hung || !p.hasHung() {
		p.Hung = 0
	}
	if q := *p; maybe(2) {
		q.Text, q.Until = 1+r.IntN(len(texts)), &node{Op: `.state == "done"`}
		silent := []string{"lie", "empty", "html"} // the command would exit with 0
		if q.Faults = slices.DeleteFunc(slices.Clone(p.Faults), func(f fault) bool { return slices.Contains(silent, f.Kind) }); q.hasText() {
			*p = q
		}
	}
	if p.isLine() && p.Line.Log != "" {
		p.Line.Strict = maybe(10) && p.Stream == nil
		if maybe(5) {
			p.Line.Patience = drawn(r, time.Second, 20*time.Second).Round(time.Millisecond)
		}
	}
	if p.Line.Other = maybe(2); !p.hasOther() {
		p.Line.Other = false
	}
	if maybe(6) && p.Probe == "" && p.Stream == nil && !p.Line.Other {
		p.Cache = &cache{Fresh: drawn(r, time.Second, time.Minute), Deaf: maybe(3), Mute: maybe(3)}
		if p.Ops[0].Method != "" && maybe(2) {
			p.Cache.Old = drawn(r, 2*time.Second, time.Minute)
		}
		p.Cache.Mute = p.Cache.Mute && p.hasMute()
	}
}

// hasMute reports whether a client can do without Age: no-cache works, or the only old copy is from before the start.
func (p *plan) hasMute() bool {
	isOnce := p.List == nil && p.Threshold+p.Errors+int(p.Steady+p.Healing) == 0
	return !p.Cache.Deaf || isOnce
}

// hasAlias and hasHung report whether Alias and Hung fit the plan.
func (p *plan) hasAlias() bool {
	return p.Probe == "" && p.List == nil && p.Ops[0].Method == "" && !p.Gone && p.Renewal == 0 && !p.User
}

func (p *plan) hasHung() bool {
	isAll := p.AtLeast == 0 && p.Rate == 0 && !p.Share && p.Threshold+p.Errors+p.Most+int(p.Steady+p.Healing+p.Lag) == 0
	return p.Caller == "group" && p.Probe == "" && p.Stream == nil && p.Ops[0].Method == "" && isAll
}

// hasHead reports whether Head fits the plan.
func (p *plan) hasHead() bool {
	isAlone := p.Probe == "" && p.List == nil && p.Stream == nil && p.presetName() == "" && !p.Gone && !p.Unless && !p.Plain
	ofState := func(n *node) bool { return n != nil && atoms[n.Op].path == "state" }
	return isAlone && ofState(p.Until) && (p.ErrorIf == nil || ofState(p.ErrorIf))
}

// drawHealing draws a threshold of ERROR that is a time, and failures that may pass before that time.
func (p *plan) drawHealing(r *rand.Rand) {
	p.Errors, p.Healing = 0, drawn(r, time.Second, 8*time.Second)
	if p.ErrorIf == nil && !p.Mine && !p.isGone() && p.presetName() == "" && p.Probe != byTCP {
		p.ErrorIf = &node{Op: `.state == "failed"`}
	}
	for i := range p.Ops {
		o := &p.Ops[i]
		n := slices.IndexFunc(o.Phases, func(ph phase) bool { return ph.State == "running" })
		if n < 0 || n+1 == len(o.Phases) || r.IntN(4) == 0 {
			continue
		}
		at, third := o.Phases[n].At, (o.Phases[n+1].At-o.Phases[n].At)/3
		o.Phases = slices.Insert(o.Phases, n+1, phase{at + third, "failed"}, phase{at + 2*third, "running"})
	}
}

// isPlain reports whether a wait may have no condition.
func (p *plan) isPlain() bool {
	return p.Ops[0].Method != "" && !p.Gone && p.List == nil && p.presetName() == ""
}

// drawAlone draws operations that are waited for by themselves.
func (p *plan) drawAlone(r *rand.Rand) {
	n := 1
	if p.Caller == "group" || p.Caller == "line" && r.IntN(2) == 0 {
		n = 2 + r.IntN(6)
	}
	method := pick(r, "", "", "", "POST", "POST", "PUT", "PATCH", "DELETE")
	answer := pick(r, sorted(answers)...)
	if p.Gone {
		method, answer = pick(r, "", "PUT", "PATCH", "DELETE", "DELETE"), "204 self"
	} else if method != "POST" {
		answer = pick(r, "202 Operation-Location", "202 Azure")
	}
	if answer == "204 self" && !p.Gone && (method == "POST" || p.isLine()) {
		answer = "202 Location"
	}
	for i := range n {
		p.Ops = append(p.Ops, operation{ID: i + 7, Style: r.IntN(16), Method: method, Answer: answer, Phases: p.drawPhases(r, method)})
	}
}

// drawList draws a list.
func (p *plan) drawList(r *rand.Rand) {
	n := 1 + r.IntN(9)
	p.List = &listing{Size: 1 + r.IntN(5), Next: pick(r, nexts...)}
	p.List.Start, p.List.Within = r.IntN(6) == 0, r.IntN(4) == 0
	p.List.Gone = !p.List.Start && r.IntN(8) == 0
	method, answer := "", ""
	if p.List.Start {
		method, answer = "POST", "202 Location"
	}
	if r.IntN(10) == 0 {
		p.List.Cut = pick(r, signs...)
	}
	for i := range n {
		p.Ops = append(p.Ops, operation{ID: i + 7, Style: r.IntN(8), Method: method, Answer: answer, Phases: p.drawPhases(r, method)})
	}
	switch k := r.IntN(3); {
	case k == 0:
		p.List.Expect = 1 + r.IntN(n)
	case k == 1 && !p.List.Gone:
		for _, o := range p.Ops[:1+r.IntN(n)] {
			p.List.Known = append(p.List.Known, o.ID)
		}
		if p.isLine() && !p.List.Start && r.IntN(2) == 0 {
			p.List.Batch = 1 + r.IntN(3)
		}
	}
}

// drawPhases draws the life of an operation. It ends as it should more often than not, and may
// change back before that.
func (p *plan) drawPhases(r *rand.Rand, method string) (all []phase) {
	at := time.Duration(0)
	add := func(state string, most time.Duration) {
		all = append(all, phase{at, state})
		at += drawn(r, time.Millisecond, most)
	}
	if p.Gone || p.List != nil && p.List.Gone {
		add("deleting", 30*time.Second)
		add(gone, time.Second)
		return all
	}
	if r.IntN(3) == 0 {
		most := pick(r, 3*time.Second, 15*time.Second)
		if method != "" && !p.NotYet { // no longer than it is waited for
			most = min(most, settling)
		}
		add(absent, most)
	}
	if r.IntN(2) == 0 {
		add("queued", 5*time.Second)
	}
	add("running", pick(r, 100*time.Millisecond, 20*time.Second, 40*time.Second))
	if r.IntN(5) == 0 {
		add(pick(r, "done", "done", absent), 6*time.Second)
		add("running", 10*time.Second)
	}
	add(pick(r, "done", "done", "done", "done", "failed"), 20*time.Second)
	if p.List != nil && r.IntN(8) == 0 {
		add(gone, time.Second)
	}
	return all
}

// drawFaults draws what goes wrong: with a share of the first requests of each key.
func (p *plan) drawFaults(r *rand.Rand) {
	share, last := pick(r, 0, .05, .15, .4), pick(r, 5, 15, 40)
	looks := map[string]int{"": aLook, byCommand: aRun, byTCP: aConnect}[p.Probe]
	if p.Stream != nil {
		looks = map[string]int{"": aStream, byCommand: aProgram}[p.Probe]
	}
	kinds := slices.DeleteFunc(slices.Clone(troubleNames), func(name string) bool {
		isBelieved := name == "missing" && p.Gone // as it has to be
		isPage := strings.HasSuffix(name, "page") // of which there are few else
		return isBelieved || isPage && p.List == nil || !isPage && !strings.HasPrefix(name, "stream ") && r.IntN(3) > 0
	})
	keys := []string{"list", "list!"}
	if len(p.Ops) == 1 && !p.Gone && p.Probe == "" { // of several none is the first to connect, and --gone takes nobody for gone
		keys = append(keys, "dial")
	}
	for _, o := range p.Ops {
		keys = append(keys, fmt.Sprint(o.ID), fmt.Sprint(o.ID, "!"), fmt.Sprint("list ", o.ID))
	}
	for _, key := range keys {
		isStart, on, last := strings.HasSuffix(key, "!"), looks, last
		if isStart {
			on, last = aStart|aRefusal, 1
		}
		befall := slices.DeleteFunc(slices.Clone(kinds), func(name string) bool { return troubles[name].on&on == 0 })
		for n := 1; n <= last && len(befall) > 0; n++ {
			f := fault{key, n, pick(r, befall...), r.Uint64()}
			often := share
			if isStart && share > 0 { // which is the only one, mostly
				often = .4
			}
			if r.Float64() < often {
				p.Faults = append(p.Faults, f)
				for ; f.Kind == "loop" && isStart && f.N < n+5; p.Faults = append(p.Faults, f) { // it leads to itself again
					f.N++
				}
			}
		}
	}
}

// drawKills draws when processes are killed.
func (p *plan) drawKills(r *rand.Rand) {
	if p.Caller == "list" || p.Caller == "group" || p.isLine() && (p.Line.Log == "" || p.Line.Twice) {
		return
	}
	runs := pick(r, 0, 0, 1, 2, 4)
	if p.isLine() { // of which there are few
		runs = max(runs, 1)
	}
	about := []any{p.Ops[0].ID}
	if p.List != nil {
		about = append(about, "list", "list")
	}
	for run := range runs {
		k := kill{Run: run, At: drawn(r, time.Millisecond, pick(r, time.Second, 12*time.Second, time.Minute)), Soft: r.IntN(3) == 0}
		if r.IntN(3) == 0 {
			k = kill{Run: run, Key: fmt.Sprint(pick(r, about...), pick(r, "", "!")), N: 1 + r.IntN(3), Before: r.IntN(2) == 0}
		}
		p.Kills = append(p.Kills, k)
	}
}
