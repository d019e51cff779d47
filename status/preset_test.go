package status

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPresetsAreComplete(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for _, p := range Presets() {
		for _, name := range append([]string{p.Name}, p.Aliases...) {
			if name == "" || strings.ToLower(name) != name || strings.ContainsAny(name, " _") {
				t.Errorf("preset %q: a name is lower-case words with hyphens", name)
			}
			if seen[name] {
				t.Errorf("preset %q: the name is taken", name)
			}
			seen[name] = true
		}
		if p.API == "" {
			t.Errorf("preset %s: does not say for which API it is", p.Name)
		}
		if !slices.ContainsFunc(p.Rules, func(r PresetRule) bool { return r.Status == Success }) {
			t.Errorf("preset %s: has no rule for SUCCESS", p.Name)
		}
	}
	if len(seen) == 0 {
		t.Fatal("there are no presets")
	}
}

func TestPresetExamplesAreWellFormed(t *testing.T) {
	t.Parallel()
	for _, p := range Presets() {
		rest, ok := strings.CutPrefix(p.Example, "poll --preset "+p.Name+" ")
		if !ok {
			t.Errorf("preset %s: the example does not begin with its use: %s", p.Name, p.Example)
			continue
		}
		_, command, isCommand := strings.Cut(rest, "-- ")
		words := strings.Fields(rest)
		isURL := strings.HasPrefix(words[len(words)-1], "https://")
		if isCommand == isURL || isCommand && command == "" {
			t.Errorf("preset %s: the example has neither a URL at its end nor a command after --, or both: %s", p.Name, p.Example)
		}
		if strings.Count(rest, `"`)%2 != 0 {
			t.Errorf("preset %s: the example's quotes are not closed: %s", p.Name, p.Example)
		}
	}
}

func TestLookupPreset(t *testing.T) {
	t.Parallel()
	for _, p := range Presets() {
		for _, name := range append([]string{p.Name}, p.Aliases...) {
			have, ok := LookupPreset(name)
			if diff := cmp.Diff(p, have); !ok || diff != "" {
				t.Errorf("LookupPreset(%q) = %v (-want +got):\n%s", name, ok, diff)
			}
		}
	}
	for _, name := range []string{"", "terraform-like", "RDS", "rds "} {
		if have, ok := LookupPreset(name); ok {
			t.Errorf("LookupPreset(%q) = %s", name, have.Name)
		}
	}
}

func TestPresetRulesAreInOrder(t *testing.T) {
	t.Parallel()
	place := func(r PresetRule) int {
		return slices.IndexFunc(RuleKinds(), func(k RuleKind) bool { return k.Status == r.Status })
	}
	for _, p := range Presets() {
		order := func(a, b PresetRule) int { return place(a) - place(b) }
		if !slices.IsSortedFunc(p.Rules, order) {
			t.Errorf("preset %s: its rules are not in the order in which they are asked", p.Name)
		}
	}
}

func TestReadPresets(t *testing.T) {
	t.Parallel()
	text := `name: thing
alias: things
alias: stuff
api: The Thing API
until: .state ==
 "done"
 -- it is
 done
error-if: .a == "--"
error-if: .b
throttled-if: .c -- slow -- down


name: other
`
	want := []Preset{
		{
			Name:    "thing",
			Aliases: []string{"things", "stuff"},
			API:     "The Thing API",
			Rules: []PresetRule{
				{Throttled, ".c", "slow -- down"},
				{Error, `.a == "--"`, ""},
				{Error, ".b", ""},
				{Success, `.state == "done"`, "it is done"},
			},
		},
		{Name: "other"},
	}
	var have []Preset
	for p, err := range readPresets(strings.NewReader(text)) {
		if err != nil {
			t.Fatal(err)
		}
		have = append(have, p)
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("presets (-want +got):\n%s", diff)
	}
}

func TestReadPresetsRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"a field with a typo": "name: thing\nuntill: .a\n",
		"no field":            "name: thing\nuntil .a\n",
		"nothing to continue": " .a\n",
	}
	for name, text := range tests {
		var last error
		for _, err := range readPresets(strings.NewReader(text)) {
			last = err
		}
		if last == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestRuleName(t *testing.T) {
	t.Parallel()
	want := map[Status]string{
		None: "", Throttled: "throttled-if", Error: "error-if", Success: "until", NotReady: "not-ready-if",
	}
	for status, name := range want {
		if have := status.RuleName(); have != name {
			t.Errorf("%v: have %q, want %q", status, have, name)
		}
	}
}
