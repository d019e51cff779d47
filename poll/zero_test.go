package poll_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os/exec"
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

// A subject is a valid use of exported types. TestSpecialValues alters root, which use reads.
type subject struct {
	name string
	root any // a pointer
	// use returns the number of checks, if something was waited for, and the error.
	use func(*testing.T, altered) (checks int, err error)
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
	for _, s := range slices.Concat(waitSubjects(), statusSubjects(), scheduleSubjects(t)) {
		t.Run(s.name, func(t *testing.T) {
			visitor := &alterer{types: types, visit: func(what altered) {
				defer func() {
					if p := recover(); p != nil {
						t.Errorf("%s: panic: %v", what.path, p)
					}
				}()
				checks, err := s.use(t, what)
				typ := what.field[:strings.LastIndex(what.field, ".")]
				isMeant := made[typ] || allowsNegative.MatchString(docs[what.field])
				if what.isNegative && !isMeant && (err == nil || checks > 0) {
					t.Errorf("%s: %d checks, error %v; a negative number is an error, or has a meaning in its comment", what.path, checks, err)
				}
			}}
			visitor.alter("", reflect.ValueOf(s.root).Elem())
		})
	}
	for _, f := range public {
		if !types[f.typ] && !made[f.typ] {
			t.Errorf("no subject has a %s: give it to a root above", f.typ)
			types[f.typ] = true
		}
	}
}

// TestSenseless has values without a meaning. Each is an error before the first attempt.
func TestSenseless(t *testing.T) {
	for want, group := range map[string]poll.Group{
		"5 needed": {AtLeast: 5}, "AtLeast is negative": {AtLeast: -1}, "Percent is 150": {Percent: 150}, "timed out": {Timeout: -time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			probe := poll.ProbeFunc(func(ctx context.Context, _ poll.Attempt) status.Observation {
				t.Errorf("%s: an attempt", want)
				return poll.Observe(ctx, nil, nil)
			})
			if _, err := group.Run(t.Context(), slices.Values([]poll.Poller{{Probe: probe}, {Probe: probe}})); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
		})
	}
	if _, err := status.Until(); err == nil {
		t.Error("Until accepts no condition: any response would be SUCCESS")
	}
	if _, err := status.NewRule("success", `.state == "done"`); err == nil {
		t.Error("NewRule accepts a status that has no rules")
	}
}

// made are the types whose values the packages make themselves.
var made = map[string]bool{
	"poll.Attempt": true, "poll.Error": true, "poll.Event": true, "poll.Outcome": true, "poll.Place": true, "poll.State": true, "poll.Summary": true, "poll.Feedback": true,
	"status.Observation": true, "status.Failure": true, "status.Hint": true, "status.Quota": true, "status.Object": true, "status.Verdict": true,
	"expr.Env": true, "expr.Error": true, "expr.Explanation": true, "expr.Result": true, "expr.Value": true, "simulate.Result": true, "backoff.Step": true,
}

// compiled returns what compiles without an error.
func compiled[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// anyExpr returns an expression for fields that hold values.
func anyExpr() []*expr.Expr { return []*expr.Expr{compiled(expr.CompileValue(".state"))} }

// fullRules returns rules with all fields.
func fullRules() status.Rules {
	until := compiled(status.NewRule(status.Success, `.state == "done"`))
	until.Preset, until.Why, until.Detail = "jobs", "it is done", anyExpr()
	return status.Rules{
		Own:    []status.Rule{until},
		Detail: anyExpr(),
		Preset: &status.Preset{
			Name: "jobs", Object: compiled(expr.CompileObjects(".items[]")), ID: anyExpr(), Rules: []status.Rule{until},
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
		Past:     &poll.State{Attempts: 1, Status: status.NotReady, Hint: &status.Hint{Wait: time.Second, Source: "a test"}},
		Starting: func(poll.State) error { return nil }, Finalize: func(o poll.Outcome) poll.Outcome { return o },
	}
}

func newRand() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// waitSubjects are waits for one operation that is done at the first check.
func waitSubjects() []subject {
	const body = `{"state":"done","items":[{"id":1,"state":"done"}]}`
	checks := 0
	web := poll.HTTP{
		URL: "http://127.0.0.1:1/jobs", Method: "GET", Header: http.Header{"Accept": {"*/*"}}, User: url.User("me"), MaxBody: 1 << 20, MaxRedirects: 5, Follow: "none", Next: "auto",
		Refresh:   func(context.Context, bool) (http.Header, error) { return nil, nil },
		LookupEnv: func(string) (string, bool) { return "", false },
		Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			checks++
			return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
		}),
	}
	tcp := poll.TCP{Address: "127.0.0.1:1", Dial: func(context.Context, string, string) (net.Conn, error) {
		checks++
		client, server := net.Pipe()
		return client, server.Close()
	}}
	command := poll.Command{Args: []string{"true"}, Dir: ".", Env: []string{}, Stdin: []byte("in"), Grace: time.Second, MaxBody: 1, Stderr: io.Discard}
	function := poll.ProbeFunc(func(ctx context.Context, _ poll.Attempt) status.Observation {
		checks++
		return poll.Observe(ctx, []byte(body), nil)
	})
	elements := &poll.Elements{
		Each: compiled(expr.CompileEach(".items")), Keys: []*expr.Expr{compiled(expr.CompileValue(".id"))}, Known: []string{"1"}, Expect: 1,
		Past: map[string]poll.State{"1": {}}, Narrow: func([]string) poll.Probe { return function },
	}
	group := poll.Group{AtLeast: 1, Percent: 100, Parallel: 1, ParallelPlace: func(string) int { return 1 }, Limiter: &poll.Pacer{}, Timeout: time.Minute, Rand: newRand()}
	list := fullPoller(function)
	list.Elements, list.Rules = elements, status.Rules{Own: fullRules().Own}
	simple := func(p poll.Probe) *[]poll.Poller { return &[]poll.Poller{{Probe: p, MaxAttempts: 3}} }
	wait := func(name string, pollers *[]poll.Poller, g *poll.Group) subject {
		root := &struct {
			Group   *poll.Group
			Targets *[]poll.Poller
		}{g, pollers}
		return subject{name, root, func(t *testing.T, what altered) (int, error) {
			checks = 0
			err := waitFor(t, what, *root.Group, *root.Targets, &checks)
			return checks, err
		}}
	}
	root := &struct{ Command poll.Command }{command}
	return []subject{
		wait("group", &[]poll.Poller{fullPoller(function)}, &group),
		wait("URL", simple(web), &poll.Group{}), wait("address", simple(tcp), &poll.Group{}), wait("list", &[]poll.Poller{list}, &poll.Group{}),
		{"command", root, func(t *testing.T, what altered) (int, error) { return 0, run(root.Command) }},
	}
}

// waitFor waits in simulated time, and returns the error of the group.
func waitFor(t *testing.T, what altered, group poll.Group, targets []poll.Poller, checks *int) (err error) {
	var panicked any
	synctest.Test(t, func(t *testing.T) {
		defer func() { panicked = recover() }()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		started, first := time.Now(), time.Duration(-1)
		var outcomes []poll.Outcome
		for e := range group.Events(ctx, slices.Values(targets)) {
			switch {
			case e.Kind == poll.EventStart && first < 0:
				first = time.Since(started)
			case e.Kind == poll.EventEnd:
				outcomes = append(outcomes, *e.Outcome)
			case e.Kind == poll.EventGoal:
				err = e.Summary.Err()
			}
		}
		for _, o := range outcomes {
			if o.Ending == poll.Succeeded && *checks == 0 {
				t.Errorf("%s: a target succeeded without a check: %s", what.path, o.Reason)
			}
		}
		switch {
		case err == nil && *checks == 0:
			t.Errorf("%s: the group succeeded without a check", what.path)
		case !what.isLarge && max(first, 0) > time.Minute, first < 0 && time.Since(started) > 0:
			t.Errorf("%s: first attempt after %v, end after %v: %v", what.path, first, time.Since(started), err)
		}
	})
	if panicked != nil {
		panic(panicked)
	}
	return err
}

// run runs a command, if there is such a program.
func run(c poll.Command) error {
	if _, err := exec.LookPath("true"); err != nil {
		return errors.New("this system has no true")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, err := (&poll.Poller{Probe: c, Immediate: true, MaxAttempts: 1}).Run(ctx)
	return err
}

// statusSubjects evaluate rules for an operation that is not done.
func statusSubjects() []subject {
	code, exit := 200, 0
	body := []byte(`{"kind":"Job","state":"running"}`)
	judged := &struct {
		Rules       status.Rules
		Observation status.Observation
	}{fullRules(), status.Observation{
		Kind: status.KindHTTP, Attempt: 1, Elapsed: 1, Unchanged: 1, Body: body, Size: 1, Code: &code, Exit: &exit, Header: http.Header{},
		Hint: &status.Hint{Wait: 1}, Quota: &status.Quota{Reset: 1}, Failure: &status.Failure{Kind: status.FailureTransient, Err: io.EOF},
	}}
	read := &struct{ Env expr.Env }{expr.Env{
		Doc: expr.NewDoc(body), Element: expr.NewDoc(body), Exit: &exit, Status: &code, Header: http.Header{}, Body: body, Stdout: body, Stderr: body, Context: context.Background(),
	}}
	named := &struct{ Presets []presets.Preset }{[]presets.Preset{compiled(presets.Read("jobs", "name: jobs\nuntil: .state == \"done\"\ntimeout: 1m\nobject: .items[]\n"))[0]}}
	return []subject{
		{"rules", judged, func(t *testing.T, what altered) (int, error) {
			v := judged.Rules.Classify(t.Context(), judged.Observation)
			status.Environment(&judged.Observation)
			if v.Status == status.Success && len(judged.Rules.Own) > 0 {
				t.Errorf("%s: SUCCESS of a running operation: %s", what.path, v.Reason)
			}
			new(status.Tally).Add(&judged.Observation, &v)
			return 0, judged.Rules.Validate()
		}},
		{"expressions", read, func(*testing.T, altered) (int, error) {
			for _, text := range []string{`.state == "done"`, `$body contains "x" and $stderr =~ "x"`, `$header.a == "b" or $status == 200`, `$exit == 0 or $elapsed > 1`, `jq: .state`} {
				compiled(expr.Compile(text)).Eval(&read.Env).Explain().Hints()
			}
			return 0, nil
		}},
		{"presets", named, func(*testing.T, altered) (int, error) {
			p := slices.Concat(named.Presets, []presets.Preset{{}})[0]
			_, _, _, _ = p.Group(), p.ID(), p.Named(""), p.With(append(named.Presets, p.Stanzas()...))
			_, _, err := p.Compile(status.KindHTTP, true)
			return 0, err
		}},
	}
}

// scheduleSubjects compute waits.
func scheduleSubjects(t *testing.T) []subject {
	step := backoff.Step{N: 1, Elapsed: time.Second, Previous: time.Second}
	isWait := func(t *testing.T, what altered, s backoff.Schedule, step backoff.Step) {
		if wait := s.Wait(step, newRand()); wait < 0 {
			t.Errorf("%s: a wait of %v", what.path, wait)
		}
	}
	var subjects []subject
	for _, s := range []backoff.Schedule{backoff.Decorrelated{}, backoff.Exponential{}, backoff.Fibonacci{}, backoff.Linear{}, backoff.Polynomial{}} {
		root := &struct {
			Schedule backoff.Schedule
			Step     backoff.Step
		}{s, step}
		subjects = append(subjects, subject{fmt.Sprintf("%T", s), root, func(t *testing.T, what altered) (int, error) {
			if root.Schedule != nil {
				for _, s := range []backoff.Schedule{root.Schedule, backoff.Cap(root.Schedule, 0), backoff.Throttled(root.Schedule), backoff.Full(root.Schedule), backoff.Equal(root.Schedule)} {
					isWait(t, what, s, root.Step)
				}
			}
			return 0, nil
		}})
	}
	past := &struct {
		Runs    []learn.Run
		Options learn.Options
	}{[]learn.Run{{Lo: time.Second, Hi: 2 * time.Second}}, learn.Options{Cost: time.Second, CostShare: 0.1, Base: 1, MaxWait: time.Minute, Age: 1}}
	model := &struct{ Config simulate.Config }{simulate.Config{
		Model: simulate.ModelQueue, Algorithms: []simulate.Algorithm{{Name: "linear", Schedule: backoff.Linear{}}}, Clients: []int{1}, Trials: 1, ServiceMin: 1, ServiceMax: 2,
	}}
	shared := &struct {
		Options  fleet.Options
		Feedback poll.Feedback
	}{fleet.Options{PerSecond: 1e6, Key: strings.ToUpper, Secret: []byte("s"), Note: func(string) {}}, poll.Feedback{Refused: true, Wait: time.Second, Remaining: 1, Reset: time.Second}}
	dir := t.TempDir()
	return append(subjects,
		subject{"learn", past, func(t *testing.T, what altered) (int, error) {
			m, err := learn.Fit(past.Runs, past.Options)
			if err == nil {
				isWait(t, what, m, step)
			}
			return 0, err
		}},
		subject{"simulate", model, func(t *testing.T, what altered) (int, error) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if what.isLarge { // 292 years would be simulated
				cancel()
			}
			_, err := simulate.Run(ctx, model.Config)
			return 0, err
		}},
		subject{"fleet", shared, func(*testing.T, altered) (int, error) {
			f, err := fleet.Open(dir, shared.Options)
			if err != nil {
				return 0, err
			}
			defer f.Close()
			for _, l := range []poll.Limiter{f, &poll.Pacer{PerSecond: shared.Options.PerSecond}} {
				l.Done("place", shared.Feedback)
				l.Next("place", time.Time{})
			}
			return 0, nil
		}},
	)
}
