package run

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/connect"
)

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
