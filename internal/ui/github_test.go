package ui

import (
	"strings"
	"testing"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
)

// environment returns a getenv of the given names and values.
func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestActions(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	for _, name := range []string{"succeeded", "failed", "exhausted", "timed-out", "interrupted"} {
		said.WriteString("== " + name + "\n" + annotations(recordings()[name], Config{Face: Lines}))
	}
	golden(t, "actions/stderr.txt", said.String())
}

// annotations returns what GitHub is told of events.
func annotations(events []poll.Event, cfg Config) (text string) {
	cfg.Getenv = environment("GITHUB_ACTIONS", "true")
	for line := range strings.Lines(show(events, cfg)) {
		if strings.HasPrefix(line, "::") {
			text += line
		}
	}
	return text
}

// The annotation is one line, whatever an answer holds, and outside of Actions
// there is none.
func TestActions_hostile(t *testing.T) {
	t.Parallel()
	hostile := "100%\n::error::x\r\n::stop-commands::y,z:"
	events := newRecording("a:b,c", 0, 0).
		attempt(verdict(status.Error, "", hostile), exitAnswer(1, hostile, hostile)).
		end(poll.Outcome{Ending: poll.Failed, Notes: []string{hostile}})
	count := func(s string) (n int) {
		for line := range strings.Lines(s) {
			if strings.HasPrefix(strings.TrimSpace(line), "::") {
				n++
			}
		}
		return n
	}
	have := show(events, Config{Face: Lines, Getenv: environment("GITHUB_ACTIONS", "true")})
	if n := count(have); n != 1 {
		t.Errorf("%d commands, want 1:\n%s", n, have)
	}
	if want := "::error title=poll%3A a%3Ab%2Cc::"; !strings.Contains(have, want) {
		t.Errorf("no %q in\n%s", want, have)
	}
	if n := count(show(events, Config{Face: Lines})); n != 0 {
		t.Errorf("%d commands outside of Actions", n)
	}
	if have := show(events, Config{Face: JSON, Getenv: environment("GITHUB_ACTIONS", "true")}); count(have) != 0 {
		t.Errorf("a command among JSON: %s", have)
	}
}

// Of several targets there are at most ten annotations, the last of them for all, and none if
// the goal was reached.
func TestActions_group(t *testing.T) {
	t.Parallel()
	for name, events := range map[string][]poll.Event{"some": groups()["some"], "any": groups()["any"], "1000": manyJobs(1000)} {
		size := groupSize(events)
		have := annotations(events, Config{Face: None, Targets: size, Goal: allOf(size)})
		if name != "1000" {
			golden(t, "actions/group-"+name+".txt", have)
		} else if n := strings.Count(have, "\n"); n != 10 || !strings.Contains(have, "::error title=poll%3A all of 1000 targets::500 of 1000 targets not done:%0A") {
			t.Errorf("%d annotations:\n%s", n, have)
		}
	}
}
