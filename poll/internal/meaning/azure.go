package meaning

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/pollcli/poll/internal/document"
	"github.com/pollcli/poll/status"
	"github.com/pollcli/poll/status/expr"
)

// azure sets the verdict on the status document behind Azure-AsyncOperation and Operation-Location, if the document
// names a state. The state holds whatever the rules are. A state in a response that is not successful means that the
// operation is not ready, unless the server is too busy.
func (h HTTP) azure(o *status.Observation, m *status.Meaning) {
	env, x := status.Environment(o), azureExpressions()
	state, resource := firstPresent(env, x.operation), firstPresent(env, x.resource)
	own, isGood := firstPresent(env, x.resource[:1]), o.Good()
	failed := []string{"failed", "canceled"}
	v, holds := notReady(state.words()), status.HoldsAlways
	switch isDone := state.is("succeeded"); {
	case o.Failure != nil, h.RefusedForLoad(o):
		return
	case isGood && state.is(failed...):
		v = status.Verdict{Status: status.Error, Timeless: true, Reason: withError(env, state.words())}
	case isGood && own.is(failed...):
		v = status.Verdict{Status: status.Error, Timeless: true, Reason: withError(env, own.words())}
	case state.text == "":
		return
	case isGood && isDone && x.hasError.Eval(env).Matched():
		v = status.Verdict{Status: status.Error, Timeless: true, Reason: withError(env, "succeeded with an error")}
	case isGood && isDone && !resource.is("succeeded"):
		holds, v.Reason = status.HoldsRunning, resource.words()
	case isGood && isDone && (m.Allow&status.AllowSuccess == 0 || !x.hasNoError.Eval(env).Matched()):
		holds = status.HoldsRunning
	case isGood && isDone:
		v = status.Verdict{Status: status.Success, Reason: state.words()}
		if said := Reported(o); said.Wrong.Stage != document.Unknown {
			v = status.Verdict{Status: status.Error, Reason: withDetail(o, Say(said.State)+" with an error", said.State)}
		}
	default:
		holds = status.HoldsRunning
	}
	m.Holds, m.Default = holds, func() (status.Verdict, *status.Verdict) { return v, &v }
}

// azureExpressions returns the paths of the state of an operation, in the order in which they count, the same in the
// order for a resource, and conditions for an error. Of an error such as true neither condition is known.
var azureExpressions = sync.OnceValue(func() (all struct {
	operation, resource  []*expr.Expr
	hasError, hasNoError *expr.Expr
}) {
	for _, source := range []string{".status", ".properties.provisioningState", ".provisioningState"} {
		x, _ := expr.CompileValue(source)
		all.operation = append(all.operation, x)
	}
	all.resource = []*expr.Expr{all.operation[1], all.operation[0], all.operation[2]}
	all.hasError, _ = expr.Compile("(.error | length) > 0")
	all.hasNoError, _ = expr.Compile(".error == null or (.error | length) == 0")
	return all
})

// A present is the first value of some paths that is neither missing, null nor false.
type present struct {
	path, text string // text is "" if the value is not a text
}

func firstPresent(env *expr.Env, paths []*expr.Expr) present {
	for _, x := range paths {
		switch v := x.Eval(env).Value(); {
		case v.Type == "string":
			return present{x.String(), v.Text()}
		case v.Exists() && v.Type != "null" && v.Text() != "false":
			return present{path: x.String()}
		}
	}
	return present{}
}

func (p present) is(states ...string) bool {
	return slices.ContainsFunc(states, func(state string) bool { return strings.EqualFold(p.text, state) })
}

func (p present) words() string {
	raw, _ := json.Marshal(p.text)
	return Say(document.Statement{Path: p.path, Raw: string(raw)})
}

// withError adds the message or the code of the error in a document.
func withError(env *expr.Env, words string) string {
	message, _ := expr.CompileValue(".error.message")
	code, _ := expr.CompileValue(".error.code")
	if detail := status.FirstText([]*expr.Expr{message, code}, env); detail != "" && !strings.Contains(words, detail) {
		return words + ": " + detail
	}
	return words
}
