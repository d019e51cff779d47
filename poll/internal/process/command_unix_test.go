//go:build unix

package process

import (
	"context"
	"testing"
	"time"
)

func TestCommandCompleteBeforeTheEnd(t *testing.T) {
	t.Parallel()
	// A select with two choices takes either.
	wantComplete(t, Command{Args: []string{"sh", "-c", "echo answer; exit 5"}}, 20)
}

// Where a cut loses what is still in the pipes there is time to read it, though
// there is no grace and the context is done; and no longer than that.
func TestCommandDrains(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		drains time.Duration
		script string
		want   string
	}{
		"enough":       {time.Minute, "(sleep 0.2; echo late) & echo early", "early\nlate\n"},
		"not for ever": {100 * time.Millisecond, "(sleep 5; echo late) & echo early", "early\n"},
		"none":         {0, "(sleep 5; echo late) & echo early", "early\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewSession(Command{Args: []string{"sh", "-c", test.script}, Grace: -1})
			s.drains = test.drains
			ctx, cancel := context.WithCancel(t.Context())
			c, failure := s.start(t.Context(), Attempt{Number: 1})
			if failure != nil {
				t.Fatal(failure.Reason)
			}
			defer c.process.Release()
			<-c.exited
			cancel()
			s.settle(ctx, c)
			if body, _, _ := s.outputs.take(); string(body) != test.want {
				t.Errorf("have %q, want %q", body, test.want)
			}
		})
	}
}
