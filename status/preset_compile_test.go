package status

import (
	"strings"
	"testing"
)

func TestPresetsCompileForEveryProbe(t *testing.T) {
	t.Parallel()
	for _, p := range Presets() {
		for _, kind := range []Kind{Command, HTTP} {
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
		if rules, err := p.Compile(TCP); err != nil || len(rules) != 0 {
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
		Command: `$exit != 0 && $stderr contains "gone"|.state == "running"`,
		HTTP:    `$status == 204|.state == "running"`,
		TCP:     "",
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
		if _, err := p.Compile(HTTP); err == nil || !strings.Contains(err.Error(), "preset thing") {
			t.Errorf("Compile = %v, want an error that names the preset", err)
		}
	}
}
