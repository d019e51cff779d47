package presets

import (
	"bufio"
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/poll"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

func TestRead(t *testing.T) {
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
	have, err := Read("mine.txt", "\ufeff# A comment.\n"+thing+"\n"+other)
	want := []Preset{{
		Name:    "thing",
		File:    "mine.txt",
		Text:    thing,
		Aliases: []string{"things", "stuff"},
		API:     "The Thing API",
		Object:  ".jobs[]",
		rules: []rule{
			{status.Throttled, ".c", "slow -- down"},
			{status.Error, `.a == "--"`, ""},
			{status.Error, ".b", ""},
			{status.Success, `.state == "done"`, "it is done"},
		},
	}, {
		Name:  "other",
		File:  "mine.txt",
		Text:  other,
		rules: []rule{{status.Success, ".c", ""}},
		Settings: []Setting{
			{"interval", []string{"30s"}, "mine.txt:16:11"},
			{"print", []string{".a", ".b"}, "mine.txt:17:8"},
		},
	}}
	if diff := gocmp.Diff(want, have, gocmp.AllowUnexported(Preset{})); diff != "" || err != nil {
		t.Errorf("%v; presets (-want +got):\n%s", err, diff)
	}
	for text, want := range map[string]string{
		"name: thing\n\nuntill: .a\n":                           `mine.txt:3:1: there is no key "untill"`,
		"name: thing\nuntil .a\n":                               `mine.txt:2:1: a line of a preset is key: value`,
		"name: thing\r\nuntil:\r\n":                             `mine.txt:2:1: "until" has no value`,
		" .a\n":                                                 `mine.txt:1:1: a line of a preset is key: value`,
		"# a\napi: x\nname: thing\n":                            `mine.txt:2:1: a stanza begins with its name, not with "api"`,
		"name: a\napi: b\n c\napi: d":                           `mine.txt:4:1: "api" is given twice`,
		"name: e\nuntil: .é == done -- x\n":                     `mine.txt:2:14: done is not quoted: write "done" for text, .done for the JSON field; did the shell remove the quotes? put the whole expression in single quotes`,
		"name: a\nuntil: .a\n == 1 and\r\n  .b = 2\n -- done\n": `mine.txt:4:6: = is not an operator: did you mean ==?`,
		"name: a\nuntil: .a and\n":                              `mine.txt:2:14: a value is missing at the end: is a shell variable not set? write $ENV.NAME: poll reads the variable itself`,
		"name: a\nuntil: .x\n\nname: b\napi: x\n":               `mine.txt: preset b has no rule, such as until: .state == "done"`,
		"name: a\nuntil: .x\n\nname: a\n":                       `mine.txt:4:1: there are two presets of the name a`,
		"name: a\ntimeout: 1s\ntimeout: 2s\n":                   `mine.txt:3:1: "timeout" is given twice`,
		"name: a\nobject: .job\neach: .jobs\n":                  `mine.txt:3:1: a preset has either each or object: with each, write paths from the element, such as .job.state, and no object`,
		"name: a\neach: .jobs\nuntil: .a\nobject: .job\n":       `mine.txt:4:1: a preset has either each or object: with each, write paths from the element, such as .job.state, and no object`,
		"name: a\nuntil: .sha == $ENV.SHA\n":                    `mine.txt:2:16: $ENV is not allowed in a preset: give a condition with $ENV on the command line: --until`,
		"name: a\nuntil: jq: .sha == env.SHA\n":                 `mine.txt:2:24: $ENV is not allowed in a preset: give a condition with $ENV on the command line: --until`,
		"name: a\nprint: $ENV.TOKEN\n":                          `mine.txt:2:8: $ENV is not allowed in a preset: give a condition with $ENV on the command line: --until`,
		"name: a\neach: .a\nid: jq: env.A\n":                    `mine.txt:3:13: $ENV is not allowed in a preset: give a condition with $ENV on the command line: --until`,
		"name: a\nprint: jq: $__prog_args\n":                    `mine.txt:2:12: jq: variable not defined: $__prog_args: variables are those of the condition language, such as $status, and your own`,
		"name: a\neach: .a ==\n":                                `mine.txt:2:10: nothing can follow a path here`,
		"name: a\nuntil: true\n":                                `mine.txt:2:8: true is the same for every response: write a condition that reads the response, such as .state == "done", $status == 200 or $exit == 0`,
		"name: a\nerror-if: not 1 == 1\n":                       `mine.txt:2:11: not 1 == 1 is the same for every response: write a condition that reads the response, such as .state == "done", $status == 200 or $exit == 0`,
		"name: a\nuntil: jq: true\n":                            `mine.txt:2:8: jq: true is the same for every response: write a condition that reads the response, such as .state == "done", $status == 200 or $exit == 0`,
		"name: ../a\nuntil: .x\n":                               `mine.txt:1:1: "name" is not a name: write letters, digits and . _ / : -, and begin with a letter or digit`,
		"name: a\nalias: b c\nuntil: .x\n":                      `mine.txt:2:1: "alias" is not a name: write letters, digits and . _ / : -, and begin with a letter or digit`,
		"name: a\x1b[31m\nuntil: .x\n":                          `mine.txt:1:8: a preset is text, without control characters`,
		"\x89PNG\r\n\x1a":                                       `mine.txt:1:1: a preset is text, without control characters`,
		"s3cret\n":                                              `mine.txt:1:1: a line of a preset is key: value`,
		"S3cret: x\n":                                           `mine.txt:1:1: a line of a preset is key: value`,
		"\ufeffuntil: .x\n":                                     `mine.txt:1:1: a stanza begins with its name, not with "until"`,
		"name: a\ndetail: .a[\n":                                `mine.txt:2:11: the bracket [ is not closed`,
		"name: k8s/A\nmatch: .a == $ENV.A\nuntil: .x\n":         `mine.txt:2:14: $ENV is not allowed in a preset: give a condition with $ENV on the command line: --until`,
		"name: k8s/A\nmatch: true\nuntil: .x\n":                 `mine.txt:2:8: true is the same for every response: write a condition that reads the response, such as .state == "done", $status == 200 or $exit == 0`,
		"name: k8s/A\nmatch: .a\nmatch: .b\n":                   `mine.txt:3:1: "match" is given twice`,
		"name: a\nmatch: .a\n":                                  `mine.txt:2:1: match is only for a stanza of a group, with a name such as NAME/X`,
		"name: a\nobject: .a[] // \n":                           `mine.txt:2:16: a path is missing: write the path of the list: .items`,
		"name: a\nobject: jq: .a\n":                             `mine.txt:2:9: a jq program cannot name the list: write the path of the list: .items, or .groups[].items[]`,
	} {
		if _, err := Read("mine.txt", text); err == nil || err.Error() != want {
			t.Errorf("%q: have %v, want %s", text, err, want)
		}
	}
}

// Every built-in preset has a unique name, an example, command lines for several objects, and rules in the order of
// evaluation.
func TestPresets(t *testing.T) {
	for _, text := range []string{presetText, groupText, waiterText()} {
		if _, err := Read("built in", text); err != nil {
			t.Error(err)
		}
	}
	seen := make(map[string]bool)
	place := func(r rule) int {
		return slices.Index([]status.Status{status.Throttled, status.Error, status.Success, status.NotReady}, r.Status)
	}
	for _, p := range All() {
		names := append([]string{p.Name}, p.Aliases...)
		for _, name := range names {
			if have, ok := Lookup(name); !ok || seen[name] || p.Text != have.Text || p.ID() != have.ID() {
				t.Errorf("preset %s: %s is taken, or not found: %+v", p.Name, name, have)
			}
			seen[name] = true
		}
		if !regexp.MustCompile(`^[a-z0-9-]+(/[A-Za-z0-9.-]+)?$`).MatchString(p.Name) || p.API == "" || (p.Match != "") != strings.Contains(p.Name, "/") {
			t.Errorf("preset %q: no name of lower-case words with hyphens, or no API", p.Name)
		}
		if !slices.IsSortedFunc(p.rules, func(a, b rule) int { return place(a) - place(b) }) {
			t.Errorf("preset %s: its rules are not in the order in which they are asked", p.Name)
		}
		for i, line := range append([]string{p.Example}, p.many...) {
			words := regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`).FindAllString(line, -1)
			if line == "" && p.Match != "" {
				continue // that of the group is enough
			}
			isURL := strings.HasPrefix(strings.Trim(words[len(words)-1], `'"`), "https://")
			hasList, isBatch, hasHole := strings.Contains(line, " --each "), strings.Contains(line, " --batch "), strings.Contains(line, "{}")
			switch {
			case !slices.Contains(names, flagOf(line, "--preset")), strings.Contains(line, " -- ") == isURL:
				t.Errorf("preset %s: neither a URL at the end nor a command after --, or no preset: %s", p.Name, line)
			case i > 0 && (!hasList && !hasHole || isBatch != (hasHole && hasList)):
				t.Errorf("preset %s: neither a list nor a target for each, or --batch without either: %s", p.Name, line)
			}
		}
		if len(p.many) == 0 && p.Match == "" || len(p.many) > len(names) {
			t.Errorf("preset %s: %d lines for many", p.Name, len(p.many))
		}
	}
	for _, name := range []string{"", "terraform-like", "RDS", "rds "} {
		if have, ok := Lookup(name); ok {
			t.Errorf("Lookup(%q) = %s", name, have.Name)
		}
	}
}

// flagOf returns the value of a flag in a command line, or "" if the command line does not have the flag.
func flagOf(line, flag string) string {
	words := regexp.MustCompile(`'[^']*'|"[^"]*"|\S+`).FindAllString(line, -1)
	if i := slices.Index(words, flag); i >= 0 {
		return strings.Trim(words[i+1], `'"`)
	}
	return ""
}

func TestPresetRulesThatDoNotFit(t *testing.T) {
	broken := rule{status.Error, `$exit != 0 && $stderr contains "gone"`, ""}
	gone := rule{status.Success, `$status == 204`, ""}
	done := rule{status.Success, `.state == "done"`, ""}
	for _, test := range []struct {
		kind        status.Kind
		rules       []rule
		left, unfit int
		err         string
	}{
		{status.KindCustom, []rule{broken, done}, 1, 1, ``},
		{status.KindTCP, []rule{broken, done}, 0, 2, `preset thing: none of its until conditions fits a TCP address: until: .state == "done"`},
		{status.KindCommand, []rule{broken, gone, gone}, 1, 2, `preset thing: none of its until conditions fits a command: until: $status == 204; until: $status == 204`},
		{status.KindHTTP, []rule{{status.Success, "$gone", ""}}, 0, 1, `preset thing: none of its until conditions fits a URL: until: $gone`},
		{status.KindHTTP, []rule{broken}, 0, 1, `preset thing: none of its rules fits a URL: error-if: $exit != 0 && $stderr contains "gone"`},
		{status.KindCustom, []rule{broken}, 0, 1, `preset thing: none of its rules fits this probe: error-if: $exit != 0 && $stderr contains "gone"`},
	} {
		preset, unfit, err := Preset{Name: "thing", rules: test.rules}.Compile(test.kind, false)
		if rules := preset.All(); len(rules) != test.left || len(unfit) != test.unfit || err != nil && err.Error() != test.err || err == nil && test.err != "" {
			t.Errorf("%s, %v: have %v, %v, %v", test.kind, test.rules, rules, unfit, err)
		}
	}
	for _, p := range []Preset{{rules: []rule{{Status: status.Success, Expr: ".a =="}}}, {detail: []string{".a["}}} {
		if _, _, err := p.Compile(status.KindHTTP, false); err == nil {
			t.Errorf("%+v compiles", p)
		}
	}
}

// A presetSample is a response of an API, with the status that a preset must return.
type presetSample struct {
	Want   string // the status, "" if no rule is to match
	Note   string // why the response is recorded
	Why    string // words that the reason must have
	Code   int    // the HTTP status, 200 if 0; a sample with one is for URLs only
	Exit   int    // a sample with an exit code, stderr or text is for commands only
	Stderr string
	Body   json.RawMessage
	Text   string // the response in place of Body, if it is not JSON
}

// kinds returns the kinds of probes that can have the response.
func (s presetSample) kinds() (kinds []status.Kind) {
	if s.Code == 0 {
		kinds = append(kinds, status.KindCommand)
	}
	if s.Exit == 0 && s.Stderr == "" && s.Text == "" {
		kinds = append(kinds, status.KindHTTP)
	}
	return kinds
}

func (s presetSample) observation(kind status.Kind) status.Observation {
	body := s.Body
	if s.Text != "" {
		body = json.RawMessage(s.Text)
	}
	o := status.Observation{Kind: kind, Attempt: 1, Body: body, Size: int64(len(body))}
	if kind == status.KindHTTP {
		o.Code = new(cmp.Or(s.Code, 200))
	} else {
		o.Exit, o.Stderr = &s.Exit, []byte(s.Stderr)
	}
	return poll.Recorded(o)
}

// presetSamples returns the samples of each preset, by its name: answers of the API, and one with
// each value that its documentation names, and with some that it does not.
// sampled returns the names of which a preset has samples. Other names of a stanza are for the same objects.
func sampled(p Preset) []string {
	if p.Match != "" {
		return []string{p.Name}
	}
	return append([]string{p.Name}, p.Aliases...)
}

func presetSamples(t testing.TB) map[string][]presetSample {
	samples := map[string][]presetSample{}
	for _, p := range All() {
		for _, name := range sampled(p) {
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
		for want, values := range map[status.Status][]string{
			status.Success: r.Success, status.NotReady: r.NotReady, status.Error: r.Error, status.None: r.Unmatched,
		} {
			for _, value := range values {
				answer := strings.ReplaceAll(string(r.Answer), `"?"`, `"`+value+`"`)
				samples[r.Preset] = append(samples[r.Preset], presetSample{Want: string(want), Body: json.RawMessage(answer)})
			}
		}
	}
	return samples
}

// Each rule of a preset decides at least one sample of the preset.
func TestPresetSamples(t *testing.T) {
	samples := presetSamples(t)
	for _, p := range All() {
		decided, compiled := map[string]bool{}, compiledFor(p)
		for _, name := range sampled(p) {
			for _, s := range samples[name] {
				for _, kind := range s.kinds() {
					decided[compiled[kind].checkSample(t, s, kind)] = true
				}
			}
			delete(samples, name)
		}
		for kind, c := range compiled {
			preset, err := c.rules, c.err
			isExample := strings.Contains(p.Example, " -- ") == (kind == status.KindCommand)
			for _, r := range preset.All() {
				if err == nil && r.Preset == p.Name && !decided[r.String()] {
					t.Errorf("no sample is for %s", r.String())
				}
			}
			if isExample && (err != nil || len(preset.All()) == 0) {
				t.Errorf("preset %s: no rule for kind %d, %v", p.Name, kind, err)
			}
		}
	}
	if len(samples) > 0 {
		t.Errorf("there is no preset for %v", slices.Collect(maps.Keys(samples)))
	}
}

// A compiledPreset has the rules of a preset for one kind, or the reason why the preset has none.
type compiledPreset struct {
	name  string
	rules *status.Preset
	err   error
}

// compiledFor returns the rules of a preset for commands and for HTTP.
func compiledFor(p Preset) map[status.Kind]compiledPreset {
	all := map[status.Kind]compiledPreset{}
	for _, kind := range []status.Kind{status.KindCommand, status.KindHTTP} {
		rules, _, err := p.Compile(kind, false)
		all[kind] = compiledPreset{p.Name, rules, err}
	}
	return all
}

// checkSample returns the rule that decided, "" if the preset does not fit the kind. --strict changes nothing where
// a rule decided.
func (c compiledPreset) checkSample(t *testing.T, s presetSample, kind status.Kind) string {
	t.Helper()
	if c.err != nil {
		return ""
	}
	rules := c.rules
	v := status.Rules{Preset: rules}.Classify(t.Context(), s.observation(kind))
	have := string(v.Status)
	if v.Rule == "" {
		have = ""
	}
	if have != s.Want || !strings.Contains(v.Reason, s.Why) || strings.HasSuffix(v.Reason, ": ") {
		t.Errorf("%s: %s %s%s\nhave %q by %s (%s)\nwant %q, %q", c.name, s.Note, s.Body, s.Stderr, have, v.Rule, v.Reason, s.Want, s.Why)
	}
	if refused := s.observation(kind); kind == status.KindHTTP {
		refused.Code = new(429)
		if v := (status.Rules{Preset: rules}).Classify(t.Context(), refused); v.Status != status.Throttled {
			t.Errorf("%s: %s with HTTP 429 is %s by %s", c.name, s.Body, v.Status, v.Rule)
		}
	}
	strict := status.Rules{Preset: rules, Strict: true}.Classify(t.Context(), s.observation(kind))
	if v.Rule != "" && strict.Status != v.Status || v.Rule == "" && v.Status == status.Success {
		t.Errorf("%s %s is %v, with --strict %v", c.name, s.Body, v.Status, strict.Status)
	}
	return v.Rule
}

// rulesOf compiles p. It panics if p does not compile.
func rulesOf(p Preset, kind status.Kind, ofObject bool) *status.Preset {
	rules, _, err := p.Compile(kind, ofObject)
	return must(rules, err)
}

// No rule of a preset matches a response that does not come from the API.
func TestPresets_matchNoForeignResponse(t *testing.T) {
	for _, p := range All() {
		compiled := compiledFor(p)
		for _, body := range []string{`{}`, `[]`, `null`, `"done"`, `0`, `{"status":{}}`, `{"status":null}`, "", "<html>502 Bad Gateway</html>", "{} {}"} {
			if p.Name == "github-deployment-status" && body == "[]" {
				continue // no status has been reported yet
			}
			s := presetSample{Note: p.Name, Body: json.RawMessage(body)}
			for kind, c := range compiled {
				c.checkSample(t, s, kind)
			}
		}
	}
}

// A presetList is a list in a response of an API, with the statuses of its elements by their keys.
type presetList struct {
	Preset string
	Answer json.RawMessage
	Want   map[string]string
}

// Each command line for many that has a list has a sample of it.
func TestPresetLists(t *testing.T) {
	lists := map[string]presetList{}
	for _, l := range readLines[presetList](t, "testdata/preset_lists.jsonl") {
		lists[l.Preset] = l
	}
	for _, p := range All() {
		for _, line := range p.many {
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

// checkList evaluates the elements of a list with the settings of a command line.
func checkList(t *testing.T, p Preset, line string, list presetList) {
	t.Helper()
	kind := status.KindCommand
	if !strings.Contains(line, " -- ") {
		kind = status.KindHTTP
	}
	rules := rulesOf(p, kind, true)
	each, err := expr.CompileEach(flagOf(line, "--each"))
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	keys := []string{".id"}
	if typed := flagOf(line, "--id"); typed != "" {
		keys = []string{typed}
	} else if id := p.setting("id"); id != nil {
		keys = id.Values
	}
	for _, r := range p.rules {
		if r.Status.Ends() && !slices.Contains(slices.Collect(maps.Values(list.Want)), string(r.Status)) {
			t.Errorf("%s: no element is %v", line, r.Status)
		}
	}
	page := expr.NewDoc(list.Answer)
	whole := poll.Recorded(status.Observation{Code: new(200), Body: list.Answer})
	if kind == status.KindHTTP && flagOf(line, "--next") == "" && whole.Protocol.Meaning(&whole).NextPage(false) != "" {
		t.Errorf("%s: the answer tells of further pages, and the line has no --next", line)
	}
	elements, _, problem := each.Elements(page)
	if len(elements) != len(list.Want) {
		t.Errorf("%s: have %d elements, want %d; %s", line, len(elements), len(list.Want), problem)
	}
	for _, e := range elements {
		var parts []string
		for _, key := range keys {
			x := must(expr.CompileValue(key))
			parts = append(parts, x.Eval(&expr.Env{Element: e}).Value().Text())
		}
		name := strings.Join(parts, "/")
		o := presetSample{Body: e.Bytes()}.observation(kind)
		o.Within = page
		v := status.Rules{Preset: rules, Strict: true}.Classify(t.Context(), o)
		if string(v.Status) != list.Want[name] || v.Rule == "" {
			t.Errorf("%s: %q is %v by %s: %s, want %q", line, name, v.Status, v.Rule, v.Reason, list.Want[name])
		}
		o.Body, o.Presence = nil, status.Gone
		if v = (status.Rules{Preset: rules}).Classify(t.Context(), o); v.Status != status.NotReady {
			t.Errorf("%s: once it is gone it is %v", line, v.Status)
		}
	}
}

func readLines[T any](t testing.TB, name string) (all []T) {
	t.Helper()
	f := must(os.Open(name))
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

// The rules of a preset are about its object: a member of the response, each element of a list in the response, or an
// element that the caller passes.
// A gate is evaluated before all other stanzas of its group, and before a stanza that is used alone.
func TestPresetGates(t *testing.T) {
	mine, err := Read("mine.txt", `name: k8s/Widget
match: .kind == "Widget"
until: .spec

name: k8s/held
match: .metadata.labels.hold
not-ready-if: .metadata.labels.hold == "yes" -- held
`)
	if err != nil {
		t.Fatal(err)
	}
	group, _ := Lookup("k8s")
	deployment, _ := Lookup("k8s-deployment")
	const hold, deleted = `"labels":{"hold":"yes"}`, `"deletionTimestamp":"2026-11-20T10:20:00Z"`
	for _, test := range []struct {
		preset Preset
		of     string // the metadata of a Widget
		want   status.Status
		reason string
	}{
		{group.With(mine), ``, status.Success, ".spec is"},
		{group.With(mine), hold, status.NotReady, "held"},
		{group.With(mine), deleted, status.NotReady, "being deleted"},
		{mine[0].With([]Preset{group}), ``, status.Success, ".spec is"},
		{mine[0].With([]Preset{group}).With([]Preset{group}), deleted, status.NotReady, "being deleted"},
		{group, ``, status.NotReady, "it has no status yet"},
		{deployment, deleted, status.NotReady, "being deleted"},
		{deployment, ``, status.NotReady, "about another kind of object"},
		{mine[0].With([]Preset{group}), `"kind":null`, status.Success, ".spec is"},
		{mine[0].With([]Preset{group}), `"kind":null,` + deleted, status.NotReady, "being deleted"},
	} {
		preset := rulesOf(test.preset, status.KindCommand, false)
		body := `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w","uid":"1",` + test.of + `},"spec":{"x":1}}`
		body = strings.Replace(body, ",}", "}", 1)
		if strings.HasPrefix(test.of, `"kind":null`) { // as argocd app get prints an object
			body = strings.Replace(body, `"kind":"Widget",`, "", 1)
		}
		v := status.Rules{Preset: preset}.Classify(t.Context(), presetSample{Body: json.RawMessage(body)}.observation(status.KindCommand))
		if v.Status != test.want || !strings.Contains(v.Reason, test.reason) {
			t.Errorf("%s, %s: have %v, %s; want %v, %s", test.preset.Name, test.of, v.Status, v.Reason, test.want, test.reason)
		}
	}
	if have := len(deployment.With([]Preset{group}).Stanzas()); have != len(deployment.Stanzas()) {
		t.Errorf("its gates are there twice: %d stanzas", have)
	}
}

func TestPresetObject(t *testing.T) {
	for _, test := range []struct {
		object, answer string
		want           status.Status
		reason         string
	}{
		{"", `{"state":"up"}`, status.Success, `.state is "up"`},
		{".job", `{"job":{"state":"up"}}`, status.Success, `.state is "up"`},
		{".job", `{"job":null}`, status.NotReady, `.state is missing, want == "up"`},
		{".jobs[0]", `{"jobs":[{"state":"up"},{"state":"new"}]}`, status.Success, `.state is "up"`},
		{".jobs[]", `{"jobs":[{"state":"up"},{"state":"up"}]}`, status.Success, `all 2 are done`},
		{".jobs[]", `{"jobs":[{"state":"up"}]}`, status.Success, `.state is "up"`},
		{".jobs[]", `{"jobs":[{"state":"up"},{"id":"b","state":"new"}]}`, status.NotReady, `1 of 2: b: .state is "new", want == "up"`},
		{".jobs[]", `{"jobs":[{"state":"new"},{"state":"down","why":"no room"}]}`, status.Error, `0 of 2: object 2: it is down: no room; object 1: .state is "new", want == "up"`},
		{".jobs[]", `{"jobs":[{"state":"down"},{"state":"down"}],"failures":["x"]}`, status.Error, `there are failures`},
		{".jobs[]", `{"jobs":[]}`, status.NotReady, `no objects yet`},
		{".jobs[]", `{}`, status.NotReady, `no objects yet: .jobs is missing, and is not a list`},
		{".jobs[]", `{"jobs":null,"failures":["x"]}`, status.Error, `there are failures`},
		{".jobs[] // .", `{"state":"up","jobs":{"a":{"state":"new"}}}`, status.Success, `.state is "up"`},
		{".jobs[] // .", `{"state":"up","jobs":[]}`, status.NotReady, `no objects yet`},
		{".jobs[] // .", `{"state":"up","jobs":null}`, status.NotReady, `no objects yet`},
		{".a[].b[].c", `{"a":[{"b":[{"c":{"state":"up"}}]},{"b":[{"c":{"state":"up"}},{"c":{}}]}]}`, status.NotReady, ``},
		{".a[].b[].c", `{"a":[{"b":[{"c":{"state":"up"}}]},{"b":[{"c":{"state":"up"}}]}]}`, status.Success, ``},
		{".job", `{"job":{"state":"up"},"failures":["x"]}`, status.Error, `there are failures`},
		{".jobs[]", `{"jobs":[{"state":"up"}],"failures":3,"buildsNotFound":1}`, status.Success, ``},
	} {
		p := Preset{Name: "thing", Object: test.object, Settings: []Setting{{Key: "id", Values: []string{".id"}}}, detail: []string{".why"}, rules: []rule{
			{Status: status.Error, Expr: `$json.failures[0] != null`, Why: "there are failures"},
			{Status: status.Error, Expr: `.state == "down"`, Why: "it is down"}, {Status: status.Success, Expr: `.state == "up"`}}}
		preset := rulesOf(p, status.KindHTTP, false)
		o := poll.Recorded(status.Observation{Kind: status.KindHTTP, Code: new(200), Body: []byte(test.answer)})
		v := status.Rules{Preset: preset}.Classify(t.Context(), o)
		if v.Status != test.want || test.reason != "" && v.Reason != test.reason {
			t.Errorf("%s of %s: have %v, %s", test.object, test.answer, v.Status, v.Reason)
		}
	}
	p := Preset{Name: "thing", Object: ".jobs[]", rules: []rule{{Status: status.Success, Expr: `jq: .state == "up"`}}}
	page := expr.NewDoc([]byte(`{"jobs":[{"state":"up"}]}`))
	element := status.Observation{Kind: status.KindHTTP, Code: new(200), Body: []byte(`{"state":"up"}`), Within: page}
	for ofObject, o := range map[bool]status.Observation{true: element, false: {Kind: status.KindHTTP, Code: new(200), Body: []byte(`{"jobs":[{"state":"up"}]}`)}} {
		preset := rulesOf(p, status.KindHTTP, ofObject)
		if v := (status.Rules{Preset: preset}).Classify(t.Context(), poll.Recorded(o)); v.Status != status.Success {
			t.Errorf("an element %t: have %v, %s", ofObject, v.Status, v.Reason)
		}
	}
}

// A rule that reads values outside the object leads to no SUCCESS if there is no object.
func TestPresetWithoutObjects(t *testing.T) {
	p := Preset{Name: "thing", Object: ".jobs[]", rules: []rule{{Status: status.Success, Expr: `.state == "up" or $status == 200`}}}
	preset := rulesOf(p, status.KindHTTP, false)
	for answer, want := range map[string]status.Status{`{"jobs":[]}`: status.NotReady, `{}`: status.NotReady, `<`: status.NotReady, `{"jobs":[{}]}`: status.Success} {
		o := poll.Recorded(status.Observation{Kind: status.KindHTTP, Code: new(200), Body: []byte(answer)})
		if v := (status.Rules{Preset: preset}).Classify(t.Context(), o); v.Status != want {
			t.Errorf("%s: have %v, %s", answer, v.Status, v.Reason)
		}
	}
}

// The rules of a group are evaluated for each object in a response.
func TestRules_objects(t *testing.T) {
	rules, err := Rules("k8s", status.KindCommand)
	body := `{"kind":"List","items":[` + objectOf("v1", "Service", 1) + `]}`
	if v := rules.Classify(t.Context(), presetSample{Body: json.RawMessage(body)}.observation(status.KindCommand)); err != nil || !strings.HasPrefix(v.Reason, "not there yet") {
		t.Errorf("have %v, %s, %v", v.Status, v.Reason, err)
	}
}

// Each type of a condition of which a rule reads the status is in the gate for earlier specifications.
func TestTypesOfConditions(t *testing.T) {
	ofType := regexp.MustCompile(`\W\.type ?== ?"(\w+)" and \.status|\W\.type in \[([^]]*)\]|\.type \| IN\(([^)]*)\)`)
	gate, _ := Lookup("k8s/stale")
	group, _ := Lookup("k8s")
	for _, stanza := range group.Stanzas() {
		for _, r := range stanza.rules {
			for _, found := range ofType.FindAllStringSubmatch(r.Expr, -1) {
				for _, name := range strings.FieldsFunc(found[1]+found[2]+found[3], func(c rune) bool { return !unicode.IsLetter(c) }) {
					if r.Status.Ends() && !strings.Contains(gate.Match, `"`+name+`"`) {
						t.Errorf("%s reads the condition %s, and k8s/stale does not have it", stanza.Name, name)
					}
				}
			}
		}
	}
}
