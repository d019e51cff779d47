package status

import (
	"testing"

	"github.com/pollcli/poll/status/expr"
)

// elementRules compiles the rules of a user.
func elementRules(t testing.TB, lines ...PresetRule) (rules Rules) {
	t.Helper()
	for _, line := range lines {
		rule, err := NewRule(line.Status, line.Expr)
		if err != nil {
			t.Fatal(err)
		}
		rules.Own = append(rules.Own, rule)
	}
	return rules
}

// observedElement is the element of an answer that the server gave with 200.
func observedElement(element string, presence Presence) Observation {
	page := expr.NewDoc([]byte(`{"limit":3,"jobs":[` + element + `]}`))
	return Observation{Kind: KindHTTP, Code: new(200), Body: []byte(element), Within: page, Presence: presence, Target: "job-1"}
}

func TestClassifyElement(t *testing.T) {
	t.Parallel()
	until := func(condition string) PresetRule { return PresetRule{Status: Success, Expr: condition} }
	failed := PresetRule{Status: Error, Expr: `.state == "failed"`}
	done := until(`.state == "done"`)
	for _, test := range []struct {
		rules    []PresetRule
		element  string
		presence Presence
		want     Status
		reason   string
	}{
		{[]PresetRule{done, failed}, `{"state":"done"}`, Present, Success, `.state is "done"`},
		{[]PresetRule{done, failed}, `{"state":"failed"}`, Present, Error, `.state is "failed"`},
		{[]PresetRule{until(`.n >= $json.limit`)}, `{"n":3}`, Present, Success, `.n is 3`},
		{[]PresetRule{until(`$body == "{\"limit\":3,\"jobs\":[1]}"`)}, `1`, Present, Success, `$body is "{\"limit\":3,\"jobs\":[1]}"`},
		{[]PresetRule{until(`$name == "job-1"`)}, `1`, Present, Success, `$name is "job-1"`},
		{[]PresetRule{until(`$gone`), failed}, `{"state":"new"}`, Present, NotReady, `$gone is false, want true`},

		{[]PresetRule{done, failed}, ``, Missing, NotReady, `it is not in the answer`},
		{[]PresetRule{until(`.state != "running"`), until(`$attempt >= 0`)}, ``, Missing, NotReady, `it is not in the answer`},
		{[]PresetRule{until(`$status == 200`), until(`!$gone`)}, ``, Missing, NotReady, `it is not in the answer`},

		{[]PresetRule{done, {Status: Error, Expr: `.state != "new"`}}, ``, Unknown, NotReady, `.state is unknown: the answer holds no list`},
		{[]PresetRule{done, {Status: Throttled, Expr: `$body contains "limit"`}}, ``, Unknown, Throttled, `$body is "{\"limit\":3,\"jobs\":[]}"`},

		{[]PresetRule{done, until(`$attempt >= 0`)}, ``, Gone, NotReady, `it is no longer in the answer`},
		{[]PresetRule{until(`$status == 200`)}, ``, Gone, NotReady, `it is no longer in the answer`},
		{[]PresetRule{until(`$gone or .state == "done"`)}, ``, Gone, Success, `$gone is true`},
		{[]PresetRule{until(`$gone and .state == "done"`)}, ``, Gone, NotReady, `it is no longer in the answer`},
		{[]PresetRule{until(`$gone`), {Status: Error, Expr: `$gone`}}, ``, Gone, Error, `$gone is true`},
	} {
		o := observedElement(test.element, test.presence)
		v := elementRules(t, test.rules...).Classify(t.Context(), o)
		if v.Status != test.want || v.Reason != test.reason {
			t.Errorf("%s, %d by %v\nhave %v, %s\nwant %v, %s", test.element, test.presence, test.rules, v.Status, v.Reason, test.want, test.reason)
		}
	}
}

// What a document says about its operation is what the element says.
func TestElementStates(t *testing.T) {
	t.Parallel()
	for element, want := range map[string]Status{
		`{"status":"succeeded"}`: Success, `{"status":"failed"}`: Error, `{"status":"running"}`: NotReady,
		`{"status":"done","error":{"code":1}}`: Error,
	} {
		o := observedElement(element, Present)
		o.Following.Monitor = MonitorLocation
		if v := (Rules{}).Classify(t.Context(), o); v.Status != want {
			t.Errorf("%s is %v (%s), want %v", element, v.Status, v.Reason, want)
		}
	}
}

// The rules of a preset are about its object: one in the answer, each of a list, or an element.
func TestPresetObject(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		object, answer string
		want           Status
		reason         string
	}{
		{"", `{"state":"up"}`, Success, `.state is "up"`},
		{".job", `{"job":{"state":"up"}}`, Success, `.job | .state is "up"`},
		{".job", `{"job":null}`, NotReady, `.job | .state is missing, want == "up"`},
		{".jobs[0]", `{"jobs":[{"state":"up"},{"state":"new"}]}`, Success, `.jobs[0] | .state is "up"`},
		{".jobs[]", `{"jobs":[{"state":"up"},{"state":"up"}]}`, Success, ``},
		{".jobs[]", `{"jobs":[{"state":"up"},{"state":"new"}]}`, NotReady, ``},
		{".jobs[]", `{"jobs":[{"state":"new","why":"no room"},{"state":"down"}]}`, Error, `it is down: no room`},
		{".jobs[]", `{"jobs":[]}`, NotReady, ``},
		{".a[].b[].c", `{"a":[{"b":[{"c":{"state":"up"}}]},{"b":[{"c":{"state":"up"}},{"c":{}}]}]}`, NotReady, ``},
		{".a[].b[].c", `{"a":[{"b":[{"c":{"state":"up"}}]},{"b":[{"c":{"state":"up"}}]}]}`, Success, ``},
		{".job", `{"job":{"state":"up"},"failures":["x"]}`, Error, `there are failures`},
		{".jobs[]", `{"jobs":[{"state":"up"}],"failures":3,"buildsNotFound":1}`, Success, ``},
	} {
		p := Preset{Name: "thing", Object: test.object, Detail: []string{".why"}, Rules: []PresetRule{
			{Status: Error, Expr: `$json.failures[0] != null`, Why: "there are failures"},
			{Status: Error, Expr: `.state == "down"`, Why: "it is down"}, {Status: Success, Expr: `.state == "up"`}}}
		preset, _, err := p.Compile(KindHTTP, false)
		if err != nil {
			t.Fatal(err)
		}
		o := Observation{Kind: KindHTTP, Code: new(200), Body: []byte(test.answer)}
		v := Rules{Preset: preset}.Classify(t.Context(), o)
		if v.Status != test.want || test.reason != "" && v.Reason != test.reason {
			t.Errorf("%s of %s: have %v, %s", test.object, test.answer, v.Status, v.Reason)
		}
	}
	p := Preset{Name: "thing", Object: ".jobs[]", Rules: []PresetRule{{Status: Success, Expr: `jq: .state == "up"`}}}
	for ofObject, o := range map[bool]Observation{true: observedElement(`{"state":"up"}`, Present), false: {Kind: KindHTTP, Code: new(200), Body: []byte(`{"jobs":[{"state":"up"}]}`)}} {
		preset, _, err := p.Compile(KindHTTP, ofObject)
		if err != nil {
			t.Fatal(err)
		}
		if v := (Rules{Preset: preset}).Classify(t.Context(), o); v.Status != Success {
			t.Errorf("an element %t: have %v, %s", ofObject, v.Status, v.Reason)
		}
	}
}
