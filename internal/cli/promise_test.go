package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pollcli/poll/internal/argv"
	"github.com/pollcli/poll/status/presets"
)

// TestPromise holds what scripts rely on against testdata/promise.txt: nothing that a release has had is
// missing, or has another value. More is fine: go test ./internal/cli -run TestPromise -update adds it to
// the file, and takes nothing away. Whoever takes a line out by hand writes into CHANGELOG.md what breaks.
func TestPromise(t *testing.T) {
	t.Parallel()
	file := filepath.Join("testdata", "promise.txt")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	have := promise(t)
	promised := strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
	for _, line := range promised {
		if !have[line] {
			t.Errorf("a script may rely on this, and it is gone: %s", line)
		}
		delete(have, line)
	}
	if len(promised) < 750 {
		t.Errorf("the file has %d lines", len(promised))
	}
	if *update && len(have) > 0 {
		all := slices.Sorted(slices.Values(slices.AppendSeq(promised, maps.Keys(have))))
		if err := os.WriteFile(file, []byte(strings.Join(all, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// promise has a line for each exit code, command, flag, variable, preset, key of a preset and member of a JSON schema.
func promise(t *testing.T) map[string]bool {
	t.Helper()
	lines := map[string]bool{}
	add := func(format string, args ...any) { lines[fmt.Sprintf(format, args...)] = true }

	for name, code := range map[string]ExitCode{
		"success": ExitSuccess, "error": ExitError, "usage": ExitUsage, "attempts": ExitAttempts, "throttled": ExitThrottled,
		"timeout": ExitTimeout, "internal": ExitInternal, "not executable": ExitNotExecutable, "not found": ExitNotFound,
	} {
		add("exit code %d: %s", code, name)
	}
	for _, c := range append(testProcess().commands(), newSpec().Command) {
		command := strings.TrimSpace("poll " + strings.TrimPrefix(c.Name, "poll"))
		add("command: %s", command)
		addFlags(c.Flags, command, add)
	}
	for _, p := range presets.All() {
		for _, name := range append([]string{p.Name}, p.Aliases...) {
			add("preset: %s", name)
		}
	}
	for key, value := range map[string]string{
		"alias": "a", "until": ".a", "error-if": ".a", "throttled-if": ".a", "not-ready-if": ".a", "object": ".a", "detail": ".a",
		"interval": "1s", "timeout": "1s", "max-wait": "1s", "follow": "none", "each": ".a", "id": ".a", "print": ".a",
		"api": "a", "example": "a", "many": "a", "note": "a",
	} {
		if _, err := presets.Read("mine.txt", "name: mine\nuntil: .b\n"+key+": "+value+"\n"); err == nil {
			add("key of a preset: %s", key)
		}
	}
	for _, name := range []string{"outcome", "summary", "target", "event"} {
		var schema map[string]any
		if err := json.Unmarshal([]byte(page(t, "docs/"+name+".schema.json")), &schema); err != nil {
			t.Fatal(err)
		}
		addSchema(schema, name, add)
	}
	return lines
}

// addFlags adds the names of flags, whether they take a value, the values that can be listed, and the variable.
func addFlags(flags argv.Flags, command string, add func(string, ...any)) {
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		kind := "with a value"
		if f.Value == "" {
			kind = "a switch"
		}
		for _, name := range append([]string{f.Name}, f.Aliases...) {
			dashes := "--"
			if len(name) == 1 {
				dashes = "-"
			}
			add("flag: %s %s%s, %s", command, dashes, name, kind)
		}
		for _, word := range f.Words {
			add("flag: %s --%s=%s", command, f.Name, word)
		}
		if f.Many {
			add("flag: %s --%s, more than once", command, f.Name)
		}
		if command == "poll" && f.Name != "help" && f.Name != "version" {
			add("variable: %s", f.Variable())
		}
	}
}

// addSchema adds the members of a schema, which of them are always there, and the values of those that have some of a list.
func addSchema(node any, at string, add func(string, ...any)) {
	switch node := node.(type) {
	case []any:
		for _, part := range node {
			addSchema(part, at, add)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(node)) {
			addMember(name, node[name], at, add)
		}
	}
}

func addMember(name string, value any, at string, add func(string, ...any)) {
	switch members, isObject := value.(map[string]any); {
	case name == "properties" && isObject:
		for member, schema := range members {
			add("JSON: %s.%s", at, member)
			addSchema(schema, at+"."+member, add)
		}
	case name == "$defs" && isObject:
		for member, schema := range members {
			addSchema(schema, at+":"+member, add)
		}
	case name == "oneOf":
		for _, alternative := range value.([]any) {
			addSchema(alternative, at+eventOf(alternative), add)
		}
	case name == "required":
		for _, member := range value.([]any) {
			add("JSON: %s.%v is always there", at, member)
		}
	case name == "enum":
		for _, one := range value.([]any) {
			add("JSON: %s=%v", at, one)
		}
	case name == "const":
		add("JSON: %s=%v", at, value)
	case name == "if" || name == "then" || name == "else" || name == "allOf" || name == "not":
		// what follows from what is no member
	default:
		addSchema(value, at, add)
	}
}

// eventOf returns " NAME" of an alternative that is an event of that name.
func eventOf(alternative any) string {
	var schema struct {
		Properties struct {
			Event struct{ Const string }
		}
	}
	text, _ := json.Marshal(alternative)
	if json.Unmarshal(text, &schema) != nil || schema.Properties.Event.Const == "" {
		return ""
	}
	return " " + schema.Properties.Event.Const
}
