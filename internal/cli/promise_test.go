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
	"github.com/pollcli/poll/internal/cli/read"
	"github.com/pollcli/poll/internal/cli/run"
	"github.com/pollcli/poll/status/presets"
)

// TestPromise compares the facts that scripts rely on with testdata/promise.txt. A row has a subject and words
// that apply to the subject. No word of a row may disappear. New words are allowed: go test ./internal/cli
// -run TestPromise -update adds the words to the file, and removes none. Authors who remove a word by hand
// describe the change in CHANGELOG.md.
func TestPromise(t *testing.T) {
	file := filepath.Join("testdata", "promise.txt")
	text := must(os.ReadFile(file))
	have, promised := promise(t), readRows(string(text))
	count := 0
	for subject, words := range promised {
		for word := range words {
			if count++; !have[subject][word] {
				t.Errorf("a script may rely on this, and it is gone: %s: %s", subject, word)
			}
		}
	}
	if count < 950 {
		t.Errorf("the file has %d words", count)
	}
	if *update {
		for subject, words := range promised {
			for word := range words {
				have.add(subject, word)
			}
		}
		check(t, os.WriteFile(file, []byte(have.String()), 0o644))
	}
}

// rows maps each subject to its words.
type rows map[string]map[string]bool

func (r rows) add(subject string, words ...string) {
	if r[subject] == nil {
		r[subject] = map[string]bool{}
	}
	for _, word := range words {
		r[subject][word] = true
	}
}

// String returns a row for each subject, in lines of at most 120 columns.
func (r rows) String() string {
	var b strings.Builder
	for _, subject := range slices.Sorted(maps.Keys(r)) {
		line := subject + ":"
		for _, word := range slices.Sorted(maps.Keys(r[subject])) {
			if r[subject][word+always] {
				continue // readRows adds the word
			}
			if len(line)+len(word) > 118 {
				b.WriteString(line + "\n")
				line = " "
			}
			line += " " + word
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// always is the suffix of a member that is required in every object.
const always = "!"

// readRows parses the text of String. A line that starts with a blank continues its row.
func readRows(text string) rows {
	r, subject := rows{}, ""
	for line := range strings.Lines(text) {
		if line[0] != ' ' {
			subject, line, _ = strings.Cut(line, ": ")
		}
		for _, word := range strings.Fields(line) {
			r.add(subject, word, strings.TrimSuffix(word, always))
		}
	}
	return r
}

// promise returns the rows for all exit codes, commands, flags, variables, presets, keys of presets and
// members of JSON schemas.
func promise(t *testing.T) rows {
	t.Helper()
	have := rows{}
	for name, code := range map[string]run.ExitCode{
		"success": run.ExitSuccess, "error": run.ExitError, "usage": run.ExitUsage, "attempts": run.ExitAttempts, "throttled": run.ExitThrottled,
		"timeout": run.ExitTimeout, "internal": run.ExitInternal, "not-executable": run.ExitNotExecutable, "not-found": run.ExitNotFound,
	} {
		have.add("exit codes", fmt.Sprintf("%s=%d", name, code))
	}
	for _, c := range append(testApp().subcommands().commands(), read.New().Line.Command) {
		name := strings.TrimSpace("poll " + strings.TrimPrefix(c.Name, "poll"))
		have.add("commands", strings.ReplaceAll(name, " ", "-"))
		addFlags(have, c.Flags, name)
	}
	for _, p := range presets.All() {
		have.add("presets", append([]string{p.Name}, p.Aliases...)...)
	}
	for key, value := range map[string]string{
		"alias": "a", "until": ".a", "error-if": ".a", "throttled-if": ".a", "not-ready-if": ".a", "object": ".a", "detail": ".a",
		"interval": "1s", "timeout": "1s", "max-wait": "1s", "follow": "none", "each": ".a", "id": ".a", "print": ".a",
		"api": "a", "example": "a", "many": "a", "note": "a",
	} {
		if _, err := presets.Read("mine.txt", "name: mine\nuntil: .b\n"+key+": "+value+"\n"); err == nil {
			have.add("keys of a preset", key)
		}
	}
	for _, name := range []string{"outcome", "summary", "target", "event"} {
		var schema map[string]any
		check(t, json.Unmarshal([]byte(page(t, "docs/"+name+".schema.json")), &schema))
		have.addSchema(schema, name)
	}
	return have
}

// addFlags adds the words of each flag to the row of its command: the aliases, the variable, whether the flag takes
// a value, the possible values, and whether the flag may be repeated.
func addFlags(have rows, flags argv.Flags, command string) {
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		add := func(word string) { have.add(command, "--"+f.Name+":"+word) }
		add(map[bool]string{true: "switch", false: "value"}[f.IsSwitch()])
		for _, name := range f.Aliases {
			add(map[bool]string{true: "-", false: "--"}[len(name) == 1] + name)
		}
		for _, word := range f.Words {
			add("=" + word)
		}
		if f.Many {
			add("repeated")
		}
		if command == "poll" && f.HasVariable {
			add(f.Variable())
		}
	}
}

// addSchema adds the members of a schema. It marks required members, and lists the values of a member with an
// enumeration.
func (r rows) addSchema(node any, at string) {
	if parts, isList := node.([]any); isList {
		for _, part := range parts {
			r.addSchema(part, at+eventOf(part))
		}
	}
	object, _ := node.(map[string]any)
	for key, value := range object {
		members, _ := value.(map[string]any)
		switch key {
		case "properties", "$defs":
			for member, schema := range members {
				if key == "$defs" {
					r.addSchema(schema, at+":"+member)
					continue
				}
				r.add("JSON "+at, member)
				r.addSchema(schema, at+"."+member)
			}
		case "required":
			for _, member := range value.([]any) {
				r.add("JSON "+at, member.(string), member.(string)+always)
			}
		case "enum":
			for _, one := range value.([]any) {
				r.addConst(at, one)
			}
		case "const":
			r.addConst(at, value)
		case "if", "then", "else", "allOf", "not": // constraints rather than members
		default:
			r.addSchema(value, at)
		}
	}
}

// addConst adds a constant value of the member at.
func (r rows) addConst(at string, value any) {
	dot := strings.LastIndex(at, ".")
	r.add("JSON "+at[:dot], fmt.Sprintf("%s=%v", at[dot+1:], value))
}

// eventOf returns " NAME" for the schema of the event NAME, and "" for other schemas.
func eventOf(schema any) string {
	object, _ := schema.(map[string]any)
	members, _ := object["properties"].(map[string]any)
	event, _ := members["event"].(map[string]any)
	if name, is := event["const"].(string); is {
		return " " + name
	}
	return ""
}
