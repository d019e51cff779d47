package world

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/poll/fleet"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A result is what a caller was told.
type result struct {
	How      poll.Ending
	Code     int                      // of a command line, -1 of none
	Ends     map[string][]poll.Ending // by the names of targets
	At       map[string]time.Time     // of the ends
	Reason   string                   // of the last end
	Said     []string                 // all that was said, in which no secret may be
	Deadline time.Time                // of the last run
	End      time.Time
	Attempts int
	Runs     int
}

func newResult() *result {
	return &result{Code: -1, Ends: make(map[string][]poll.Ending), At: make(map[string]time.Time)}
}

// must returns a value that cannot be wrong.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// untilText returns the condition for SUCCESS.
func (p *plan) untilText() string {
	switch {
	case p.Gone && p.Probe == byTCP:
		return `$error == "refused"`
	case p.Gone:
		return `$error in ["refused", "dns"] or $status in [404, 410]`
	case p.List != nil && p.List.Gone:
		return "$gone"
	case p.Text > 0:
		return texts[p.Text-1]
	case p.Plain, p.Until == nil: // a preset says it
		return ""
	}
	return p.ofState(p.Until.text())
}

// rules returns the conditions of a plan.
func (p *plan) rules() (rules status.Rules) {
	add := func(is status.Status, text string) {
		rules.Own = append(rules.Own, must(status.NewRule(is, text)))
	}
	if rules.Preset = p.presetRules(); rules.Preset == nil && p.Unless {
		add(status.NotReady, "not ("+p.untilText()+")")
	} else if rules.Preset == nil && p.untilText() != "" {
		add(status.Success, p.untilText())
		rules.Own[0].Here = p.Gone
	}
	if p.ErrorIf != nil && !p.Mine && !p.Plain {
		add(status.Error, p.ofState(p.ErrorIf.text()))
	}
	if p.NotYet && !p.Gone && p.Probe == "" {
		add(status.NotReady, "$status == 404")
	}
	return rules
}

// pollers returns the waits of a plan in a process.
func (p *process) pollers(r *rand.Rand) (all []poll.Poller) {
	transport := &http.Transport{DialContext: p.dial, DisableKeepAlives: p.Alone}
	if p.HTTP2 {
		transport.Protocols = http2
	}
	h := poll.HTTP{Stream: p.Stream != nil, Header: http.Header{"Authorization": {"Bearer " + token}}, Transport: transport}
	if p.User {
		h.Header = nil
	}
	if p.Renewal > 0 {
		h.Refresh = func(*http.Request, bool) (http.Header, error) {
			if time.Since(p.world.began) < p.Renewal-100*time.Millisecond {
				return nil, nil
			}
			return http.Header{"Authorization": {"Bearer " + token + renewed}}, nil
		}
	}
	one := poll.Poller{Rules: p.conditions(), AttemptTimeout: p.Attempt, MaxAttempts: p.Most, Rand: r,
		SuccessThreshold: poll.Threshold{Times: p.Threshold, For: p.Steady}, ErrorThreshold: poll.Threshold{Times: p.Errors, For: p.Healing}}
	if p.Interval > 0 {
		one.Schedule = backoff.Fixed(p.Interval)
	}
	if p.List != nil {
		h.URL, h.Next, one.Target = p.url("/list"), p.path(p.List.Next), "list"
		one.Elements = &poll.Elements{Each: must(expr.CompileEach(p.path(".jobs"))), Whole: true, Expect: p.List.Expect}
		for _, id := range p.List.Known {
			one.Elements.Known = append(one.Elements.Known, strconv.Itoa(id))
		}
		if p.List.Start {
			h.Method, h.Body = "POST", []byte(`{"secret":"`+body+`"}`)
		}
		one.Probe = p.probe(h)
		return []poll.Poller{one}
	}
	for i, o := range p.Ops {
		h.URL, h.Method = p.url(fmt.Sprint("/ops/", o.ID)), o.Method
		if i >= len(p.Ops)-p.Hung {
			h.URL = fmt.Sprint("http://", hung, i, ".test/")
		}
		if o.Method != "" {
			h.Follow = p.way(answers[o.Answer].follow)
		}
		if o.Method != "" && o.Method != "DELETE" {
			h.Body = []byte(`{"secret":"` + body + `"}`)
		}
		if one.Probe, one.Target = p.probe(h), strconv.Itoa(o.ID); p.Stream != nil { // streams that end at the same moment have no order
			one.Rand = p.dice("jitter "+one.Target, len(p.processes))
		}
		all = append(all, one)
	}
	return all
}

// url returns the URL of a request to a path of the origin.
func (p *plan) url(path string) string {
	if p.User {
		return "http://me:" + password + "@a.test" + p.way(path)
	}
	return "http://" + p.origin() + p.way(path)
}

// origin returns the host of the requests.
func (p *plan) origin() string {
	if p.Alias {
		return "www.test"
	}
	return "a.test"
}

// hung begins the names of hosts that accept connections and never send a response.
const hung = "hung"

// way returns a text with its paths. With Query, all have one path and differ in the query only.
func (p *plan) way(text string) string {
	if p.Query {
		return queries.Replace(text)
	}
	return text
}

var queries = strings.NewReplacer("/ops/", "/index?route=ops/", "/list?", "/index?route=list&", "/list", "/index?route=list", "/login", "/index?route=login")

// watch takes the events of a wait, and checks that they make sense.
func (w *world) watch(events iter.Seq[poll.Event], res *result, keep func(poll.Event)) (last poll.Event) {
	began := make(map[int]time.Time)
	for e := range events {
		w.mu.Lock()
		if last.Kind == poll.EventGoal {
			w.blame("told", "an event after the goal")
		}
		last = e
		res.Said = append(res.Said, e.Verdict.Reason)
		switch e.Kind {
		case poll.EventStart:
			began[e.N] = e.At
		case poll.EventAttempt:
			isOne := w.List == nil && w.Rate == 0 && !w.Share && (w.Stream == nil || w.Probe != "") // of a list, and of redirects that wait for their turn, the time is that of each request
			if took := e.At.Sub(began[e.N]); isOne && w.Attempt > 0 && took > w.Attempt+50*time.Millisecond {
				w.blame("on time", "an attempt took %s", took)
			}
		case poll.EventEnd:
			res.At[e.Target] = e.At
			res.Ends[e.Target] = append(res.Ends[e.Target], e.Outcome.Ending)
			res.How, res.Reason, res.Attempts = e.Outcome.Ending, e.Outcome.Reason, e.Outcome.State.Attempts
			e.State.Position = nil // which may hold cookies
			res.Said = append(res.Said, fmt.Sprintf("%v %v %+v", e.Outcome.Err(), e.Outcome.Hints, e.State))
			if !w.processes[len(w.processes)-1].dead {
				w.tell("%s %s: %s", e.Target, e.Outcome.Ending, e.Outcome.Reason)
			}
		case poll.EventGoal:
			res.How = e.Summary.Ending
			res.Said = append(res.Said, fmt.Sprint(e.Summary.Err()))
		}
		w.mu.Unlock()
		keep(last)
	}
	res.End = time.Now()
	return last
}

// runLibrary waits from Go, in as many runs as it takes. The caller keeps the state of each event,
// or of each step, as JSON.
func (w *world) runLibrary() *result {
	res, r := newResult(), rand.New(rand.NewPCG(w.Seed, 7))
	var kept poll.State
	res.Deadline = w.began.Add(w.Timeout)
	for ; ; res.Runs++ {
		p, ctx, end := w.newProcess(res.Runs)
		keep := func(s poll.State) {
			w.mu.Lock()
			defer w.mu.Unlock()
			if !p.dead {
				kept = s
			}
		}
		last := p.run(ctx, res, r, must(json.Marshal(kept)), keep)
		end()
		isCut := p.isDead() || res.How == poll.Interrupted
		switch {
		case res.Runs > 1000:
			w.blame("on time", "1000 runs")
			return res
		case w.Caller == "step" && last.Kind == poll.EventWait && !isCut:
			time.Sleep(last.Wait)
		case !isCut:
			return res
		default:
			clear(res.Ends)
			res.How = ""
			time.Sleep(drawn(r, time.Millisecond, 3*time.Second))
		}
		if w.Jump != 0 && res.Runs == 1 {
			kept = w.jump(kept)
		}
	}
}

// jump makes the clock jump: a state that was kept before has another time.
func (w *world) jump(kept poll.State) (then poll.State) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tell("the clock jumps by %s", w.Jump)
	w.saw["clock jumps"] = true
	clear(w.hints)
	times := regexp.MustCompile(`"dates":\{[^}]*\}|"2000-[^"]*"`)
	text := times.ReplaceAllFunc(must(json.Marshal(kept)), func(text []byte) []byte {
		var t time.Time
		if bytes.HasPrefix(text, []byte(`"dates"`)) { // by the clocks of servers
			return text
		}
		if err := t.UnmarshalJSON(text); err != nil {
			panic(err)
		}
		return must(t.Add(-w.Jump).MarshalJSON())
	})
	if err := json.Unmarshal(text, &then); err != nil {
		panic(err)
	}
	return then
}

// run makes one run of a wait from Go, or a step, that resumes from the kept state.
func (p *process) run(ctx context.Context, res *result, r *rand.Rand, kept []byte, keep func(poll.State)) poll.Event {
	all := p.pollers(r)
	if p.Caller == "group" || p.Caller == "list" {
		g := poll.Group{AtLeast: p.AtLeast, FailFast: p.FailFast, Start: p.world.began, Timeout: p.Timeout, Rand: r}
		if p.Rate > 0 {
			g.Limiter = &poll.Pacer{PerSecond: float64(p.Rate), Known: p.Seed%2 == 0, Rand: r}
		}
		if p.Share {
			dir := newDir()
			defer os.RemoveAll(dir)
			shared := must(fleet.Open(dir, fleet.Options{PerSecond: float64(p.Rate), Known: p.Rate > 0}))
			defer shared.Close()
			g.Limiter = shared
		}
		if p.Hung > 0 {
			g.Parallel = 2
		}
		if p.Seed%3 > 0 {
			g.ParallelOrigin = func(string) int { return 1 + int(p.Seed%5) }
		}
		return p.watch(g.Events(ctx, slices.Values(all)), res, func(poll.Event) {})
	}
	var past poll.State
	if err := json.Unmarshal(kept, &past); err != nil {
		p.blame("resumable", "the state cannot be read: %v", err)
	}
	one := all[0]
	one.Timeout, one.Past = p.Timeout, &past
	one.Starting = func(s poll.State) error { keep(s); return nil }
	if p.Caller == "step" {
		state, events := one.Step(ctx, past)
		keep(state)
		return p.watch(slices.Values(events), res, func(poll.Event) {})
	}
	one.Start = p.world.began
	return p.watch(one.Events(ctx), res, func(e poll.Event) { keep(e.State) })
}
