package status

import (
	"testing"

	"github.com/pollcli/poll/internal/detail"
	"github.com/pollcli/poll/status/expr"
)

// A ruleLine is a rule that is not yet compiled.
type ruleLine struct {
	Status Status
	Expr   string
}

// elementRules compiles the rules of a user.
func elementRules(t testing.TB, lines ...ruleLine) (rules Rules) {
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
func observedElement(element string, presence detail.Presence) Observation {
	page := expr.NewDoc([]byte(`{"limit":3,"jobs":[` + element + `]}`))
	return Observation{Kind: KindHTTP, Code: new(200), Body: []byte(element), Within: page, Answer: detail.Answer{Presence: presence}, Target: "job-1"}
}

func TestClassifyElement(t *testing.T) {
	t.Parallel()
	until := func(condition string) ruleLine { return ruleLine{Status: Success, Expr: condition} }
	failed := ruleLine{Status: Error, Expr: `.state == "failed"`}
	done := until(`.state == "done"`)
	for _, test := range []struct {
		rules    []ruleLine
		element  string
		presence detail.Presence
		want     Status
		reason   string
	}{
		{[]ruleLine{done, failed}, `{"state":"done"}`, detail.Present, Success, `.state is "done"`},
		{[]ruleLine{done, failed}, `{"state":"failed"}`, detail.Present, Error, `.state is "failed"`},
		{[]ruleLine{until(`.n >= $json.limit`)}, `{"n":3}`, detail.Present, Success, `.n is 3`},
		{[]ruleLine{until(`$body == "{\"limit\":3,\"jobs\":[1]}"`)}, `1`, detail.Present, Success, `$body is "{\"limit\":3,\"jobs\":[1]}"`},
		{[]ruleLine{until(`$name == "job-1"`)}, `1`, detail.Present, Success, `$name is "job-1"`},
		{[]ruleLine{until(`$gone`), failed}, `{"state":"new"}`, detail.Present, NotReady, `$gone is false, want true`},

		{[]ruleLine{done, failed}, ``, detail.Missing, NotReady, `it is not in the answer`},
		{[]ruleLine{until(`.state != "running"`), until(`$attempt >= 0`)}, ``, detail.Missing, NotReady, `it is not in the answer`},
		{[]ruleLine{until(`$status == 200`), until(`!$gone`)}, ``, detail.Missing, NotReady, `it is not in the answer`},

		{[]ruleLine{done, {Status: Error, Expr: `.state != "new"`}}, ``, detail.Unknown, NotReady, `.state is unknown: the answer holds no list`},
		{[]ruleLine{done, {Status: Throttled, Expr: `$body contains "limit"`}}, ``, detail.Unknown, Throttled, `$body is "{\"limit\":3,\"jobs\":[]}"`},

		{[]ruleLine{done, until(`$attempt >= 0`)}, ``, detail.Gone, NotReady, `it is no longer in the answer`},
		{[]ruleLine{until(`$status == 200`)}, ``, detail.Gone, NotReady, `it is no longer in the answer`},
		{[]ruleLine{until(`$gone or .state == "done"`)}, ``, detail.Gone, Success, `$gone is true`},
		{[]ruleLine{until(`$gone and .state == "done"`)}, ``, detail.Gone, NotReady, `it is no longer in the answer`},
		{[]ruleLine{until(`$gone`), {Status: Error, Expr: `$gone`}}, ``, detail.Gone, Error, `$gone is true`},
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
		o := observedElement(element, detail.Present)
		o.Following.Monitor = detail.MonitorLocation
		if v := (Rules{}).Classify(t.Context(), o); v.Status != want {
			t.Errorf("%s is %v (%s), want %v", element, v.Status, v.Reason, want)
		}
	}
}
