//go:build unix

package process

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/pollcli/poll/poll/internal/body"
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

// A long answer that has to wait for a place is whole, though the program has ended and
// there is no grace: the wait is not taken for an output that somebody holds open.
func TestCommandWaitsForAPlace(t *testing.T) {
	t.Parallel()
	const size = 1<<20 + 50_000 // what is over 1 MiB fits into a pipe
	long := Command{Args: []string{"head", "-c", strconv.Itoa(size), "/dev/zero"}, Grace: -1, Bodies: &body.Budget{}}
	var held []*Session
	for range 2 { // as many as there are places
		s := NewSession(long)
		s.Probe(t.Context(), Attempt{Number: 1})
		held = append(held, s)
	}
	s := NewSession(long)
	c, failure := s.start(t.Context(), Attempt{Number: 1})
	if failure != nil {
		t.Fatal(failure.Reason)
	}
	<-c.exited
	time.AfterFunc(2*drainTime, held[0].Release)
	s.attend(t.Context(), c)
	if have := len(c.outputs.stdout.kept); have != size || c.outputs.cut {
		t.Errorf("have %d bytes, cut: %t, want %d", have, c.outputs.cut, size)
	}
}
