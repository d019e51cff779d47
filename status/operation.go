package status

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pollcli/poll/status/expr"
)

// A stage is how far an operation is, according to a document. If several members tell,
// the last stage in this order counts.
type stage uint8

const (
	stageUnknown stage = iota
	stageDone
	stageOpen // nothing that is known to be final
	stageFailed
)

// A statement is what a document says about its operation, and where.
type statement struct {
	stage stage
	path  string // ".state"
	value expr.Value
}

func (s statement) String() string { return s.path + " is " + excerpt([]byte(s.value.Raw)) }

// Statement returns what the document of a good HTTP answer says about the
// operation, such as `.state is "running"`; "" if nothing.
func (o *Observation) Statement() string {
	if !o.Good() || o.Code == nil {
		return ""
	}
	if s := stated(Environment(o), *o.Code); s.stage != stageUnknown {
		return s.String()
	}
	return ""
}

// followed judges a good answer from a URL that was followed, if no rule says what is
// final. Many APIs answer there with the operation itself, done or not: what the document
// says at its top decides.
func (r Rules) followed(o *Observation) Verdict {
	env := Environment(o)
	s := stated(env, *o.Code)
	switch {
	case s.stage == stageUnknown:
		return r.unstated(o, env)
	case s.stage == stageFailed, s.stage == stageDone && namesError(env):
		return Verdict{Status: Error, Reason: withDetail(s.String(), env)}
	case s.stage == stageDone:
		return Verdict{Status: Success, Reason: s.String()}
	case s.value.Kind == expr.KindBool && isDone(s.path):
		return Verdict{Status: NotReady, Reason: s.String()}
	case o.Following.Monitor == MonitorAzure || !r.readsNotReady():
		return Verdict{Status: NotReady, Reason: s.String() + ", which is no known final state: a condition can say what is",
			Advice: Advice{Code: AdviceFinalStates, Path: s.path}}
	}
	return Verdict{Status: Success, Reason: s.String()}
}

// unstated judges a document that does not say how the operation is. It is the result
// unless something speaks against that: the page of a server under maintenance has no
// state either.
func (r Rules) unstated(o *Observation, env *expr.Env) Verdict {
	words, earlier := codeText(*o.Code), o.Following.Earlier
	switch onlyError := isOnlyError(o.Body); {
	case o.Following.Monitor == MonitorAzure:
		return r.good(words + ", which does not say whether the operation is done: a condition can")
	case onlyError && earlier == "":
		return Verdict{Status: Error, Reason: withDetail(words+" with nothing but an error", env)}
	case earlier != "" && (onlyError || !isTrue(isJSON, env) || !r.readsNotReady()):
		return r.good(words + " without a state, and before it " + earlier + ": a condition can say what is final")
	}
	return Verdict{Status: Success, Reason: words}
}

// readsNotReady reports whether a rule of the user says which documents mean that the
// operation is not done.
func (r Rules) readsNotReady() bool {
	return slices.ContainsFunc(r.Own, func(rule Rule) bool { return rule.Status == NotReady && rule.Expr.Uses().JSON })
}

// withDetail adds what the document says went wrong.
func withDetail(words string, env *expr.Env) string {
	if detail := firstText(errorDetail(), env); detail != "" {
		words += ": " + detail
	}
	return words
}

// stated returns what a document says about its operation. In an envelope, a
// .status of "ok" is about the answer; what is inside is about the operation.
func stated(env *expr.Env, code int) statement {
	s := strongest(stateMembers(), env, code)
	if s.stage > stageDone || !isTrue(inEnvelope, env) {
		return s
	}
	if inner := strongest(innerMembers(), env, code); inner.stage != stageUnknown {
		return inner
	}
	return s
}

func strongest(members []*expr.Expr, env *expr.Env, code int) (s statement) {
	for _, member := range members {
		path, value := member.String(), member.Eval(env).Value()
		if stage := stageOf(path, value, code); stage > s.stage {
			s = statement{stage, path, value}
		}
	}
	return s
}

// stateNames are the members by which documents say how an operation is.
const stateNames = ".status .state .phase .done .provisioningState .properties.provisioningState " +
	".Status .State .Phase .Done .ProvisioningState"

var (
	stateMembers = compiled(stateNames)
	// innerMembers are the same inside an envelope.
	innerMembers = compiled(within(".data"), within(".job"), within(".result"), within(".operation"))
	// inEnvelope is true if .status is about the answer, not about the operation in it.
	inEnvelope = compiled(`.status==$status||.Status==$status||.status=~'(?i)^(ok|success)$'||.Status=~'(?i)^(ok|success)$'`)
	// errorDetail say what went wrong.
	errorDetail = compiled(".error.message .error .error.code .errors[0].message .errors[0] .message")
	errorMember = compiled(".error")
	isJSON      = compiled("$isjson")
)

// within returns stateNames as members of an object.
func within(object string) string {
	return object + strings.ReplaceAll(stateNames, " ", " "+object)
}

// compiled returns a function that compiles lists of expressions when it is first
// called.
func compiled(lists ...string) func() []*expr.Expr {
	return sync.OnceValue(func() []*expr.Expr {
		values, err := compileValues(strings.Fields(strings.Join(lists, " ")))
		if err != nil {
			panic(err)
		}
		return values
	})
}

// stageOf returns the stage that the value of a state member means in an answer
// with that code.
func stageOf(path string, v expr.Value, code int) stage {
	switch v.Kind {
	case expr.KindUnknown, expr.KindMissing:
		return stageUnknown
	case expr.KindBool:
		if v.Raw == "true" && isDone(path) {
			return stageDone
		}
	case expr.KindNumber:
		if v.Raw == strconv.Itoa(code) {
			return stageUnknown // repeats the answer's code
		}
	case expr.KindString:
		return stageOfWord(v.Text())
	}
	return stageOpen
}

// stageOfWord knows the words that are final in any API. A word that is final only in
// some APIs (running, created), or a success after one request and a failure after
// another (stopped, deleted), is not among them.
func stageOfWord(s string) stage {
	switch flattened(s) {
	case "succeeded", "success", "successful", "succeed", "completed", "complete", "finished", "done",
		"passed", "ready", "active", "available", "live", "applied", "ok",
		"createcomplete", "updatecomplete", "deletecomplete", "importcomplete", "plannedandfinished":
		return stageDone
	case "failed", "failure", "fault", "error", "errored", "cancelled", "canceled", "cancelcomplete",
		"aborted", "rejected", "timedout", "timeout", "expired", "discarded", "incomplete", "interrupted",
		"internalerror", "startupfailure", "createfailed", "updatefailed", "deletefailed", "buildfailed",
		"rollbackcomplete", "rollbackfailed", "updaterollbackcomplete", "updaterollbackfailed":
		return stageFailed
	}
	return stageOpen
}

// isDone reports whether a path names a member that is true at the end.
func isDone(path string) bool { return strings.HasSuffix(strings.ToLower(path), ".done") }

func isTrue(condition func() []*expr.Expr, env *expr.Env) bool {
	return condition()[0].Eval(env).Value().Raw == "true"
}

// namesError reports whether a document has an error with content. APIs that say only
// "done" use it to tell a failure.
func namesError(env *expr.Env) bool { return hasContent(errorMember()[0].Eval(env).Value().Raw) }

// hasContent reports whether a JSON value is more than an empty one.
func hasContent(raw string) bool {
	switch strings.Join(strings.Fields(raw), "") {
	case "", "null", "false", "0", `""`, "[]", "{}":
		return false
	}
	return true
}

// isOnlyError reports whether a document holds an error and nothing but what usually
// accompanies one.
func isOnlyError(body []byte) bool {
	if !bytes.Contains(body, []byte(`"error`)) {
		return false
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return false
	}
	found := false
	for name, value := range members {
		switch flattened(name) {
		case "error", "errors":
			found = found || hasContent(string(value))
		case "message", "code", "detail", "details", "description", "errorcode", "errordescription", "errormessage",
			"statuscode", "requestid", "traceid", "timestamp", "path":
		default:
			if hasContent(string(value)) {
				return false
			}
		}
	}
	return found
}

// flattened returns s in lower case without word separators, so that TIMED_OUT,
// timed-out and TimedOut are equal.
func flattened(s string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(s))
}
