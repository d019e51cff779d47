package ui

import (
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
)

// Columns are sanitized for a terminal, and only there. What --print gives nothing for has no line.
func TestResults_columnsOnTerminal(t *testing.T) {
	t.Parallel()
	result := Output{PerTarget: true, Print: append(printed("\x1b]0;x\a\t1", `""`), printed("b", `"b"`)...)}.
		Evaluate(success(httpAnswer(200, "{}")))
	for isTerminal, want := range map[bool]string{true: `\x1b]0;x\x07\t1` + "\tb\n", false: "\x1b]0;x\a\\t1\tb\n"} {
		s, stdout, _ := term.Buffers("")
		s.OutIsTerminal = isTerminal
		r := New(Config{Streams: s, Face: None, Goal: "all"})
		nothing := Output{PerTarget: true, Print: printed("", "null")}.Evaluate(success(httpAnswer(200, "{}")))
		if err := errors.Join(r.WriteTarget(1, nothing, 0), r.WriteTarget(2, result, 0)); err != nil || stdout.String() != want {
			t.Errorf("terminal %v: have %q, want %q: %v", isTerminal, stdout, want, err)
		}
	}
}

// Several goroutines may write results, each line whole, while others show events.
func TestResults_concurrent(t *testing.T) {
	t.Parallel()
	const n = 20
	for _, out := range []Output{{PerTarget: true}, {PerTarget: true, JSON: true}} {
		s, stdout, _ := term.Buffers("")
		s.Out = writerFunc(func(p []byte) (int, error) { // a piece at a time
			for _, b := range p {
				stdout.WriteByte(b)
				runtime.Gosched()
			}
			return len(p), nil
		})
		r := New(Config{Streams: s, Face: Lines, Targets: n, Goal: allOf(n)})
		var writers sync.WaitGroup
		for i := range n {
			writers.Go(func() {
				events := jobRun(jobName(i), 1, queued, succeeded)
				last := events[len(events)-1]
				last.N = i + 1
				r.Event(last)
				if err := r.WriteTarget(i+1, out.Evaluate(*last.Outcome), 0); err != nil {
					t.Error(err)
				}
			})
		}
		writers.Wait()
		if err := r.WriteSummary(out, poll.Summary{Ending: poll.Succeeded}, 0); err != nil {
			t.Error(err)
		}
		results := strings.Count(stdout.String(), `"n":`)
		for line := range strings.Lines(stdout.String()) {
			if !json.Valid([]byte(line)) {
				t.Errorf("not whole: %.80s", line)
			}
		}
		if results != n {
			t.Errorf("%d results, want %d", results, n)
		}
	}
}
