package status_test

import (
	"testing"

	"github.com/pollcli/poll/status"
)

// A fixed protocol has one meaning.
type fixed struct{ meaning status.Meaning }

func (f fixed) Succeeded(*status.Observation) bool { return f.meaning.Allow&status.AllowRead != 0 }

func (f fixed) Meaning(*status.Observation) status.Meaning { return f.meaning }

// An observation without a meaning is not SUCCESS under any rules and with any response.
func TestNoMeaning(t *testing.T) {
	code, exit := 200, 0
	for name, o := range map[string]status.Observation{
		"a zero meaning":         {Protocol: fixed{}},
		"an HTTP response":       {Kind: status.KindHTTP, Code: &code},
		"a code of no kind":      {Code: &code},
		"a command":              {Kind: status.KindCommand, Exit: &exit},
		"an exit code":           {Exit: &exit},
		"a command without exit": {Kind: status.KindCommand},
		"a connection":           {Kind: status.KindTCP},
		"a document of no kind":  {},
	} {
		o.Body = []byte(`{"state":"done"}`)
		for _, condition := range []string{"", `.state == "done"`, `$status == 200 or $exit == 0`, `$body contains "done"`, `$attempt >= 0`} {
			var rules status.Rules
			if condition != "" {
				rules = status.MustUntil(condition)
			}
			if v := rules.Classify(t.Context(), o); v.Status != status.NotReady || v.Reason == "" {
				t.Errorf("%s, until %q: %s, %q", name, condition, v.Status, v.Reason)
			}
		}
	}
}

// Each part of a meaning holds for the rules that it is about.
func TestMeaning(t *testing.T) {
	const read = status.AllowRead | status.AllowSuccess | status.AllowAbsence
	always := func(s status.Status) func(bool) status.Verdict {
		return status.Always(status.Verdict{Status: s, Reason: "default"})
	}
	named := func(isNamed bool) status.Verdict {
		if isNamed {
			return status.Verdict{Status: status.Success, Reason: "named"}
		}
		return status.Verdict{Status: status.NotReady, Reason: "default"}
	}
	const unless = status.HoldsUnlessRulesSaySuccess
	for name, test := range map[string]struct {
		meaning status.Meaning
		rule    string // for SUCCESS, or for NOT_READY after a "-"
		want    string
	}{
		"the default":                         {status.Meaning{Default: always(status.Success), Allow: read}, "", "SUCCESS: default"},
		"a default that is undecided":         {status.Meaning{Default: always(status.None), Allow: read}, "", "NOT_READY: default"},
		"a default that always holds":         {status.Meaning{Default: always(status.Error), Allow: read}, ".n == 2", "ERROR: default"},
		"a rule that matches":                 {status.Meaning{Default: always(status.Error), Allow: read}, ".n == 1", "SUCCESS: .n is 1"},
		"a default unless rules say":          {status.Meaning{Default: always(status.Success), Allow: read, Holds: unless, Reason: "seen"}, ".n == 2", "NOT_READY: .n is 1, want == 2"},
		"the reason of the rules":             {status.Meaning{Default: always(status.NotReady), Allow: read, Holds: status.HoldsRunning}, ".n == 2", "NOT_READY: .n is 1, want == 2"},
		"no reason of the rules":              {status.Meaning{Default: always(status.NotReady), Holds: status.HoldsRunning}, ".n == 2", "NOT_READY: default"},
		"rules that name what is not ready":   {status.Meaning{Default: named, Allow: read, Certain: true}, "-.n == 2", "SUCCESS: named"},
		"rules about the code":                {status.Meaning{Default: named, Allow: read}, "-$attempt > 9", "NOT_READY: default"},
		"a doubtful rule":                     {status.Meaning{Default: always(status.Success), Allow: read}, "-.m == 2", "NOT_READY: not-ready-if .m == 2 is unknown: .m is missing"},
		"a document that must not be read":    {status.Meaning{Default: always(status.NotReady), Allow: read &^ status.AllowRead}, ".n == 1", "NOT_READY: default"},
		"a rule that names the response":      {status.Meaning{Default: always(status.NotReady), Allow: status.AllowSuccess, Named: []string{"attempt"}}, ".n == 1 and $attempt == 0", "SUCCESS: .n is 1; $attempt is 0"},
		"SUCCESS that is not allowed":         {status.Meaning{Default: always(status.NotReady), Allow: status.AllowRead}, ".n == 1", "NOT_READY: default"},
		"SUCCESS that is not allowed, reason": {status.Meaning{Default: always(status.NotReady), Allow: status.AllowRead, WhyNot: "elsewhere"}, ".n == 1", "NOT_READY: .n is 1, elsewhere"},
		"another variable":                    {status.Meaning{Default: always(status.NotReady), Allow: read, Only: []string{"exit"}}, ".n == 1", "NOT_READY: default"},
		"no variable":                         {status.Meaning{Default: always(status.NotReady), Allow: read, Only: []string{}}, ".n == 1", "NOT_READY: default"},
		"the right variable":                  {status.Meaning{Default: always(status.NotReady), Allow: read, Only: []string{"attempt"}}, "$attempt == 0", "SUCCESS: $attempt is 0"},
		"a place":                             {status.Meaning{Default: always(status.NotReady), Allow: read, Where: "at /x"}, ".n == 1", "SUCCESS: .n is 1, at /x"},
		"a dead end":                          {status.Meaning{Default: always(status.NotReady), Allow: read, DeadEnd: "sent once"}, "", "ERROR: default; sent once"},
		"a doubtful rule, and a certainty":    {status.Meaning{Default: always(status.Success), Allow: read, Certain: true}, "-.m == 2", "SUCCESS: default"},
	} {
		var rules status.Rules
		condition, s := test.rule, status.Success
		if condition != "" && condition[0] == '-' {
			condition, s = condition[1:], status.NotReady
		}
		if condition != "" {
			rule, err := status.NewRule(s, condition)
			if err != nil {
				t.Fatal(err)
			}
			rules.Own = []status.Rule{rule}
		}
		v := rules.Classify(t.Context(), status.Observation{Body: []byte(`{"n":1}`), Protocol: fixed{test.meaning}})
		if have := string(v.Status) + ": " + v.Reason; have != test.want {
			t.Errorf("%s: have %s, want %s", name, have, test.want)
		}
	}
}
