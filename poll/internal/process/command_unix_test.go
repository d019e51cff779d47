//go:build unix

package process

import (
	"context"
	"testing"
	"time"
)

// A program that has ended before the context was done has answered, even if
// both are known only later.
func TestCommandCompleteBeforeTheEnd(t *testing.T) {
	t.Parallel()
	s := NewSession(Command{Args: []string{"sh", "-c", "echo answer; exit 5"}})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 { // a select with two choices takes either
		c, failure := s.start(t.Context(), Attempt{Number: 1})
		if failure != nil {
			t.Fatal(failure.Reason)
		}
		<-c.exited
		if stopped := s.attend(ctx, c); stopped != nil || c.exit != 5 {
			t.Fatalf("have %v, exit %d, want exit 5", stopped, c.exit)
		}
		if body, _, _ := s.outputs.take(); string(body) != "answer\n" {
			t.Fatalf("have %q, want the answer", body)
		}
		c.process.Release()
	}
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
