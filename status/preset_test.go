package status

import (
	"bufio"
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/status/expr"
)

func TestReadPresets(t *testing.T) {
	t.Parallel()
	const thing = `name: thing
alias: things
alias: stuff
api: The Thing API
object: .jobs[]
throttled-if: .c -- slow -- down
error-if: .a == "--"
error-if: .b
until: .state ==
 "done"
 -- it is
 done
`
	const other = `name: other
interval: 30s
print: .a
print: .b
until: .c
`
	have, err := ReadPresets("mine.txt", "\ufeff# A comment.\n"+thing+"\n"+other)
	want := []Preset{{
		Name:    "thing",
		File:    "mine.txt",
		Text:    thing,
		Aliases: []string{"things", "stuff"},
		API:     "The Thing API",
		Object:  ".jobs[]",
		Rules: []PresetRule{
			{Throttled, ".c", "slow -- down"},
			{Error, `.a == "--"`, ""},
			{Error, ".b", ""},
			{Success, `.state == "done"`, "it is done"},
		},
	}, {
		Name:  "other",
		File:  "mine.txt",
		Text:  other,
		Rules: []PresetRule{{Success, ".c", ""}},
		Settings: []PresetSetting{
			{"interval", []string{"30s"}, "mine.txt:16:11"},
			{"print", []string{".a", ".b"}, "mine.txt:17:8"},
		},
	}}
	if diff := cmp.Diff(want, have); diff != "" || err != nil {
		t.Errorf("%v; presets (-want +got):\n%s", err, diff)
	}
	for text, want := range map[string]string{
		"name: thing\n\nuntill: .a\n":                           `mine.txt:3:1: there is no key "untill"`,
		"name: thing\nuntil .a\n":                               `mine.txt:2:1: a line of a preset is key: value`,
		"name: thing\r\nuntil:\r\n":                             `mine.txt:2:1: "until" has no value`,
		" .a\n":                                                 `mine.txt:1:1: a line of a preset is key: value`,
		"# a\napi: x\nname: thing\n":                            `mine.txt:2:1: a stanza begins with its name, not with "api"`,
		"name: a\napi: b\n c\napi: d":                           `mine.txt:4:1: "api" is there twice`,
		"name: e\nuntil: .é == done -- x\n":                     `mine.txt:2:14: done is not quoted: write "done" for text, .done for the JSON field; did the shell take the quotes away? put the whole expression in single quotes`,
		"name: a\nuntil: .a\n == 1 and\r\n  .b = 2\n -- done\n": `mine.txt:4:6: = is not an operator: did you mean ==?`,
		"name: a\nuntil: .a and\n":                              `mine.txt:2:14: a value is missing at the end`,
		"name: a\nuntil: .x\n\nname: b\napi: x\n":               `mine.txt: preset b has no rule, such as until: .state == "done"`,
		"name: a\nuntil: .x\n\nname: a\n":                       `mine.txt:4:1: there are two presets of the name a`,
		"name: a\ntimeout: 1s\ntimeout: 2s\n":                   `mine.txt:3:1: "timeout" is there twice`,
		"name: a\nobject: .job\neach: .jobs\n":                  `mine.txt:3:1: a preset has either each or object: with each, write paths from the element, such as .job.state, and no object`,
		"name: a\neach: .jobs\nuntil: .a\nobject: .job\n":       `mine.txt:4:1: a preset has either each or object: with each, write paths from the element, such as .job.state, and no object`,
		"name: a\nuntil: .sha == $ENV.SHA\n":                    `mine.txt:2:16: $ENV cannot stand here: a preset reads no variables of the environment, but a typed condition does: --until`,
		"name: a\nuntil: jq: .sha == env.SHA\n":                 `mine.txt:2:24: $ENV cannot stand here: a preset reads no variables of the environment, but a typed condition does: --until`,
		"name: a\nprint: $ENV.TOKEN\n":                          `mine.txt:2:8: $ENV cannot stand here: a preset reads no variables of the environment, but a typed condition does: --until`,
		"name: a\neach: .a\nid: jq: env.A\n":                    `mine.txt:3:13: $ENV cannot stand here: a preset reads no variables of the environment, but a typed condition does: --until`,
		"name: a\nprint: jq: $__prog_args\n":                    `mine.txt:2:12: jq: variable not defined: $__prog_args: variables are those of the condition language, such as $status, and your own`,
		"name: a\neach: .a ==\n":                                `mine.txt:2:10: after a path nothing can follow here`,
		"name: a\nuntil: true\n":                                `mine.txt:2:8: true is the same for every answer: a condition reads something, such as .state == "done", $status == 200 or $exit == 0`,
		"name: a\nerror-if: not 1 == 1\n":                       `mine.txt:2:11: not 1 == 1 is the same for every answer: a condition reads something, such as .state == "done", $status == 200 or $exit == 0`,
		"name: a\nuntil: jq: true\n":                            `mine.txt:2:8: jq: true is the same for every answer: a condition reads something, such as .state == "done", $status == 200 or $exit == 0`,
		"name: ../a\nuntil: .x\n":                               `mine.txt:1:1: "name" is letters, digits and . _ / : -, and begins with a letter or digit`,
		"name: a\nalias: b c\nuntil: .x\n":                      `mine.txt:2:1: "alias" is letters, digits and . _ / : -, and begins with a letter or digit`,
		"name: a\x1b[31m\nuntil: .x\n":                          `mine.txt:1:8: a preset is text, without control characters`,
		"\x89PNG\r\n\x1a":                                       `mine.txt:1:1: a preset is text, without control characters`,
		"s3cret\n":                                              `mine.txt:1:1: a line of a preset is key: value`,
		"S3cret: x\n":                                           `mine.txt:1:1: a line of a preset is key: value`,
		"\ufeffuntil: .x\n":                                     `mine.txt:1:1: a stanza begins with its name, not with "until"`,
		"name: a\ndetail: .a[\n":                                `mine.txt:2:11: the bracket [ is not closed`,
		"name: a\nobject: jq: .a\n":                             `mine.txt:2:9: where the elements are cannot be said in jq: write the path of the list: .items, or .groups[].items[]`,
	} {
		if _, err := ReadPresets("mine.txt", text); err == nil || err.Error() != want {
			t.Errorf("%q: have %v, want %s", text, err, want)
		}
	}
}

// Every built-in preset has a name of its own, an example, command lines for many, and rules in the
// order in which they are asked.
func TestPresets(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	place := func(r PresetRule) int { return slices.Index(Ruled(), r.Status) }
	for _, p := range Presets() {
		names := append([]string{p.Name}, p.Aliases...)
		for _, name := range names {
			if have, ok := LookupPreset(name); !ok || seen[name] || cmp.Diff(p, have) != "" {
				t.Errorf("preset %s: %s is taken, or not found: %+v", p.Name, name, have)
			}
			seen[name] = true
		}
		if !regexp.MustCompile(`^[a-z0-9-]+$`).MatchString(p.Name) || p.API == "" {
			t.Errorf("preset %q: no name of lower-case words with hyphens, or no API", p.Name)
		}
		if !slices.IsSortedFunc(p.Rules, func(a, b PresetRule) int { return place(a) - place(b) }) {
			t.Errorf("preset %s: its rules are not in the order in which they are asked", p.Name)
		}
		for i, line := range append([]string{p.Example}, p.Many...) {
			words := regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`).FindAllString(line, -1)
			isURL := strings.HasPrefix(strings.Trim(words[len(words)-1], `'"`), "https://")
			hasList, isBatch, hasHole := strings.Contains(line, " --each "), strings.Contains(line, " --batch "), strings.Contains(line, "{}")
			switch {
			case !slices.Contains(names, flagOf(line, "--preset")), strings.Contains(line, " -- ") == isURL:
				t.Errorf("preset %s: neither a URL at the end nor a command after --, or no preset: %s", p.Name, line)
			case i > 0 && (!hasList && !hasHole || isBatch != (hasHole && hasList)):
				t.Errorf("preset %s: neither a list nor a target for each, or --batch without either: %s", p.Name, line)
			}
		}
		if len(p.Many) == 0 || len(p.Many) > len(names) {
			t.Errorf("preset %s: %d lines for many", p.Name, len(p.Many))
		}
	}
	for _, name := range []string{"", "terraform-like", "RDS", "rds "} {
		if have, ok := LookupPreset(name); ok {
			t.Errorf("LookupPreset(%q) = %s", name, have.Name)
		}
	}
}

// flagOf returns the value of a flag in a command line, "" if it is not there.
func flagOf(line, flag string) string {
	words := regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`).FindAllString(line, -1)
	if i := slices.Index(words, flag); i >= 0 {
		return strings.Trim(words[i+1], `'"`)
	}
	return ""
}

func TestPresetRulesThatDoNotFit(t *testing.T) {
	t.Parallel()
	broken := PresetRule{Error, `$exit != 0 && $stderr contains "gone"`, ""}
	gone := PresetRule{Success, `$status == 204`, ""}
	done := PresetRule{Success, `.state == "done"`, ""}
	for _, test := range []struct {
		kind        Kind
		rules       []PresetRule
		left, unfit int
		err         string
	}{
		{KindCustom, []PresetRule{broken, done}, 1, 1, ``},
		{KindTCP, []PresetRule{broken, done}, 0, 2, `preset thing: none of its until fits a TCP address: until: .state == "done"`},
		{KindCommand, []PresetRule{broken, gone, gone}, 1, 2, `preset thing: none of its until fits a command: until: $status == 204; until: $status == 204`},
		{KindHTTP, []PresetRule{{Success, "$gone", ""}}, 0, 1, `preset thing: none of its until fits a URL: until: $gone`},
		{KindHTTP, []PresetRule{broken}, 0, 1, `preset thing: none of its rules fits a URL: error-if: $exit != 0 && $stderr contains "gone"`},
		{KindCustom, []PresetRule{broken}, 0, 1, `preset thing: none of its rules fits this probe: error-if: $exit != 0 && $stderr contains "gone"`},
	} {
		rules, unfit, err := Preset{Name: "thing", Rules: test.rules}.Compile(test.kind, false)
		if len(rules) != test.left || len(unfit) != test.unfit || err != nil && err.Error() != test.err || err == nil && test.err != "" {
			t.Errorf("%s, %v: have %v, %v, %v", test.kind, test.rules, rules, unfit, err)
		}
	}
	for _, p := range []Preset{{Rules: []PresetRule{{Status: Success, Expr: ".a =="}}}, {Detail: []string{".a["}}} {
		if _, _, err := p.Compile(KindHTTP, false); err == nil {
			t.Errorf("%+v compiles", p)
		}
	}
}

// A presetSample is an answer as the API gives it, and what it means.
type presetSample struct {
	Want   string // the status, "" if no rule is to match
	Note   string // what is special about it
	Why    string // words that the reason must have
	Exit   int
	Stderr string
	Body   json.RawMessage
}

func (s presetSample) observation(kind Kind) Observation {
	o := Observation{Kind: kind, Attempt: 1, Body: s.Body, Size: int64(len(s.Body))}
	if kind == KindHTTP {
		o.Code = new(200)
	} else {
		o.Exit, o.Stderr = &s.Exit, []byte(s.Stderr)
	}
	return o
}

// presetSamples returns the samples of each preset, by its name: answers of the API, and one with
// each value that its documentation names, and with some that it does not.
func presetSamples(t *testing.T) map[string][]presetSample {
	samples := map[string][]presetSample{}
	for _, p := range Presets() {
		for _, name := range append([]string{p.Name}, p.Aliases...) {
			samples[name] = readLines[presetSample](t, "testdata/presets/"+name+".jsonl")
		}
	}
	type row struct {
		Preset    string
		Answer    json.RawMessage // "?" stands for the value
		Success   []string        `json:"SUCCESS"`
		NotReady  []string        `json:"NOT_READY"`
		Error     []string        `json:"ERROR"`
		Unmatched []string        `json:"UNMATCHED"`
	}
	for _, r := range readLines[row](t, "testdata/preset_values.jsonl") {
		for want, values := range map[Status][]string{Success: r.Success, NotReady: r.NotReady, Error: r.Error, None: r.Unmatched} {
			for _, value := range values {
				answer := strings.ReplaceAll(string(r.Answer), `"?"`, `"`+value+`"`)
				samples[r.Preset] = append(samples[r.Preset], presetSample{Want: string(want), Body: json.RawMessage(answer)})
			}
		}
	}
	return samples
}

// Of the samples of a preset, each of its rules decides one.
func TestPresetSamples(t *testing.T) {
	t.Parallel()
	samples := presetSamples(t)
	for _, p := range Presets() {
		decided := map[string]bool{}
		for _, name := range append([]string{p.Name}, p.Aliases...) {
			for _, s := range samples[name] {
				decided[checkSample(t, p, s, KindCommand)] = true
				if s.Body != nil {
					decided[checkSample(t, p, s, KindHTTP)] = true
				}
			}
			delete(samples, name)
		}
		for _, kind := range []Kind{KindCommand, KindHTTP} {
			rules, _, err := p.Compile(kind, false)
			for _, r := range rules {
				if !decided[r.String()] {
					t.Errorf("no sample is for %s", r.String())
				}
			}
			if err != nil || len(rules) == 0 {
				t.Errorf("preset %s: no rule for kind %d, %v", p.Name, kind, err)
			}
		}
	}
	if len(samples) > 0 {
		t.Errorf("there is no preset for %v", slices.Collect(maps.Keys(samples)))
	}
}

// checkSample returns the rule that decided. --strict changes nothing where one did.
func checkSample(t *testing.T, p Preset, s presetSample, kind Kind) string {
	t.Helper()
	rules, _, err := p.Compile(kind, false)
	if err != nil {
		t.Fatal(err)
	}
	v := Rules{Preset: rules}.Classify(t.Context(), s.observation(kind))
	have := string(v.Status)
	if v.Rule == "" {
		have = ""
	}
	if have != s.Want || !strings.Contains(v.Reason, s.Why) || strings.HasSuffix(v.Reason, ": ") {
		t.Errorf("%s: %s %s%s\nhave %q by %s (%s)\nwant %q, %q", p.Name, s.Note, s.Body, s.Stderr, have, v.Rule, v.Reason, s.Want, s.Why)
	}
	if refused := s.observation(kind); kind == KindHTTP {
		refused.Code = new(429)
		if v := (Rules{Preset: rules}).Classify(t.Context(), refused); v.Status != Throttled {
			t.Errorf("%s: %s with HTTP 429 is %s by %s", p.Name, s.Body, v.Status, v.Rule)
		}
	}
	strict := Rules{Preset: rules, Strict: true}.Classify(t.Context(), s.observation(kind))
	if v.Rule != "" && strict.Status != v.Status || v.Rule == "" && v.Status == Success {
		t.Errorf("%s %s is %v, with --strict %v", p.Name, s.Body, v.Status, strict.Status)
	}
	return v.Rule
}

// What is not one of the API's answers at all must mean nothing to any preset.
func TestPresetsSayNothingOfOtherAnswers(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{}`, `[]`, `null`, `"done"`, `0`, `{"status":{}}`, `{"status":null}`, "", "<html>502 Bad Gateway</html>", "{} {}"} {
		for _, p := range Presets() {
			if p.Name == "github-deployment-status" && body == "[]" {
				continue // no status has been reported yet
			}
			s := presetSample{Note: p.Name, Body: json.RawMessage(body)}
			checkSample(t, p, s, KindCommand)
			checkSample(t, p, s, KindHTTP)
		}
	}
}

// A presetList is a list as the API gives it, and what its elements mean, by their keys.
type presetList struct {
	Preset string
	Answer json.RawMessage
	Want   map[string]string
}

// Each command line for many that has a list has a sample of it.
func TestPresetLists(t *testing.T) {
	t.Parallel()
	lists := map[string]presetList{}
	for _, l := range readLines[presetList](t, "testdata/preset_lists.jsonl") {
		lists[l.Preset] = l
	}
	for _, p := range Presets() {
		for _, line := range p.Many {
			name := flagOf(line, "--preset")
			if list, found := lists[name]; found != strings.Contains(line, " --each ") {
				t.Errorf("%s: a sample of a list: %t", line, found)
			} else if found {
				checkList(t, p, line, list)
			}
			delete(lists, name)
		}
	}
	if len(lists) > 0 {
		t.Errorf("no line is for %v", slices.Collect(maps.Keys(lists)))
	}
}

// checkList judges the elements as the command line says.
func checkList(t *testing.T, p Preset, line string, list presetList) {
	t.Helper()
	kind := KindCommand
	if !strings.Contains(line, " -- ") {
		kind = KindHTTP
	}
	rules, _, err := p.Compile(kind, true)
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
	if kind == KindHTTP && flagOf(line, "--next") == "" && NextPage(list.Answer) != "" {
		t.Errorf("%s: the answer tells of further pages, and the line has no --next", line)
	}
	elements, _, problem := each.Elements(page)
	if len(elements) != len(list.Want) {
		t.Errorf("%s: have %d elements, want %d; %s", line, len(elements), len(list.Want), problem)
	}
	for _, e := range elements {
		id := x.Eval(&expr.Env{Element: e}).Value()
		name, problem := id.Text(), id.Reason
		o := presetSample{Body: e.Bytes()}.observation(kind)
		o.Within = page
		v := Rules{Preset: rules, Strict: true}.Classify(t.Context(), o)
		if string(v.Status) != list.Want[name] || v.Rule == "" {
			t.Errorf("%s: %q (%s) is %v by %s: %s, want %q", line, name, problem, v.Status, v.Rule, v.Reason, list.Want[name])
		}
		o.Body, o.Presence = nil, Gone
		if v = (Rules{Preset: rules}).Classify(t.Context(), o); v.Status != NotReady {
			t.Errorf("%s: once it is gone it is %v", line, v.Status)
		}
	}
}

func readLines[T any](t *testing.T, name string) (all []T) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line T
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, line)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
