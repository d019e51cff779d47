package ui

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pollcli/poll/internal/ui/term"
	"github.com/pollcli/poll/poll"
)

func readSchema(t *testing.T, name string) *jsonschema.Resolved {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

func validate(s *jsonschema.Resolved, text string) error {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return err
	}
	return s.Validate(v)
}

// checkEvents compares events in JSON, one a line, with their schema.
func checkEvents(t *testing.T, text string, want int) {
	t.Helper()
	schema, n := readSchema(t, "event.schema.json"), 0
	for line := range strings.Lines(text) {
		n++
		if err := validate(schema, line); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	if n != want {
		t.Errorf("%d lines for %d events", n, want)
	}
}

func TestEvents_schema(t *testing.T) {
	t.Parallel()
	actions := environment("GITHUB_ACTIONS", "true")
	for _, events := range recordings() {
		checkEvents(t, show(events, Config{Face: JSON, Verbose: true, Getenv: actions}), len(events))
	}
	for name, events := range groups() {
		size := groupSize(events)
		have := show(events, Config{Face: JSON, Targets: size, Goal: allOf(size), Getenv: actions})
		if checkEvents(t, have, len(events)); name == "some" && strings.Count(have, `"closed_s":3,`) != 3 {
			t.Errorf("three times a place was closed for 3 s:\n%s", have)
		}
	}
}

// printedOutcome returns the object that describes how events end.
func printedOutcome(t *testing.T, events []poll.Event, cfg Config, output Output) string {
	t.Helper()
	s, out, _ := term.Buffers("")
	cfg.Streams, cfg.Face = s, None
	r := New(cfg)
	for _, ev := range events {
		r.Event(ev)
	}
	r.Close()
	if err := r.WriteResult(output.Evaluate(*events[len(events)-1].Outcome), 124); err != nil {
		t.Fatal(err)
	}
	if err := validate(readSchema(t, "outcome.schema.json"), out.String()); err != nil {
		t.Errorf("%s: %v", out, err)
	}
	return out.String()
}

func TestOutcomes_schema(t *testing.T) {
	t.Parallel()
	for name, events := range recordings() {
		printedOutcome(t, events, Config{}, Output{JSON: true, Print: notPrinted})
		have := printedOutcome(t, events, Config{}, Output{JSON: true, Print: printed("a", `{"a":[1]}`)})
		if name == "timed-out" {
			golden(t, "one/"+name+"-outcome.json", have)
		}
	}
	binary := newRecording(jobURL, 0, 0).attempt(notReady("x"), httpAnswer(200, "\xff")).end(poll.Outcome{Ending: poll.Succeeded})
	printedOutcome(t, binary, Config{}, Output{JSON: true})
	s, out, _ := term.Buffers("")
	if err := WriteFailure(s, 2, false, "--until: unexpected end\n  .state ==\n"); err != nil {
		t.Fatal(err)
	}
	want := `{"v":1,"status":null,"exit":2,"reason":"--until: unexpected end\\n  .state ==","attempts":0,"elapsed_s":0,"target":null,"again":false,"timeline":[]}` + "\n"
	if err := validate(readSchema(t, "outcome.schema.json"), out.String()); err != nil || out.String() != want {
		t.Errorf("have %s\nwant %s: %v", out, want, err)
	}
}
