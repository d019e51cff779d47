package meaning_test

import (
	"testing"

	"github.com/pollcli/poll/poll/internal/meaning"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// A ruleLine is a rule that is not yet compiled.
type ruleLine struct {
	Status status.Status
	Expr   string
}

// elementRules compiles a user's rules for elements.
func elementRules(t testing.TB, lines ...ruleLine) (rules status.Rules) {
	t.Helper()
	for _, line := range lines {
		rule, err := status.NewRule(line.Status, line.Expr)
		if err != nil {
			t.Fatal(err)
		}
		rules.Own = append(rules.Own, rule)
	}
	return rules
}

// observedElement returns an element of a 200 response.
func observedElement(element string, presence status.Presence) status.Observation {
	page := expr.NewDoc([]byte(`{"limit":3,"jobs":[` + element + `]}`))
	return status.Observation{Kind: status.KindHTTP, Code: new(200), Body: []byte(element), Within: page, Presence: presence, Protocol: meaning.HTTP{}, Target: "job-1"}
}

func TestClassifyElement(t *testing.T) {
	t.Parallel()
	until := func(condition string) ruleLine { return ruleLine{Status: status.Success, Expr: condition} }
	failed := ruleLine{Status: status.Error, Expr: `.state == "failed"`}
	done := until(`.state == "done"`)
	for _, test := range []struct {
		rules    []ruleLine
		element  string
		presence status.Presence
		want     status.Status
		reason   string
	}{
		{[]ruleLine{done, failed}, `{"state":"done"}`, status.Present, status.Success, `.state is "done"`},
		{[]ruleLine{done, failed}, `{"state":"failed"}`, status.Present, status.Error, `.state is "failed"`},
		{[]ruleLine{until(`.n >= $json.limit`)}, `{"n":3}`, status.Present, status.Success, `.n is 3`},
		{[]ruleLine{until(`$body == "{\"limit\":3,\"jobs\":[1]}"`)}, `1`, status.Present, status.Success, `$body is "{\"limit\":3,\"jobs\":[1]}"`},
		{[]ruleLine{until(`$name == "job-1"`)}, `1`, status.Present, status.Success, `$name is "job-1"`},
		{[]ruleLine{until(`$gone`), failed}, `{"state":"new"}`, status.Present, status.NotReady, `$gone is false, want true`},

		{[]ruleLine{done, failed}, ``, status.Missing, status.NotReady, `it is not in the answer`},
		{[]ruleLine{until(`.state != "running"`), until(`$attempt >= 0`)}, ``, status.Missing, status.NotReady, `it is not in the answer`},
		{[]ruleLine{until(`$status == 200`), until(`!$gone`)}, ``, status.Missing, status.NotReady, `it is not in the answer`},

		{[]ruleLine{done, {Status: status.Error, Expr: `.state != "new"`}}, ``, status.UnknownPresence, status.NotReady, `.state is unknown: the answer holds no list`},
		{[]ruleLine{done, {Status: status.Throttled, Expr: `$body contains "limit"`}}, ``, status.UnknownPresence, status.Throttled, `$body is "{\"limit\":3,\"jobs\":[]}"`},

		{[]ruleLine{done, until(`$attempt >= 0`)}, ``, status.Gone, status.NotReady, `it is no longer in the answer`},
		{[]ruleLine{until(`$status == 200`)}, ``, status.Gone, status.NotReady, `it is no longer in the answer`},
		{[]ruleLine{until(`$gone or .state == "done"`)}, ``, status.Gone, status.Success, `$gone is true`},
		{[]ruleLine{until(`$gone and .state == "done"`)}, ``, status.Gone, status.NotReady, `it is no longer in the answer`},
		{[]ruleLine{until(`$gone`), {Status: status.Error, Expr: `$gone`}}, ``, status.Gone, status.Error, `$gone is true`},
	} {
		o := observedElement(test.element, test.presence)
		v := elementRules(t, test.rules...).Classify(t.Context(), o)
		if v.Status != test.want || v.Reason != test.reason {
			t.Errorf("%s, %d by %v\nhave %v, %s\nwant %v, %s", test.element, test.presence, test.rules, v.Status, v.Reason, test.want, test.reason)
		}
	}
}

// The state in an element's own document decides, without a rule.
func TestElementStates(t *testing.T) {
	t.Parallel()
	for element, want := range map[string]status.Status{
		`{"status":"succeeded"}`: status.Success, `{"status":"failed"}`: status.Error, `{"status":"running"}`: status.NotReady,
		`{"status":"done","error":{"code":1}}`: status.Error,
	} {
		o := observedElement(element, status.Present)
		o.Protocol = meaning.HTTP{Monitor: meaning.MonitorLocation}
		if v := (status.Rules{}).Classify(t.Context(), o); v.Status != want {
			t.Errorf("%s is %v (%s), want %v", element, v.Status, v.Reason, want)
		}
	}
}
