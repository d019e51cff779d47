package ui

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
)

// exitOf has an exit code for each ending, which tells them apart.
var exitOf = map[poll.Ending]int{
	poll.Failed: 1, poll.CannotRun: 2, poll.HintTooLong: 3, poll.AttemptsExhausted: 4, poll.TimedOut: 5, poll.Interrupted: 6, poll.Cancelled: 7,
}

// written is what several targets that end as the events say write to stdout.
func written(t *testing.T, events []poll.Event, out Output) string {
	t.Helper()
	s, stdout, _ := term.Buffers("")
	r := New(Config{Streams: s, Face: None, Targets: groupSize(events), Goal: allOf(groupSize(events))})
	for _, ev := range events {
		if ev.Kind == poll.EventEnd {
			if err := r.WriteTarget(ev.N, out.Evaluate(*ev.Outcome), exitOf[ev.Outcome.Ending]); err != nil {
				t.Fatal(err)
			}
		}
		r.Event(ev)
		if ev.Kind == poll.EventGoal {
			if err := r.WriteSummary(out, *ev.Summary, 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	return stdout.String()
}

func TestResults_golden(t *testing.T) {
	t.Parallel()
	two := append(printed("4\t2", `"4\t2"`), printed("a\\b\nc\rd", `"a\\b\nc\rd"`)...)
	for kind, out := range map[string]Output{
		"lines":    {PerTarget: true},
		"value":    {PerTarget: true, Print: printed("a", `{"a":[1]}`)},
		"missing":  {PerTarget: true, Print: notPrinted},
		"columns":  {PerTarget: true, Print: two},
		"json":     {PerTarget: true, Print: two, JSON: true},
		"one":      {},
		"one-col":  {Print: two},
		"one-json": {JSON: true},
	} {
		for name, events := range groups() {
			have := written(t, events, out)
			schema := readSchema(t, "target.schema.json")
			if out.JSON {
				schema = readSchema(t, "summary.schema.json")
			}
			for line := range strings.Lines(have) {
				if err := validate(schema, line); strings.HasPrefix(line, `{"v"`) && err != nil {
					t.Errorf("%s: %v", line, err)
				}
			}
			if name == "some" {
				golden(t, "many/some-stdout-"+kind+".txt", have)
			}
		}
	}
}

// Where one target is enough, the first that succeeds gives the result.
func TestResults_first(t *testing.T) {
	t.Parallel()
	have := written(t, together(poll.Summary{Ending: poll.Succeeded}, jobRun("a", 1, queued, succeeded), jobRun("b", 1, queued, succeeded)), Output{JSON: true})
	if !strings.Contains(have, `"result":{"n":1,`) {
		t.Errorf("have %s", have)
	}
}

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
		schema, lines := readSchema(t, "target.schema.json"), strings.Count(stdout.String(), "\n")
		if out.JSON {
			schema, lines = readSchema(t, "summary.schema.json"), strings.Count(stdout.String(), `"n":`)
		}
		for line := range strings.Lines(stdout.String()) {
			if err := validate(schema, line); err != nil {
				t.Errorf("%.80s: %v", line, err)
			}
		}
		if lines != n {
			t.Errorf("%d results, want %d", lines, n)
		}
	}
}
