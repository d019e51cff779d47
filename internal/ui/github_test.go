package ui

import (
	"os"
	"path/filepath"
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
	file := filepath.Join(t.TempDir(), "summary.md")
	getenv := environment("GITHUB_ACTIONS", "true", "GITHUB_STEP_SUMMARY", file)
	var said strings.Builder
	for _, name := range []string{"succeeded", "failed", "exhausted", "timed-out", "interrupted"} {
		said.WriteString("== " + name + "\n")
		for line := range strings.Lines(show(recordings()[name], Config{Face: Lines, Getenv: getenv})) {
			if strings.HasPrefix(line, "::") {
				said.WriteString(line)
			}
		}
	}
	golden(t, "actions/stderr.txt", said.String())
	summary, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "actions/summary.md", string(summary))
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

// A summary that cannot be written disturbs nothing.
func TestActions_summaryLost(t *testing.T) {
	t.Parallel()
	getenv := environment("GITHUB_ACTIONS", "true", "GITHUB_STEP_SUMMARY", t.TempDir())
	have := show(recordings()["succeeded"], Config{Face: Lines, Getenv: getenv})
	if want := show(recordings()["succeeded"], Config{Face: Lines}); have != want {
		t.Errorf("have %s\nwant %s", have, want)
	}
}

func TestEscapeMarkdown(t *testing.T) {
	t.Parallel()
	if have, want := escapeMarkdown("a|b `c` <d>"), "a&#124;b &#96;c&#96; &#60;d&#62;"; have != want {
		t.Errorf("have %q, want %q", have, want)
	}
}

// Of several targets there are at most ten annotations, the last of them for all, and one
// table, whose rows are bounded.
func TestActions_group(t *testing.T) {
	t.Parallel()
	for name, events := range map[string][]poll.Event{"some": groups()["some"], "any": groups()["any"], "1000": manyJobs(1000)} {
		file := filepath.Join(t.TempDir(), "summary.md")
		var said strings.Builder
		have := show(events, Config{Face: None, Targets: groupSize(events), Goal: allOf(groupSize(events)),
			Getenv: environment("GITHUB_ACTIONS", "true", "GITHUB_STEP_SUMMARY", file)})
		n := 0
		for line := range strings.Lines(have) {
			if strings.HasPrefix(line, "::") {
				n++
				said.WriteString(line)
			}
		}
		summary, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if name != "1000" {
			golden(t, "actions/group-"+name+".md", said.String()+string(summary))
			continue
		}
		if n != 10 || !strings.Contains(said.String(), "::error title=poll%3A all of 1000 targets::500 of 1000 targets not done:%0A") {
			t.Errorf("%d annotations:\n%s", n, &said)
		}
		if n := strings.Count(string(summary), "\n"); n != 2+maxTableRows+1+1 || !strings.Contains(string(summary), "\n| and 900 others | | | | |\n") {
			t.Errorf("%d lines:\n%s", n, summary)
		}
	}
}
