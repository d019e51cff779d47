package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/connect"
	"github.com/pollcli/poll/internal/httpscript"
	"github.com/pollcli/poll/internal/learn"
	"github.com/pollcli/poll/internal/system"
	"github.com/pollcli/poll/internal/ui"
	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// readTargets returns the targets of a command line without waiting.
func readTargets(tb testing.TB, stdin string, args ...string) []*read.Target {
	tb.Helper()
	w := waitOf(tb, stdin, args...)
	if err := w.read(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return w.targets
}

// A run reads and compiles a preset once for each kind of target.
func TestTargets_presetOnce(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "mine.txt")
	if err := os.WriteFile(file, []byte("name: mine\nuntil: .done\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var entries strings.Builder
	for i, preset := range []string{file, "github-run", "k8s", file, "github-run", "k8s"} {
		fmt.Fprintf(&entries, `{"url":"http://a/%d","preset":%q,"timeout":"%dm"}`+"\n", i, preset, i+1)
	}
	all := readTargets(t, entries.String(), "--targets=-")
	for i := range 3 {
		if all[i].Poller.Rules.Preset != all[i+3].Poller.Rules.Preset {
			t.Errorf("preset %d is compiled twice", i)
		}
	}
}

// Targets share their common parts: a transport, and the conditions of entries with equal flags.
func TestTargets_share(t *testing.T) {
	t.Parallel()
	all := readTargets(t, `
{"url":"http://a/1"}
{"url":"http://a/2"}
{"name":"own","url":"http://a/2","until":".x"}
{"name":"same","url":"http://a/2","until":".x"}
{"name":"other","url":"http://a/2","until":".y"}
{"url":"http://a/3","header":"X: 1","until":".x"}
{"name":"learns","url":"http://a/2","learn":"own"}
`, "--targets=-", "--until=.done", "--interval=1s", "--target-timeout=9s", "--history="+t.TempDir())
	if p := all[0].Poller; p.AttemptTimeout != 30*time.Second || p.Timeout != 9*time.Second {
		t.Errorf("an attempt has %v, and a target %v", p.AttemptTimeout, p.Timeout)
	}
	var requests []*poll.HTTP
	for _, t := range all {
		requests = append(requests, t.Poller.Probe.(*poll.HTTP))
	}
	for i := range requests {
		if requests[i].Transport != requests[0].Transport {
			t.Errorf("target %d has a transport of its own", i+1)
		}
	}
	rule := func(i int) any { return all[i].Poller.Rules.Own[0].Expr }
	if rule(0) != rule(1) || rule(2) != rule(3) || rule(0) == rule(2) || rule(2) == rule(4) {
		t.Error("equal conditions are compiled more than once, or others are the same")
	}
}

// Past runs set the waits of a running operation. A rejected start is sent again after the configured waits.
// After THROTTLED the wait is at least the model's wait and the configured wait.
func TestTargets_learn(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		took      time.Duration // of past runs
		flags     []string
		resend    time.Duration // the first wait
		throttled time.Duration // at least
	}{
		{time.Hour, nil, 100 * time.Millisecond, 2 * time.Minute},
		{time.Second, []string{"--base=1s", "--factor=10"}, time.Second, 10 * time.Second},
	} {
		history := learn.History{Dir: t.TempDir()}
		for range 5 {
			run := learn.Record{End: time.Now(), Lo: test.took, Hi: test.took, Outcome: learn.Success}
			if err := history.Append(t.Context(), "job", run); err != nil {
				t.Fatal(err)
			}
		}
		p := readTargets(t, "", append(test.flags, "--learn=job", "--history="+history.Dir, "http://test/")...)[0].Poller
		random := rand.New(rand.NewPCG(1, 2))
		if have := p.Resend.Wait(backoff.Step{}, random); have != test.resend {
			t.Errorf("runs of %s: sent again after %s, want %s", test.took, have, test.resend)
		}
		if have := p.Throttled.Wait(backoff.Step{N: 1}, random); have < test.throttled {
			t.Errorf("runs of %s: throttled, %s, want at least %s", test.took, have, test.throttled)
		}
	}
}

// A guarded value describes the events in a process with a guard, and the expected end.
type guarded struct {
	timeout, grace time.Duration
	signal, second time.Duration // 0 means no signal
	released       time.Duration // when the process ends by itself; 0 means never
	read           time.Duration // when the reader of the result stops
	writing        bool          // the result is being written
	want           string
}

func TestGuard(t *testing.T) {
	t.Parallel()
	for name, g := range map[string]guarded{
		"a signal before the deadline":    {timeout: 10 * time.Second, grace: 8 * time.Second, signal: 4 * time.Second, want: "14s ended by SIGTERM"},
		"a late second signal":            {grace: 3 * time.Second, signal: 4 * time.Second, second: 8500 * time.Millisecond, want: "9s ended by SIGTERM"},
		"an end within the grace":         {timeout: 10 * time.Second, grace: 30 * time.Second, released: 41 * time.Second, want: ""},
		"the longest grace":               {timeout: 10 * time.Second, grace: math.MaxInt64, released: 41 * time.Second, want: ""},
		"a reader":                        {timeout: 10 * time.Second, grace: 3 * time.Second, read: time.Minute, released: time.Minute, want: ""},
		"a reader who stops":              {timeout: 10 * time.Second, grace: 3 * time.Second, read: 20 * time.Second, want: "25s timed out after 10s"},
		"nobody reads":                    {timeout: 10 * time.Second, grace: 3 * time.Second, writing: true, want: "15s timed out after 10s, and the result was not written in full by then"},
		"a signal, and there is a reader": {timeout: 10 * time.Second, grace: 3 * time.Second, read: time.Minute, signal: 12 * time.Second, want: "17s ended by SIGTERM"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if have := g.run(t); have != g.want {
				t.Errorf("have %q, want %q", have, g.want)
			}
		})
	}
}

// run returns when and why the guard has ended the process, or "".
func (g guarded) run(t *testing.T) (ended string) {
	signal := &system.SignalError{Signal: syscall.SIGTERM}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ctx, cancel := context.WithCancelCause(t.Context())
		hurry := make(chan struct{})
		watched := &Guard{ctx: ctx, hurry: hurry, end: func(err error) { ended = fmt.Sprint(time.Since(began), " ", err) }}
		watched.writing.Store(g.writing)
		go func() {
			for ; time.Since(began) <= g.read; time.Sleep(time.Second) {
				watched.Touch()
			}
		}()
		watched.setDeadline(g.timeout, began.Add(g.timeout), g.grace)
		for at, do := range map[time.Duration]func(){
			g.signal:   func() { cancel(signal) },
			g.released: func() { cancel(context.Canceled) },
		} {
			if at > 0 {
				time.AfterFunc(at, do)
			}
		}
		time.AfterFunc(cmp.Or(g.second, 2*time.Hour), func() { close(hurry) })
		context.AfterFunc(ctx, watched.AtSignal)
		time.Sleep(time.Hour)
		cancel(context.Canceled)
		time.Sleep(2 * time.Hour)
	})
	return strings.Replace(ended, signal.Error(), "ended by SIGTERM", 1) // the name of the signal differs on Windows
}

// A reader of the complete result may send a signal before poll knows that the result was read.
func TestDeliver_signalAfterTheResult(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		err := Host{}.Deliver(ctx, func() error {
			cancel(&system.SignalError{Signal: syscall.SIGTERM})
			time.Sleep(messageTime / 2)
			return nil
		})
		if err != nil {
			t.Errorf("have %v, want nil: the result was delivered in full", err)
		}
	})
}

// If a value is not evaluated in time, the wait ends by the deadline or signal, not as an ERROR.
func TestPrinted_givenUp(t *testing.T) {
	t.Parallel()
	const whole = "all(.a[]; .s == 0)"
	e, err := expr.CompileValue(strings.Repeat(whole+" and ", 9) + whole)
	if err != nil {
		t.Fatal(err)
	}
	o := &status.Observation{Kind: status.KindCommand, Exit: new(int),
		Body: []byte(`{"a":[` + strings.Repeat(`{"s":0},`, 1_000_000) + `{"s":0}]}`)}
	for cause, want := range map[error]poll.Ending{
		&system.SignalError{Signal: syscall.SIGTERM}: poll.Interrupted,
		&timeoutError{time.Second}:                   poll.TimedOut,
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(cause)
		_, err := printed(ctx, e, o)
		if given, ok := errors.AsType[*ui.GivenUp](err); !ok || given.Ending != want || !errors.Is(err, cause) && !errors.Is(given.Cause, cause) {
			t.Errorf("%v: have %v, want %v", cause, err, want)
		}
		out := ui.Output{Print: []func(*status.Observation) (expr.Value, error){
			func(o *status.Observation) (expr.Value, error) { return printed(ctx, e, o) },
		}}
		result := out.Evaluate(poll.Outcome{Ending: poll.Succeeded, Status: status.Success, Observation: o})
		if have := outcomeCode(result.Outcome); result.Outcome.Status != status.NotReady || have == ExitError || have == ExitSuccess {
			t.Errorf("%v: have %v, exit code %d", cause, result.Outcome.Status, have)
		}
	}
}

// The credentials of an origin depend only on the secrets that are sent to that origin.
func TestCredentialsOf(t *testing.T) {
	t.Parallel()
	const api = "https://api.example.com"
	me, you := url.UserPassword("me", "secret"), url.UserPassword("you", "secret")
	at := func(place string, requests ...poll.HTTP) string {
		var all []*read.Target
		for _, request := range requests {
			all = append(all, &read.Target{Run: new(read.Run), Poller: poll.Poller{Probe: &request}})
		}
		return credentialsOf(all)(place)
	}
	const place = api + ":443"
	plain := poll.HTTP{URL: api + "/a"}
	mine := poll.HTTP{URL: api + "/a", User: me}
	yours := poll.HTTP{URL: api + "/b", User: you}
	trusting := poll.HTTP{URL: api, User: me, LocationTrusted: true}
	for name, test := range map[string]struct {
		one, other string
		same       bool
	}{
		"another path":           {at(place, plain), at(place, poll.HTTP{URL: "https://API.example.com:443/c?d"}), true},
		"another user":           {at(place, yours), at(place, mine), false},
		"the URL's user":         {at(place, mine), at(place, poll.HTTP{URL: "https://me:secret@api.example.com/"}), true},
		"both, in any order":     {at(place, mine, yours), at(place, yours, mine, yours), true},
		"both, and one of them":  {at(place, mine, yours), at(place, mine), false},
		"credentials stay there": {at("https://other:443", plain), at("https://other:443", mine), true},
		"unless all are trusted": {at("https://other:443", plain), at("https://other:443", trusting), false},
	} {
		if (test.one == test.other) != test.same {
			t.Errorf("%s: same: %v\n%s\n%s", name, !test.same, test.one, test.other)
		}
	}
}

// A long-running command causes exactly one note.
func TestNoticeLong(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		runs []time.Duration // of the command
		want int
	}{
		{[]time.Duration{longCommand - time.Second, longCommand - time.Second}, 0},
		{[]time.Duration{longCommand - time.Second, longCommand + time.Second}, 1},
		{[]time.Duration{longCommand + time.Second, 3 * longCommand}, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			streams, _, said := httpscript.Streams("")
			reporter := ui.New(ui.Config{Streams: streams, Face: ui.Lines})
			reporter.Event(poll.Event{Kind: poll.EventWait, At: time.Now()})
			long := noticeLong(reporter)
			for _, runs := range test.runs {
				long.Reset(longCommand)
				time.Sleep(runs)
				long.Stop()
				synctest.Wait()
			}
			reporter.Close()
			if have := strings.Count(said.String(), "poll: note: the command has run for 10 s: its output is evaluated when it ends"); have != test.want {
				t.Errorf("runs of %s: said %d times, want %d: %q", test.runs, have, test.want, said.String())
			}
		})
	}
}

// waitOf returns a wait for args without environment variables. The wait does not start.
func waitOf(tb testing.TB, stdin string, args ...string) *wait {
	tb.Helper()
	streams, _, _ := httpscript.Streams(stdin)
	env, s := read.NewEnv(func(string) (string, bool) { return "", false }, streams), read.New()
	s.LookupEnv = env.Lookup
	s.Parse(args)
	for _, w := range s.Typed {
		s.Add(w.Flag, w.Text, "--"+w.Flag.Name, argv.Typed)
	}
	kinds, err := read.Classify(s.Line)
	if err = cmp.Or(s.Err, err); err == nil {
		s, err = env.Complete(s, kinds)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return &wait{spec: s, process: Host{Env: env}}
}

// A second signal sends TERM again, and KILL after a fixed time. Under an outer poll, the inner poll kills
// first.
func TestHurried(t *testing.T) {
	t.Parallel()
	for outer, want := range map[string]time.Duration{"": 200 * time.Millisecond, "2s": 100 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			hurry := make(chan struct{})
			close(hurry)
			w := &wait{spec: read.New(), process: Host{Hurry: hurry, Env: read.Env{Lookup: func(string) (string, bool) { return outer, outer != "" }}}}
			began := time.Now()
			sooner := connect.CallerOf(w.withHost(t.Context())).Hurry
			_, again := <-sooner
			_, still := <-sooner
			if took := time.Since(began); !again || still || took != want {
				t.Errorf("under %q: have %t, then %t after %v; want once more, and the end after %v", outer, again, still, took, want)
			}
		})
	}
}

// The flags that limit attempts set the fields of the group. Programs have a limit of their own.
func TestNewGroup_limits(t *testing.T) {
	t.Parallel()
	processors := runtime.GOMAXPROCS(0)
	for line, want := range map[string]string{
		"":                                       fmt.Sprint("50 6 ", processors, " 50"),
		"--parallel-max 77 --rate 0":             "77 77 77 0",
		"--parallel-max-host 3 --rate 2/s":       "50 3 3 2",
		"--parallel-max 9 --parallel-max-host 2": "9 2 2 50",
	} {
		g := newGroup(waitOf(t, "", append(strings.Fields(line), "http://h/1", "http://h/2")...).spec)
		have := fmt.Sprint(g.Parallel, " ", g.ParallelOrigin("http://h"), " ", g.ParallelOrigin("sh"), " ", g.Limiter.(*poll.Pacer).PerSecond)
		if have != want {
			t.Errorf("%s: have %s, want %s", line, have, want)
		}
	}
}
