package run

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pollcli/poll/backoff"
	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/learn"
	"github.com/pollcli/poll/poll"
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
