package world

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A result is what a caller was told.
type result struct {
	How      poll.Ending
	Code     int                      // of a command line, -1 of none
	Ends     map[string][]poll.Ending // by the names of targets
	Reasons  map[string]string
	Said     []string // all that was said, in which no secret may be
	Began    time.Time
	Deadline time.Time // of the last run
	End      time.Time
	Attempts int
	Runs     int
}

// callers run a plan.
var callers = map[string]func(*world) *result{
	"poller":    (*world).runPoller,
	"step":      (*world).runSteps,
	"group":     (*world).runGroup,
	"list":      (*world).runGroup,
	"line":      (*world).runLine,
	"line list": (*world).runLine,
}

func newResult() *result {
	return &result{Code: -1, Ends: make(map[string][]poll.Ending), Reasons: make(map[string]string), Began: time.Now()}
}

func rule(is status.Status, text string) status.Rule {
	r, err := status.NewRule(is, text)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", text, err))
	}
	return r
}

// rules returns the conditions of a plan.
func (p *plan) rules() (rules status.Rules) {
	success := rule(status.Success, p.untilText())
	success.Here = p.Gone
	rules.Own = append(rules.Own, success)
	if p.ErrorIf != nil {
		rules.Own = append(rules.Own, rule(status.Error, p.ErrorIf.text()))
	}
	if p.NotYet && !p.Gone {
		rules.Own = append(rules.Own, rule(status.NotReady, "$status == 404"))
	}
	return rules
}

func (p *plan) untilText() string {
	switch {
	case p.Gone:
		return `$error in ["refused", "dns"] or $status in [404, 410]`
	case p.List != nil && p.List.Gone:
		return "$gone"
	}
	return p.Until.text()
}

// poller returns the wait for an operation, or for the list with nil.
func (w *world) poller(o *operation, transport http.RoundTripper, r *rand.Rand) poll.Poller {
	h := poll.HTTP{URL: "http://a.test/list", Header: http.Header{"Authorization": {"Bearer " + token}}, Transport: transport}
	p := poll.Poller{Target: "list", Rules: w.plan.rules(), AttemptTimeout: w.plan.Attempt, MaxAttempts: w.plan.Most, Rand: r}
	if o != nil {
		h.URL, h.Method, h.Follow = fmt.Sprint("http://a.test/ops/", o.ID), o.Method, o.Follow
		p.Target = strconv.Itoa(o.ID)
		if o.Method == "POST" || o.Method == "PUT" || o.Method == "PATCH" {
			h.Body = []byte(`{"secret":"` + body + `"}`)
		}
	} else {
		l := w.plan.List
		each, err := expr.CompileEach(".jobs")
		if err != nil {
			panic(err)
		}
		p.Elements = &poll.Elements{Each: each, Whole: true, Expect: l.Expect}
		for _, id := range l.Known {
			p.Elements.Known = append(p.Elements.Known, strconv.Itoa(id))
		}
		if h.Next = l.Next; l.Follow {
			h.Follow, h.FollowEach = "/ops/{.id}", true
		}
	}
	if w.plan.Threshold > 1 {
		p.SuccessThreshold = w.plan.Threshold
	}
	if w.plan.Interval > 0 {
		p.Schedule = backoff.Fixed(w.plan.Interval)
	}
	p.Probe = h
	return p
}

func (p *process) transport() *http.Transport {
	return &http.Transport{DialContext: p.dial, DisableKeepAlives: p.w.plan.Alone}
}

// watch takes the events of a wait, and checks that they make sense.
func (w *world) watch(events iter.Seq[poll.Event], res *result, keep func(poll.Event)) {
	var last poll.EventKind
	began := make(map[int]time.Time)
	for e := range events {
		w.mu.Lock()
		if last == poll.EventGoal {
			w.blame("told", "an event after the goal")
		}
		last = e.Kind
		state, _ := json.Marshal(e.State)
		res.Said = append(res.Said, e.Verdict.Reason, withoutCookies(state))
		switch e.Kind {
		case poll.EventStart:
			began[e.N] = e.At
		case poll.EventAttempt:
			if took := e.At.Sub(began[e.N]); w.plan.Attempt > 0 && w.plan.List == nil && w.plan.Rate == 0 && took > w.plan.Attempt+50*time.Millisecond {
				w.blame("on time", "an attempt took %s", took)
			}
		case poll.EventEnd:
			res.Ends[e.Target] = append(res.Ends[e.Target], e.Outcome.Ending)
			res.Reasons[e.Target] = e.Outcome.Reason
			res.Said = append(res.Said, e.Outcome.Reason, fmt.Sprint(e.Outcome.Err()), fmt.Sprint(e.Outcome.Notes))
			res.How, res.Attempts = e.Outcome.Ending, e.Outcome.State.Attempts
			w.tell("%s %s: %s", e.Target, e.Outcome.Ending, e.Outcome.Reason)
		case poll.EventGoal:
			res.How, res.Attempts = e.Summary.Ending, e.Summary.Attempts
			res.Said = append(res.Said, fmt.Sprint(e.Summary.Err()))
		}
		keep(e)
		w.mu.Unlock()
	}
	res.End = time.Now()
}

// withoutCookies returns a state without what its session keeps, as it says that it does.
func withoutCookies(state []byte) string {
	var all map[string]any
	json.Unmarshal(state, &all)
	delete(all, "session")
	text, _ := json.Marshal(all)
	return string(text)
}

// runPoller waits for one operation, in as many runs as it takes. Who waits keeps the state of each
// event, as JSON.
func (w *world) runPoller() *result {
	res, r := newResult(), rand.New(rand.NewPCG(w.plan.Seed, 7))
	var kept []byte
	for run := 0; ; run++ {
		ctx, stop := context.WithCancelCause(context.Background())
		proc := w.process(stop)
		transport := proc.transport()
		p := w.poller(&w.plan.Ops[0], transport, r)
		p.Start, p.Timeout = w.began, w.plan.Timeout
		p.Starting = func(s poll.State) error { kept, _ = json.Marshal(s); return nil }
		p.Past = w.past(kept)
		timer := w.killLater(proc, run, stop)
		res.Deadline = w.began.Add(p.Timeout)
		cuts := w.cuts
		soft := &res.How
		w.watch(p.Events(ctx), res, func(e poll.Event) {
			if !proc.dead && (e.Kind == poll.EventAttempt || e.Kind == poll.EventEnd) {
				kept, _ = json.Marshal(e.State)
			}
		})
		timer.Stop()
		stop(nil)
		transport.CloseIdleConnections()
		res.Runs++
		if w.cuts == cuts && *soft != poll.Interrupted {
			return res
		}
		clear(res.Ends)
		time.Sleep(drawn(r, time.Millisecond, 3*time.Second))
	}
}

// past reads a state that was kept.
func (w *world) past(kept []byte) *poll.State {
	if kept == nil {
		return nil
	}
	s := new(poll.State)
	if err := json.Unmarshal(kept, s); err != nil {
		w.blame("resumable", "the state cannot be read: %v", err)
		return nil
	}
	w.saw["resumed"] = true
	return s
}

// killLater kills a process at its time, if it has one.
func (w *world) killLater(p *process, run int, stop context.CancelCauseFunc) *time.Timer {
	k, ok := w.plan.killAt(run)
	if !ok {
		return time.NewTimer(time.Hour)
	}
	return time.AfterFunc(k.At, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.saw["kill at any time"] = true
		if w.tell("killed (by a signal: %v)", k.Soft); k.Soft {
			w.saw["signal"], w.signalled = true, true
			stop(errKilled)
			return
		}
		p.kill()
	})
}

// runSteps waits for one operation step by step. A step whose process is killed is made again,
// from what was kept before it.
func (w *world) runSteps() *result {
	res, r := newResult(), rand.New(rand.NewPCG(w.plan.Seed, 7))
	res.Deadline = w.began.Add(w.plan.Timeout)
	kept, _ := json.Marshal(poll.State{})
	for step := range 1000 {
		ctx, stop := context.WithCancelCause(context.Background())
		proc := w.process(stop)
		transport := proc.transport()
		p := w.poller(&w.plan.Ops[0], transport, r)
		p.Timeout = w.plan.Timeout
		p.Starting = func(s poll.State) error { kept, _ = json.Marshal(s); return nil }
		timer := w.killLater(proc, step-3, stop)
		cuts := w.cuts
		past := w.past(kept)
		state, events := p.Step(ctx, *past)
		timer.Stop()
		stop(nil)
		transport.CloseIdleConnections()
		if res.Runs++; w.cuts > cuts {
			continue
		}
		w.watch(slices.Values(events), res, func(poll.Event) {})
		kept, _ = json.Marshal(state)
		last := events[len(events)-1]
		switch {
		case last.Kind == poll.EventEnd && last.Outcome.Ending != poll.Interrupted:
			return res
		case last.Kind == poll.EventEnd:
			clear(res.Ends)
		case last.Kind == poll.EventWait:
			time.Sleep(last.Wait)
		default:
			w.blame("told", "the last event of a step is %s", last.Kind)
			return res
		}
	}
	w.blame("on time", "1000 steps")
	return res
}

// runGroup waits for several operations, or for a list.
func (w *world) runGroup() *result {
	res, r := newResult(), rand.New(rand.NewPCG(w.plan.Seed, 7))
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	proc := w.process(stop)
	transport := proc.transport()
	defer transport.CloseIdleConnections()
	var targets []poll.Poller
	if w.plan.List != nil {
		targets = append(targets, w.poller(nil, transport, r))
	} else {
		for i := range w.plan.Ops {
			targets = append(targets, w.poller(&w.plan.Ops[i], transport, r))
		}
	}
	g := poll.Group{AtLeast: w.plan.AtLeast, FailFast: w.plan.FailFast, Start: w.began, Timeout: w.plan.Timeout, Rand: r}
	if w.plan.Rate > 0 {
		g.Limiter = &poll.Pacer{PerSecond: w.plan.Rate, Known: w.plan.Seed%2 == 0, Rand: r}
	}
	if w.plan.Seed%3 > 0 {
		g.ParallelPlace = func(string) int { return 1 + int(w.plan.Seed%5) }
	}
	res.Deadline = w.began.Add(g.Timeout)
	w.watch(g.Events(ctx, slices.Values(targets)), res, func(poll.Event) {})
	res.Runs = 1
	return res
}
