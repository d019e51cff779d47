package ui

import (
	"strings"
	"testing"

	"github.com/pollcli/poll/poll"
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

// Of several targets there is one annotation for all, and none if the goal was reached.
func TestActions_group(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"some", "any"} {
		size := groupSize(groups()[name])
		golden(t, "actions/group-"+name+".txt", annotations(groups()[name], Config{Face: None, Targets: size, Goal: allOf(size)}))
	}
}
