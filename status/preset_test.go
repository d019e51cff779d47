package status

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pollcli/poll/status/expr"
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
		return slices.Index(Ruled(), r.Status)
	}
	for _, p := range Presets() {
		order := func(a, b PresetRule) int { return place(a) - place(b) }
		if !slices.IsSortedFunc(p.Rules, order) {
			t.Errorf("preset %s: its rules are not in the order in which they are asked", p.Name)
		}
	}
}

func TestParsePresets(t *testing.T) {
	t.Parallel()
	have, err := readPresets("p", `# A comment.
name: thing
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

name: other
`)
	want := []Preset{{
		Name:    "thing",
		Aliases: []string{"things", "stuff"},
		API:     "The Thing API",
		Object:  ".jobs[]",
		Rules: []PresetRule{
			{Throttled, ".c", "slow -- down"},
			{Error, `.a == "--"`, ""},
			{Error, ".b", ""},
			{Success, `.state == "done"`, "it is done"},
		},
	}, {Name: "other"}}
	if diff := cmp.Diff(want, have); diff != "" || err != nil {
		t.Errorf("%v; presets (-want +got):\n%s", err, diff)
	}
}

func TestParsePresetsRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"name: thing\n\nuntill: .a\n":               `my.txt:3:1: there is no key "untill"`,
		"name: thing\nuntil .a\n":                   `my.txt:2:1: there is no key "until .a"`,
		"name: thing\r\nuntil:\r\n":                 `my.txt:2:1: "until" has no value`,
		" .a\n":                                     `my.txt:1:1: a stanza begins with its name, not with " .a"`,
		"# a\napi: x\nname: thing\n":                `my.txt:2:1: a stanza begins with its name, not with "api: x"`,
		"name: thing\nobject: .a\n[]\nobject: .b\n": `my.txt:3:1: there is no key "[]"` + ``, "name: a\napi: b\n c\napi: d": `my.txt:4:1: "api" is there twice`,
		"name: é\nuntil: .é == done -- x\n":                `my.txt:2:14: done is not quoted`,
		"name: a\nuntil: .a\n == 1 and\n  .b = 2\n -- x\n": `my.txt:4:6: = is not an operator`,
		"name: a\nuntil: .a and\n":                         `my.txt:2:14: a value is missing at the end`,
		"name: a\ndetail: .a[\n":                           `my.txt:2:11: the bracket [ is not closed`,
		"name: a\nobject: jq: .a\n":                        `my.txt:2:9: where the elements are cannot be said in jq`,
	} {
		if _, err := readPresets("my.txt", text); err == nil || err.Error() != want {
			t.Errorf("%q: have %v, want %s", text, err, want)
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

func TestPresetsCompileForEveryProbe(t *testing.T) {
	t.Parallel()
	for _, p := range Presets() {
		for _, kind := range []Kind{KindCommand, KindHTTP} {
			rules, err := p.Compile(kind, false)
			if err != nil {
				t.Errorf("Compile(%d): %v", kind, err)
			}
			if len(rules) == 0 {
				t.Errorf("preset %s: no rule for kind %d", p.Name, kind)
			}
			for _, r := range rules {
				if want := "preset " + p.Name; r.Origin != want {
					t.Errorf("Origin = %q, want %q", r.Origin, want)
				}
			}
		}
		if rules, err := p.Compile(KindTCP, false); err != nil || len(rules) != 0 {
			t.Errorf("preset %s for TCP: %d rules, %v", p.Name, len(rules), err)
		}
	}
}

func TestPresetRulesThatDoNotApplyAreLeftOut(t *testing.T) {
	t.Parallel()
	p := Preset{Name: "thing", Rules: []PresetRule{
		{Status: Error, Expr: `$exit != 0 && $stderr contains "gone"`},
		{Status: Success, Expr: `$status == 204`},
		{Status: NotReady, Expr: `.state == "running"`},
	}}
	tests := map[Kind]string{
		KindCommand: `$exit != 0 && $stderr contains "gone"|.state == "running"`,
		KindHTTP:    `$status == 204|.state == "running"`,
		KindTCP:     "",
		KindCustom:  `.state == "running"`,
	}
	for kind, want := range tests {
		rules, err := p.Compile(kind, false)
		if err != nil {
			t.Fatal(err)
		}
		var have []string
		for _, r := range rules {
			have = append(have, r.Expr.String())
		}
		if have := strings.Join(have, "|"); have != want {
			t.Errorf("kind %d: have %s, want %s", kind, have, want)
		}
	}
}

func TestPresetThatDoesNotCompile(t *testing.T) {
	t.Parallel()
	for _, p := range []Preset{
		{Name: "thing", Rules: []PresetRule{{Status: Success, Expr: ".a =="}}},
		{Name: "thing", Detail: []string{".a["}},
	} {
		if _, err := p.Compile(KindHTTP, false); err == nil || !strings.Contains(err.Error(), "preset thing") {
			t.Errorf("Compile = %v, want an error that names the preset", err)
		}
	}
}

func TestErrorByPresetTellsWhatTheAnswerSays(t *testing.T) {
	t.Parallel()
	tests := []struct{ preset, body, want string }{
		{"replicate", `{"status":"failed","error":"CUDA out of memory"}`, "CUDA out of memory"},
		{"azure-lro", `{"status":"Failed","error":{"code":"Conflict","message":"Another operation is in progress."}}`, "Another operation is in progress."},
		{"azure-lro", `{"status":"Failed","error":{"code":"Conflict"}}`, "Conflict"},
		{"azure-lro", `{"status":"Failed","error":{"code":"Conflict","message":" "}}`, "Conflict"},
		{"replicate", `{"status":"failed","error":"first line\n  second\tline\n"}`, "first line second line"},
		{"k8s-job", `{"kind":"Job","status":{"conditions":[{"type":"Complete","status":"False"},{"type":"Failed","status":"True","message":"Job has reached the specified backoff limit"}]}}`, "Job has reached the specified backoff limit"},
		{"github-deployment-status", `[{"state":"failure","description":"Out of memory"}]`, "Out of memory"},
	}
	for _, test := range tests {
		p, _ := LookupPreset(test.preset)
		v := classifyByPreset(t, p, presetSample{Body: json.RawMessage(test.body)}.observation(KindHTTP))
		if v.Status != Error || !strings.HasSuffix(v.Reason, test.want) {
			t.Errorf("%s %s\nhave %v, %s\nwant ERROR, ...%s", test.preset, test.body, v.Status, v.Reason, test.want)
		}
	}
	p, _ := LookupPreset("replicate")
	for _, body := range []string{`{"status":"failed","error":null}`, `{"status":"canceled"}`} {
		v := classifyByPreset(t, p, presetSample{Body: json.RawMessage(body)}.observation(KindHTTP))
		if v.Status != Error || strings.HasSuffix(v.Reason, ": ") {
			t.Errorf("%s\nhave %v, %q", body, v.Status, v.Reason)
		}
	}
}

func TestAzureRulesAreAskedBehindAStart(t *testing.T) {
	t.Parallel()
	until, err := expr.Compile(`.status == "Half"`)
	if err != nil {
		t.Fatal(err)
	}
	own := Rules{Own: []Rule{{Status: Success, Expr: until, Origin: "--until"}}}
	tests := []struct {
		rules   Rules
		monitor Monitor
		body    string
		want    Status
	}{
		{Rules{}, MonitorAzure, `{"status":"Running"}`, NotReady},
		{Rules{}, MonitorAzure, `{"status":"succeeded"}`, Success},
		{Rules{}, MonitorAzure, `{"status":"Failed"}`, Error},
		{Rules{}, MonitorGiven, `{"status":"Failed"}`, Success},
		{own, MonitorAzure, `{"status":"Half"}`, Success},
		{own, MonitorAzure, `{"status":"Canceled"}`, Error},
	}
	for _, test := range tests {
		o := presetSample{Body: json.RawMessage(test.body)}.observation(KindHTTP)
		o.Following.Monitor = test.monitor
		if have := test.rules.Classify(t.Context(), o); have.Status != test.want {
			t.Errorf("behind %d, %s is %v (%s), want %v", test.monitor, test.body, have.Status, have.Reason, test.want)
		}
	}
}
