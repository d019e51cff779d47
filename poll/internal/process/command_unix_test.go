//go:build unix

package process

import (
	"context"

	"testing"
)

func TestCommandCompleteBeforeTheEnd(t *testing.T) {
	t.Parallel()
	// A select with two choices takes either.
	wantComplete(t, Command{Args: []string{"sh", "-c", "echo answer; exit 5"}}, 20)
}

// Without a grace there is time even so to read what the program has written, though the
// context is done; and no longer than that.
func TestCommandDrains(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ script, want string }{
		"enough":       {"(sleep 0.02; echo late) & echo early", "early\nlate\n"},
		"not for ever": {"(sleep 60; echo late) & echo early", "early\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewSession(Command{Args: []string{"sh", "-c", test.script}, Grace: -1})
			ctx, cancel := context.WithCancel(t.Context())
			c, failure := s.start(t.Context(), Attempt{Number: 1})
			if failure != nil {
				t.Fatal(failure.Reason)
			}
			<-c.exited
			cancel()
			s.settle(ctx, c)
			if body := c.outputs.stdout.kept; string(body) != test.want {
				t.Errorf("have %q, want %q", body, test.want)
			}
		})
	}
}
