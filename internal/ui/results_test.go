package ui

import (
	"encoding/json"
	"strings"
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
			if err := r.WriteTarget(ev.N, out.Settle(*ev.Outcome), exitOf[ev.Outcome.Ending]); err != nil {
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

// A result is on stdout when the target has ended, or else with the summary.
func TestResults_atEnd(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		out         Output
		done, fails bool // whether the result is written at the end
	}{
		"lines":  {Output{PerTarget: true}, false, false},
		"json":   {Output{PerTarget: true, JSON: true}, true, true},
		"winner": {Output{}, true, false}, // of a failure nothing is written
	} {
		s, stdout, _ := term.Buffers("")
		r := New(Config{Streams: s, Face: None, Targets: 2, Goal: allOf(2)})
		a, b := test.out.Settle(success(httpAnswer(200, "{}"))), test.out.Settle(failure(httpAnswer(500, "{}")))
		if a.AtEnd() != test.done || b.AtEnd() != test.fails {
			t.Errorf("%s: at the end %v and %v, want %v and %v", name, a.AtEnd(), b.AtEnd(), test.done, test.fails)
		}
		if err := r.WriteTarget(1, a, 0); err != nil || (stdout.Len() > 0) == test.done {
			t.Errorf("%s: error %v, written %q", name, err, stdout)
		}
		if err := r.WriteSummary(test.out, poll.Summary{}, 0); err != nil || stdout.Len() == 0 {
			t.Errorf("%s: error %v, and at the end %q", name, err, stdout)
		}
	}
}

// A summary lists the targets by their numbers, however they ended.
func TestSummary_order(t *testing.T) {
	t.Parallel()
	var d Summary
	if err := json.Unmarshal([]byte(written(t, manyJobs(25), Output{PerTarget: true, JSON: true})), &d); err != nil {
		t.Fatal(err)
	}
	for i, one := range d.Targets {
		if one.N != i+1 || string(one.Name) != jobName(i) {
			t.Errorf("at %d is %d, %s", i, one.N, one.Name)
		}
	}
	if d.Counts["succeeded"] != 13 || d.Counts["timed_out"] != 6 || len(d.Targets) != 25 {
		t.Errorf("have %v of %d targets", d.Counts, len(d.Targets))
	}
}

// Columns are sanitized for a terminal, and only there.
func TestResults_columnsOnTerminal(t *testing.T) {
	t.Parallel()
	result := Output{PerTarget: true, Print: append(printed("\x1b]0;x\a\t1", `""`), printed("b", `"b"`)...)}.
		Settle(success(httpAnswer(200, "{}")))
	for isTerminal, want := range map[bool]string{true: `\x1b]0;x\x07\t1` + "\tb\n", false: "\x1b]0;x\a\\t1\tb\n"} {
		s, stdout, _ := term.Buffers("")
		s.OutIsTerminal = isTerminal
		r := New(Config{Streams: s, Face: None, Goal: "all"})
		if err := r.WriteTarget(1, result, 0); err != nil || stdout.String() != want {
			t.Errorf("terminal %v: have %q, want %q: %v", isTerminal, stdout, want, err)
		}
	}
}
