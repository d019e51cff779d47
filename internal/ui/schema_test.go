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

func TestEvents_schema(t *testing.T) {
	t.Parallel()
	schema := readSchema(t, "event.schema.json")
	for name, events := range recordings() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			have := show(events, Config{Face: JSON, Verbose: true,
				Getenv: environment("GITHUB_ACTIONS", "true")})
			n := 0
			for line := range strings.Lines(have) {
				n++
				if err := validate(schema, line); err != nil {
					t.Errorf("%s: %v", line, err)
				}
			}
			if n != len(events) {
				t.Errorf("%d lines for %d events", n, len(events))
			}
		})
	}
}

func TestOutcomes_schema(t *testing.T) {
	t.Parallel()
	schema := readSchema(t, "outcome.schema.json")
	for name, events := range recordings() {
		for which, output := range map[string]Output{
			"":         {JSON: true},
			"-value":   {JSON: true, Print: printed("a", `{"a":[1]}`)},
			"-missing": {JSON: true, Print: notPrinted},
		} {
			t.Run(name+which, func(t *testing.T) {
				t.Parallel()
				s, out, _ := term.Buffers("")
				r := New(Config{Streams: s, Face: None})
				var result Result
				for _, ev := range events {
					if ev.Kind == poll.EventEnd {
						result = output.Settle(*ev.Outcome)
					}
					r.Event(ev)
				}
				if err := r.WriteResult(result, 124); err != nil {
					t.Fatal(err)
				}
				if err := validate(schema, out.String()); err != nil {
					t.Errorf("%s: %v", out, err)
				}
				if which == "-value" && (name == "shared" || name == "timed-out") {
					golden(t, "one/"+name+"-outcome.json", out.String())
				}
			})
		}
	}
	t.Run("usage", func(t *testing.T) {
		t.Parallel()
		s, out, _ := term.Buffers("")
		if err := WriteFailure(s, 2, "unknown flag"); err != nil {
			t.Fatal(err)
		}
		if err := validate(schema, out.String()); err != nil {
			t.Errorf("%s: %v", out, err)
		}
	})
	t.Run("binary", func(t *testing.T) {
		t.Parallel()
		s, out, _ := term.Buffers("")
		if err := writeResult(s, Output{JSON: true}.Settle(success(httpAnswer(200, "\xff")))); err != nil {
			t.Fatal(err)
		}
		if err := validate(schema, out.String()); err != nil {
			t.Errorf("%s: %v", out, err)
		}
	})
}

// allCounts and summaryWith make the object of --json for several targets.
const allCounts = `"succeeded":1,"failed":0,"cannot_run":0,"throttled":0,"exhausted":0,"timed_out":0,"interrupted":0,"cancelled":0`

func summaryWith(targets, counts string) string {
	return `{"v":1,"exit":0,"status":"SUCCESS","ending":"succeeded","reason":"","goal":"","need":1,"counts":{` +
		counts + `},"attempts":1,"elapsed_s":0,"targets":` + targets + `}`
}

// The schemas would be worth nothing if they accepted anything.
func TestSchemas_refuse(t *testing.T) {
	t.Parallel()
	for name, wrong := range map[string][]string{
		"event.schema.json": {
			`{}`,
			`{"v":2,"event":"start","target":"x","attempt":1,"elapsed_s":0}`,
			`{"v":1,"event":"start","target":"x","attempt":0,"elapsed_s":0}`,
			`{"v":1,"event":"start","target":"x","attempt":1,"elapsed_s":0,"wait_s":1}`,
			`{"v":1,"event":"start","target":"x","attempt":1,"elapsed_s":0,"color":"red"}`,
			`{"v":1,"event":"wait","target":"x","attempt":1,"elapsed_s":0}`,
			`{"v":1,"event":"attempt","target":"x","attempt":1,"elapsed_s":0,"took_s":0,"status":null,"reason":""}`,
			`{"v":1,"event":"attempt","target":"x","attempt":1,"elapsed_s":0,"took_s":0,"status":"DONE","reason":""}`,
			`{"v":1,"event":"attempt","target":"x","attempt":1,"elapsed_s":0,"took_s":0,"status":"ERROR","reason":"","exit_code":1,"http_status":200}`,
			`{"v":1,"event":"end","target":"x","attempt":1,"elapsed_s":0,"status":"ERROR","reason":"x"}`,
			`{"v":1,"event":"start","target":"x","attempt":1,"elapsed_s":0,"n":1}`,
			`{"v":1,"event":"place","place":"x","elapsed_s":0,"reason":"","rate":0}`,
			`{"v":1,"event":"place","place":"x","elapsed_s":0,"reason":"","target":"x"}`,
			`{"v":1,"event":"goal","status":"ERROR","ending":"failed","reason":"","goal":"","need":1,"counts":{` + allCounts + `},"attempts":1,"elapsed_s":0}`,
		},
		"target.schema.json": {
			`{}`,
			`{"v":1,"n":0,"name":"x","status":"SUCCESS","ending":"succeeded","exit":0,"reason":"","attempts":1,"elapsed_s":0}`,
			`{"v":1,"n":1,"name":"x","status":"SUCCESS","ending":"timed out","exit":0,"reason":"","attempts":1,"elapsed_s":0}`,
			`{"v":1,"n":1,"name":"x","status":"SUCCESS","ending":"succeeded","exit":0,"reason":"","attempts":1,"elapsed_s":0,"encoding":"base64"}`,
		},
		"summary.schema.json": {
			`{}`,
			summaryWith(`[]`, `"succeeded":1`),
			summaryWith(`[{}]`, allCounts),
			summaryWith(`[{"n":1,"name":"x","status":"SUCCESS","ending":"succeeded","exit":0,"reason":"","attempts":1,"elapsed_s":0,"body":1}]`, allCounts),
		},
		"outcome.schema.json": {
			`{}`,
			`{"v":1,"status":"SUCCESS","exit":0,"reason":"","target":null,"attempts":0,"elapsed_s":0,"timeline":[]}`,
			`{"v":1,"status":"SUCCESS","exit":0,"reason":"","target":"x","attempts":0,"elapsed_s":0}`,
			`{"v":1,"status":"SUCCESS","exit":0,"reason":"","target":"x","attempts":0,"elapsed_s":0,"timeline":[{}]}`,
			`{"v":1,"status":"SUCCESS","exit":0,"reason":"","target":"x","attempts":0,"elapsed_s":0,"timeline":[],"encoding":"base64"}`,
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

func TestGroupEvents_schema(t *testing.T) {
	t.Parallel()
	schema := readSchema(t, "event.schema.json")
	for name, events := range groups() {
		n := 0
		have := show(events, Config{Face: JSON, Targets: groupSize(events), Goal: allOf(groupSize(events)), Getenv: environment("GITHUB_ACTIONS", "true")})
		for line := range strings.Lines(have) {
			n++
			if err := validate(schema, line); err != nil {
				t.Errorf("%s: %s: %v", name, line, err)
			}
		}
		if n != len(events) {
			t.Errorf("%s: %d lines for %d events", name, n, len(events))
		}
	}
	if err := validate(readSchema(t, "summary.schema.json"), summaryWith(`[]`, allCounts)); err != nil {
		t.Error(err)
	}
}
