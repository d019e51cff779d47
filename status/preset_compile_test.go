package status

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pollcli/poll/status/expr"
)

func TestPresetsCompileForEveryProbe(t *testing.T) {
	t.Parallel()
	for _, p := range Presets() {
		for _, kind := range []Kind{KindCommand, KindHTTP} {
			rules, err := p.Compile(kind)
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
		if rules, err := p.Compile(KindTCP); err != nil || len(rules) != 0 {
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
		rules, err := p.Compile(kind)
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
		if _, err := p.Compile(KindHTTP); err == nil || !strings.Contains(err.Error(), "preset thing") {
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
