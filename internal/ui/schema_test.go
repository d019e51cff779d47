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
	for _, events := range groups() {
		size := groupSize(events)
		checkEvents(t, show(events, Config{Face: JSON, Targets: size, Goal: allOf(size), Getenv: actions}), len(events))
	}
	if err := validate(readSchema(t, "summary.schema.json"), summaryWith(`[]`, allCounts)); err != nil {
		t.Error(err)
	}
}

// outcome returns the object that describes how events end.
func outcome(t *testing.T, events []poll.Event, cfg Config, output Output) string {
	t.Helper()
	s, out, _ := term.Buffers("")
	cfg.Streams, cfg.Face = s, None
	r := New(cfg)
	for _, ev := range events {
		r.Event(ev)
	}
	r.Close()
	if err := r.WriteResult(output.Settle(*events[len(events)-1].Outcome), 124); err != nil {
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
		outcome(t, events, Config{}, Output{JSON: true, Print: notPrinted})
		have := outcome(t, events, Config{Shared: name == "shared"}, Output{JSON: true, Print: printed("a", `{"a":[1]}`)})
		if name == "shared" || name == "timed-out" {
			golden(t, "one/"+name+"-outcome.json", have)
		}
	}
	binary := newRecording(jobURL, 0, 0).attempt(notReady("x"), httpAnswer(200, "\xff")).end(poll.Outcome{Ending: poll.Succeeded})
	outcome(t, binary, Config{}, Output{JSON: true})
	s, out, _ := term.Buffers("")
	if err := WriteFailure(s, 2, "--until: unexpected end\n  .state ==\n"); err != nil {
		t.Fatal(err)
	}
	want := `{"v":1,"status":null,"exit":2,"reason":"--until: unexpected end\\n  .state ==","attempts":0,"elapsed_s":0,"target":null,"again":false,"timeline":[]}` + "\n"
	if err := validate(readSchema(t, "outcome.schema.json"), out.String()); err != nil || out.String() != want {
		t.Errorf("have %s\nwant %s: %v", out, want, err)
	}
}

// allCounts and summaryWith make the object of --json for several targets.
const allCounts = `"succeeded":1,"failed":0,"cannot_run":0,"throttled":0,"exhausted":0,"timed_out":0,"interrupted":0,"cancelled":0`

func summaryWith(targets, counts string) string {
	return `{"v":1,"exit":0,"again":false,"status":"SUCCESS","ending":"succeeded","reason":"","goal":"","need":1,"counts":{` +
		counts + `},"attempts":1,"elapsed_s":0,"targets":` + targets + `}`
}

// The schemas would be worth nothing if they accepted anything.
func TestSchemas_refuse(t *testing.T) {
	t.Parallel()
	for name, wrong := range map[string][]string{
		"event.schema.json": {
			`{"v":2,"event":"start","target":"x","attempt":1,"elapsed_s":0}`,
			`{"v":1,"event":"start","target":"x","attempt":1,"elapsed_s":0,"wait_s":1}`,
			`{"v":1,"event":"start","target":"x","attempt":1,"elapsed_s":0,"color":"red"}`,
			`{"v":1,"event":"attempt","target":"x","attempt":1,"elapsed_s":0,"took_s":0,"status":"DONE","reason":""}`,
			`{"v":1,"event":"end","target":"x","attempt":1,"elapsed_s":0,"status":"ERROR","reason":"x"}`,
			`{"v":1,"event":"place","place":"x","elapsed_s":0,"reason":"","target":"x"}`,
		},
		"target.schema.json": {
			`{"v":1,"n":0,"name":"x","status":"SUCCESS","ending":"succeeded","exit":0,"reason":"","attempts":1,"elapsed_s":0}`,
			`{"v":1,"n":1,"name":"x","status":"SUCCESS","ending":"timed out","exit":0,"reason":"","attempts":1,"elapsed_s":0}`,
		},
		"summary.schema.json": {summaryWith(`[]`, `"succeeded":1`), summaryWith(`[{}]`, allCounts)},
		"outcome.schema.json": {
			`{"v":1,"status":"SUCCESS","exit":0,"reason":"","target":"x","attempts":0,"elapsed_s":0}`,
			`{"v":1,"status":"SUCCESS","exit":0,"reason":"","target":"x","attempts":0,"elapsed_s":0,"timeline":[],"encoding":"base64","body":{}}`,
		},
	} {
		schema := readSchema(t, name)
		for _, text := range wrong {
			if validate(schema, text) == nil {
				t.Errorf("%s accepts %s", name, text)
			}
		}
	}
}
