package poll_test

import (
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/backoff/learn"
	"github.com/pollcli/poll/backoff/simulate"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/poll/fleet"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
	"github.com/pollcli/poll/status/presets"
)

// A subject is a valid use of exported types.
type subject struct {
	root any // a pointer to a struct, which is altered
	// use uses root, and returns the error that rejects it.
	use func(*testing.T, altered) error
}

// TestSpecialValues sets each exported field of the public packages to zero, negative, empty and large
// values, next to valid fields and alone. Nothing panics or hangs. No wait succeeds without a check. A
// negative number is an error before the first check, unless the comment of the field has its meaning.
func TestSpecialValues(t *testing.T) {
	docs, types := map[string]string{}, map[string]bool{}
	public := publicFields(t, ".", "fleet", "../status", "../status/expr", "../status/presets", "../backoff", "../backoff/learn", "../backoff/simulate")
	for _, f := range public {
		docs[f.typ+"."+f.name] = f.doc
	}
	subjects := waits()
	subjects["status"], subjects["backoff"] = evaluations(), schedules(t.TempDir())
	for name, s := range subjects {
		t.Run(name, func(t *testing.T) {
			visitor := &alterer{types: types, visit: func(what altered) {
				defer func() {
					if p := recover(); p != nil {
						t.Errorf("%s: panic: %v", what.path, p)
					}
				}()
				err := s.use(t, what)
				if what.isNegative && err == nil && !made[what.typ] && !allowsNegative.MatchString(docs[what.typ+"."+what.name]) {
					t.Errorf("%s: no error; a negative number is an error, or has a meaning in its comment", what.path)
				}
			}}
			visitor.alter("", reflect.ValueOf(s.root).Elem())
		})
	}
	for _, f := range public {
		if !types[f.typ] && !made[f.typ] {
			t.Errorf("no subject has a %s: give it to a root below", f.typ)
			types[f.typ] = true
		}
	}
}

// TestSenseless uses values without a meaning. Each value is an error before the first attempt.
func TestSenseless(t *testing.T) {
	noStatus := fullRules()
	noStatus.Own[0].Status = "success"
	for want, test := range map[string]struct {
		group  poll.Group
		poller poll.Poller
	}{
		"5 needed":               {group: poll.Group{AtLeast: 5}},
		"a negative AtLeast":     {group: poll.Group{AtLeast: -1}},
		"a Percent of 150":       {group: poll.Group{Percent: 150}},
		"timed out":              {poller: poll.Poller{Timeout: -time.Second}},
		"a negative MaxAttempts": {poller: poll.Poller{MaxAttempts: -1}},
		"a rule has no Expr":     {poller: poll.Poller{Rules: status.Rules{Own: []status.Rule{{Status: status.Success}}}}},
		"= is not an operator":   {poller: poll.Poller{Rules: status.MustUntil(".a").ErrorIf(".b", ".a = 1")}},
		`"success" is not the`:   {poller: poll.Poller{Rules: noStatus}},
		"a Percent of a list":    {group: poll.Group{Percent: 100}, poller: poll.Poller{Elements: &poll.Elements{Each: must(expr.CompileEach("."))}}},
		"no Each":                {poller: poll.Poller{Elements: &poll.Elements{Each: new(expr.Each), Expect: -1}}},
		"an empty Known":         {poller: poll.Poller{Elements: &poll.Elements{Each: must(expr.CompileEach(".")), Known: []string{}}}},
	} {
		synctest.Test(t, func(t *testing.T) {
			test.poller.Probe = poll.ProbeFunc(func(ctx context.Context, _ poll.Attempt) status.Observation {
				t.Errorf("%s: an attempt", want)
				return poll.Observe(ctx, nil, nil)
			})
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := test.group.Run(ctx, slices.Values([]poll.Poller{test.poller, test.poller}))
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
		})
	}
	for want, p := range map[string]poll.Poller{
		"there is no probe":           {},
		"failed: there is no probe":   {Probe: poll.ProbeFunc(nil)},
		"only a group waits":          {Probe: poll.TCP{}, Elements: &poll.Elements{}},
		"the function of Wrap is nil": {Probe: poll.Wrap(poll.TCP{}, nil)},
		"a rule has no Expr":          {Probe: poll.TCP{}, Rules: status.Rules{Own: []status.Rule{{Status: status.Success, Expr: new(expr.Expr)}}}},
	} {
		if _, err := p.Run(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if f := (poll.Command{Args: []string{"true"}, MaxBody: -1}).Check(t.Context(), poll.Attempt{}).Failure; f == nil || f.Kind != status.FailureHopeless {
		t.Errorf("a command with a negative MaxBody: %v", f)
	}
	if outcomes, err := new(poll.Group).Run(t.Context(), nil); err == nil || outcomes != nil {
		t.Errorf("a group without targets: error %v, outcomes %v", err, outcomes)
	}
	if why := new(expr.Expr).Eval(nil).Explain(); len(why.Lines) != 1 {
		t.Errorf("the explanation of no expression is %q", why.Lines)
	}
	list := poll.Poller{MaxAttempts: 1, Elements: &poll.Elements{Each: must(expr.CompileEach(".")), Expect: math.MaxInt}}
	list.Probe = poll.ProbeFunc(func(ctx context.Context, _ poll.Attempt) status.Observation {
		return poll.Observe(ctx, []byte("[]"), nil)
	})
	if _, err := new(poll.Group).Run(t.Context(), slices.Values([]poll.Poller{list, list})); err == nil || !strings.Contains(err.Error(), "0 of 0 targets succeeded, 4294967294 needed") {
		t.Errorf("two lists that are too long: %v", err)
	}
	if _, err := poll.Until[int](t.Context(), nil); !errors.Is(err, poll.Failed) {
		t.Errorf("Until without a function: %v", err)
	}
	if d := (*expr.Doc)(nil); d.Last() != "" || d.Bytes() != nil {
		t.Error("a nil Doc has a text")
	}
	if s := backoff.ScheduleFunc(nil); s.Wait(backoff.Step{}, nil) != (backoff.Exponential{}).Wait(backoff.Step{}, nil) {
		t.Error("a nil ScheduleFunc is not Exponential{}")
	}
	done := status.Observation{Body: []byte(`{"state":"done"}`), Within: expr.NewDoc([]byte("[]")), Presence: 77}
	if v := status.MustUntil(`.state == "done"`).Classify(t.Context(), poll.Recorded(done)); v.Status == status.Success {
		t.Errorf("an element of an unknown presence: %s", v.Reason)
	}
	if _, _, problem := new(expr.Each).Elements(expr.NewDoc([]byte("[]"))); problem == "" {
		t.Error("the zero Each finds an empty list")
	}
	if _, err := status.Until(); err == nil {
		t.Error("Until accepts no condition: any response would be SUCCESS")
	}
	func() {
		defer func() { recover() }()
		t.Error("MustUntil returns rules of a wrong condition:", status.MustUntil(".a = 1"))
	}()
	if _, err := status.NewRule("success", `.state == "done"`); err == nil {
		t.Error("NewRule accepts a status that has no rules")
	}
}

// made are the types whose values the packages make themselves.
var made = map[string]bool{
	"poll.Attempt": true, "poll.Error": true, "poll.Event": true, "poll.Outcome": true, "poll.ClosedOrigin": true, "poll.State": true, "poll.Report": true, "poll.Plan": true, "poll.Summary": true, "poll.Feedback": true,
	"status.Observation": true, "status.Failure": true, "status.Hint": true, "status.RetryAfter": true, "status.Quota": true, "status.Object": true, "status.Result": true, "status.Verdict": true,
	"expr.Env": true, "expr.Error": true, "expr.Explanation": true, "expr.Result": true, "expr.Value": true, "simulate.Result": true, "backoff.Step": true,
}

// must returns value, and panics if err is not nil: the preparation of a test has failed.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// anyExpr returns an expression for fields that hold values.
func anyExpr() []*expr.Expr { return []*expr.Expr{must(expr.CompileValue(".state"))} }

// fullRules returns rules with all fields.
func fullRules() status.Rules {
	until := must(status.NewRule(status.Success, `.state == "done"`))
	until.Preset, until.Why, until.Detail = "jobs", "it is done", anyExpr()
	return status.Rules{
		Own:    []status.Rule{until},
		Detail: anyExpr(),
		Preset: &status.Preset{
			Name: "jobs", Object: must(expr.CompileObjects(".items[]")), ID: anyExpr(), Rules: []status.Rule{until},
			Stanzas: []status.Stanza{{Name: "job", Kinds: []string{"Pod"}, Match: anyExpr()[0], Rules: []status.Rule{until}}},
		},
	}
}

// fullPoller returns a Poller with all fields.
func fullPoller(probe poll.Probe) poll.Poller {
	return poll.Poller{
		Probe: probe, Target: "job", Rules: fullRules(),
		Schedule: backoff.Linear{}, Resend: backoff.Fibonacci{}, Throttled: backoff.Linear{}, Limiter: &poll.Pacer{PerSecond: 10, Rand: newRand()}, Rand: newRand(),
		InitialDelay: time.Millisecond, Start: time.Unix(946684800, 0), // when time starts in a bubble
		Timeout: time.Minute, AttemptTimeout: time.Second, MaxAttempts: 10,
		Past:     &poll.State{Attempts: 1, Status: status.NotReady, RetryAfter: &status.RetryAfter{Wait: time.Second, Source: "a test"}},
		Starting: func(poll.State) error { return nil }, Finalize: func(o poll.Outcome) poll.Outcome { return o },
	}
}

func newRand() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// waits returns waits for one operation that is done at the first check.
func waits() map[string]subject {
	const body = `{"state":"done","items":[{"id":1,"state":"done"}]}`
	web := poll.HTTP{
		URL: "http://127.0.0.1:1/jobs", Method: "GET", Header: http.Header{"Accept": {"*/*"}}, User: url.User("me"), MaxBody: 1 << 20, MaxRedirects: 5, Follow: "none", Next: "auto",
		Refresh:   func(*http.Request, bool) (http.Header, error) { return nil, nil },
		LookupEnv: func(string) (string, bool) { return "", false },
		Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
		}),
	}
	tcp := poll.TCP{Address: "127.0.0.1:1", Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		return client, server.Close()
	}}
	function := poll.ProbeFunc(func(ctx context.Context, _ poll.Attempt) status.Observation {
		return poll.Observe(ctx, []byte(body), nil)
	})
	list := fullPoller(function)
	list.Rules.Preset = nil
	list.Elements = &poll.Elements{
		Each: must(expr.CompileEach(".items")), Keys: []*expr.Expr{must(expr.CompileValue(".id"))}, Known: []string{"1"}, Expect: 1,
		Past: map[string]poll.State{"1": {}}, Narrow: func([]string) poll.Probe { return function },
	}
	full := poll.Group{AtLeast: 1, Percent: 100, Parallel: 1, ParallelOrigin: func(string) int { return 1 }, Limiter: &poll.Pacer{}, Timeout: time.Minute, Rand: newRand()}
	subjects := map[string]subject{}
	for name, p := range map[string]poll.Poller{"URL": {Probe: web, MaxAttempts: 3}, "address": {Probe: tcp, MaxAttempts: 3}, "list": list, "function": fullPoller(function)} {
		root := &struct {
			Group   poll.Group
			Targets []poll.Poller
		}{poll.Group{}, []poll.Poller{p}}
		if name == "function" {
			root.Group = full
		}
		subjects[name] = subject{root, func(t *testing.T, what altered) error { return waitFor(t, what, root.Group, root.Targets) }}
	}
	root := &struct{ Command poll.Command }{poll.Command{Args: []string{"true"}, Dir: ".", Env: []string{}, Stdin: []byte("in"), Grace: time.Second, MaxBody: 1, Stderr: io.Discard}}
	subjects["command"] = subject{root, func(t *testing.T, _ altered) error {
		_, err := (&poll.Poller{Probe: root.Command, Immediate: true, MaxAttempts: 1}).Run(t.Context())
		return err
	}}
	return subjects
}

// waitFor waits in simulated time. It returns the error of a group that ends before the first attempt.
func waitFor(t *testing.T, what altered, group poll.Group, targets []poll.Poller) (err error) {
	var panicked any
	synctest.Test(t, func(t *testing.T) {
		defer func() { panicked = recover() }()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		start, attempts := time.Now(), 0
		for e := range group.Events(ctx, slices.Values(targets)) {
			switch {
			case e.Kind == poll.EventStart:
				if attempts++; attempts == 1 && !what.isLarge && time.Since(start) > time.Minute {
					t.Errorf("%s: the first attempt comes after %v", what.path, time.Since(start))
				}
			case e.Kind == poll.EventEnd && e.Outcome.Ending == poll.Succeeded && attempts == 0:
				t.Errorf("%s: a target succeeded without a check: %s", what.path, e.Outcome.Reason)
			case e.Kind == poll.EventGoal:
				err = e.Summary.Err()
			}
		}
		if attempts == 0 && (err == nil || time.Since(start) > 0) {
			t.Errorf("%s: without a check, after %v: %v", what.path, time.Since(start), err)
		}
		if attempts > 0 {
			err = nil
		}
	})
	if panicked != nil {
		panic(panicked)
	}
	return err
}

// A protocol has the same meaning for each observation.
type protocol struct{ meaning *status.Meaning }

func (p protocol) Succeeded(*status.Observation) bool { return true }

func (p protocol) Meaning(*status.Observation) status.Meaning { return *p.meaning }

// evaluations evaluate rules for an operation that is not done.
func evaluations() subject {
	code, exit, body := 200, 0, []byte(`{"state":"running","items":[{"kind":"Job","state":"running"}]}`)
	root := &struct {
		Rules       status.Rules
		Observation status.Observation
		Meaning     status.Meaning
		Env         expr.Env
		Presets     []presets.Preset
	}{
		fullRules(),
		status.Observation{
			Kind: status.KindHTTP, Attempt: 1, Elapsed: 1, Unchanged: 1, Body: body, Size: 1, Code: &code, Exit: &exit, Header: http.Header{},
			RetryAfter: &status.RetryAfter{Wait: 1}, Quota: &status.Quota{Reset: 1},
		},
		status.Meaning{
			Default: status.Always(status.Verdict{Reason: "HTTP 200"}),
			Holds:   status.HoldsUnlessRulesSaySuccess, Reason: "HTTP 200", Allow: status.AllowRead | status.AllowSuccess,
		},
		expr.Env{
			Doc: expr.NewDoc(body), Element: expr.NewDoc(body), Exit: &exit, Status: &code, Header: http.Header{}, Body: body, Stdout: body, Stderr: body, Context: context.Background(),
		},
		must(presets.Read("jobs", "name: jobs\nuntil: .state == \"done\"\ntimeout: 1m\nobject: .items[]\n")),
	}
	root.Observation.Protocol = protocol{&root.Meaning}
	var conditions []*expr.Expr
	for _, text := range []string{`.state == "done"`, `$body contains "x" and $stderr =~ "x"`, `$header.a == "b" or $status == 200`, `$exit == 0 or $elapsed > 1`, `jq: .state`} {
		conditions = append(conditions, must(expr.Compile(text)))
	}
	return subject{root, func(t *testing.T, what altered) error {
		v := root.Rules.Classify(t.Context(), root.Observation)
		if v.Status == status.Success && len(root.Rules.Own) > 0 {
			t.Errorf("%s: SUCCESS of a running operation: %s", what.path, v.Reason)
		}
		for _, x := range conditions {
			x.Eval(&root.Env).Explain().Hints()
		}
		for _, p := range root.Presets {
			_, _, _, _ = p.Group(), p.ID(), p.Named(""), p.With(root.Presets)
			p.Compile(status.KindHTTP, true)
		}
		return root.Rules.Validate()
	}}
}

// schedules returns a subject that computes waits, and simulates their effect on a service.
func schedules(dir string) subject {
	root := &struct {
		Schedules []backoff.Schedule
		Step      backoff.Step
		Runs      []learn.Run
		Options   learn.Options
		Config    simulate.Config
		Fleet     fleet.Options
		Feedback  poll.Feedback
	}{
		[]backoff.Schedule{backoff.Decorrelated{}, backoff.Exponential{}, backoff.Fibonacci{}, backoff.Linear{}, backoff.Polynomial{}},
		backoff.Step{N: 1, Elapsed: time.Second, Previous: time.Second},
		[]learn.Run{{Lo: time.Second, Hi: 2 * time.Second}}, learn.Options{Cost: time.Second, CostShare: 0.1, Base: 1, MaxWait: time.Minute, Age: 1},
		simulate.Config{Model: simulate.ModelQueue, Algorithms: []simulate.Algorithm{{Name: "linear", Schedule: backoff.Linear{}}}, Clients: []int{1}, Trials: 1, ServiceMin: 1, ServiceMax: 2},
		fleet.Options{PerSecond: 1e6, Key: strings.ToUpper, Secret: []byte("s"), Note: func(string) {}},
		poll.Feedback{Refused: true, Wait: time.Second, Remaining: 1, Reset: time.Second},
	}
	return subject{root, func(t *testing.T, what altered) error {
		all := slices.Clone(root.Schedules)
		model, err := learn.Fit(root.Runs, root.Options)
		if err == nil {
			all = append(all, model)
		}
		for _, s := range all {
			for _, s := range []backoff.Schedule{s, backoff.Cap(s, 0), backoff.Throttled(s), backoff.Full(s), backoff.Equal(s)} {
				if s != nil && s.Wait(root.Step, newRand()) < 0 {
					t.Errorf("%s: %T has a negative wait", what.path, s)
				}
			}
		}
		shared, opened := fleet.Open(dir, root.Fleet)
		t.Cleanup(func() { shared.Close() })
		for _, l := range []poll.Limiter{shared, &poll.Pacer{PerSecond: root.Fleet.PerSecond}} {
			l.Done("place", root.Feedback)
			l.Next("place", time.Time{})
		}
		ctx, cancel := context.WithCancel(t.Context())
		if what.isLarge { // 292 years would be simulated
			cancel()
		}
		defer cancel()
		_, failed := simulate.Run(ctx, root.Config)
		return errors.Join(err, opened, failed)
	}}
}
