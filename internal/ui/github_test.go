package ui

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/pollcli/poll/internal/ui/term"
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

// A step summary stays below GitHub's limit for all names and reasons of targets, and nothing in it is Markdown or HTML
// except the table. Each text has more targets than the page has rows.
func TestStepSummary_hostile(t *testing.T) {
	t.Parallel()
	for text, targets := range map[string]int{
		strings.Repeat(`"`, 400):             200,
		"e" + strings.Repeat("\u0301", 3000): 60,
		"</td></table>\n\n# <script>|`x`":    2000,
	} {
		var runs [][]poll.Event
		for n := range targets {
			runs = append(runs, jobRun(fmt.Sprint(n, text), 1, []string{text}, timedOut))
		}
		s, _, _ := term.Buffers("")
		r := New(Config{Streams: s, Face: None, Targets: len(runs), Goal: allOf(len(runs))})
		for _, ev := range together(poll.Summary{Ending: poll.TimedOut, Need: len(runs)}, runs...) {
			r.Event(ev)
		}
		page := r.StepSummary()
		rows, hasMore := strings.Count(page, "\n<tr><td>"), regexp.MustCompile(`\n<p>and \d+ more</p>\n\n$`).MatchString(page)
		if len(page) > 1<<20 || rows == 0 || !hasMore {
			t.Errorf("%d bytes, %d rows, the rest is told of: %v", len(page), rows, hasMore)
		}
		if strings.Contains(page, "<script>") || strings.Contains(strings.TrimSpace(page), "\n\n") {
			t.Errorf("text of an answer is more than text:\n%s", page[:2000])
		}
	}
}
