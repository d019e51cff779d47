package status

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pollcli/poll/status/expr"
)

// flagOf returns the value of a flag in a command line, "" if it is not there.
func flagOf(line, flag string) string {
	words := regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`).FindAllString(line, -1)
	if i := slices.Index(words, flag); i >= 0 {
		return strings.Trim(words[i+1], `'"`)
	}
	return ""
}

// Each preset says how many are waited for, by a list or one by one.
func TestPresetsForMany(t *testing.T) {
	t.Parallel()
	for _, p := range Presets() {
		var names []string
		for _, line := range p.Many {
			names = append(names, flagOf(line, "--preset"))
			if !strings.Contains(line, " --each ") && (!strings.Contains(line, "--targets") || !strings.Contains(line, "{}")) {
				t.Errorf("preset %s: neither a list nor a target for each: %s", p.Name, line)
			}
			if strings.Contains(line, "--batch") != (strings.Contains(line, "{}") && strings.Contains(line, "--each")) {
				t.Errorf("preset %s: only a list of some takes --batch and {}: %s", p.Name, line)
			}
		}
		if len(names) == 0 || names[0] != p.Name || slices.ContainsFunc(names, func(name string) bool {
			return name != p.Name && !slices.Contains(p.Aliases, name)
		}) || len(names) > 1 && len(names) != 1+len(p.Aliases) {
			t.Errorf("preset %s: the lines are for %q", p.Name, names)
		}
	}
}

// A presetList is a list as the API gives it, and what its elements mean, by their keys.
type presetList struct {
	Preset string
	Answer json.RawMessage
	Want   map[string]string
}

func TestPresetLists(t *testing.T) {
	t.Parallel()
	lists := readLines[presetList](t, "testdata/preset_lists.jsonl")
	for _, p := range Presets() {
		for _, line := range p.Many {
			name := flagOf(line, "--preset")
			at := slices.IndexFunc(lists, func(l presetList) bool { return l.Preset == name })
			switch isList := strings.Contains(line, " --each "); {
			case at < 0 && isList:
				t.Errorf("%s: there is no sample", line)
			case at >= 0 && !isList:
				t.Errorf("%s: there is a sample of a list", line)
			case isList:
				checkList(t, p, line, lists[at])
				lists = slices.Delete(lists, at, at+1)
			}
		}
	}
	for _, l := range lists {
		t.Errorf("no line is for the sample of %s", l.Preset)
	}
}

// checkList judges the elements as the command line says.
func checkList(t *testing.T, p Preset, line string, list presetList) {
	t.Helper()
	kind := KindCommand
	if !strings.Contains(line, " -- ") {
		kind = KindHTTP
	}
	rules, err := p.Compile(kind, true)
	if err != nil {
		t.Fatal(err)
	}
	each, err := expr.CompileEach(flagOf(line, "--each"))
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	key := flagOf(line, "--id")
	if key == "" {
		key = ".id"
	}
	x, err := expr.CompileValue(key)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range p.Rules {
		if r.Status.Ends() && !slices.Contains(slices.Collect(maps.Values(list.Want)), string(r.Status)) {
			t.Errorf("%s: no element is %v", line, r.Status)
		}
	}
	page := expr.NewDoc(list.Answer)
	for _, member := range []string{`"has_more":`, `"next`} {
		if kind == KindHTTP && flagOf(line, "--next") == "" && bytes.Contains(list.Answer, []byte(member)) {
			t.Errorf("%s: the answer tells of further pages, and the line has no --next", line)
		}
	}
	elements, problem := each.Elements(page)
	if len(elements) != len(list.Want) {
		t.Errorf("%s: have %d elements, want %d; %s", line, len(elements), len(list.Want), problem)
	}
	for _, e := range elements {
		name, problem := e.Key(x)
		o := presetSample{Body: json.RawMessage(e.Raw)}.observation(kind)
		o.Within = page
		v := Rules{Preset: rules, Strict: true}.Classify(t.Context(), o)
		if string(v.Status) != list.Want[name] || v.Rule == "" {
			t.Errorf("%s: %q (%s) is %v by %s: %s, want %q", line, name, problem, v.Status, v.Rule, v.Reason, list.Want[name])
		}
		v = Rules{Preset: rules}.Classify(t.Context(), Observation{Kind: kind, Code: o.Code, Exit: o.Exit, Within: page, Presence: Gone})
		if v.Status != NotReady {
			t.Errorf("%s: once it is gone it is %v", line, v.Status)
		}
	}
}
