package status

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pollcli/poll/status/expr"
)

// A saying is what a member such as .status says of an operation. Of several
// members the last of this order counts.
type saying uint8

const (
	nothing saying = iota
	done
	open // nothing that is known to be final
	failure
)

// A statement is what a document says of the operation, and where.
type statement struct {
	said  saying
	path  string // ".state"
	value expr.Value
}

func (s statement) String() string { return s.path + " is " + cut([]byte(s.value.Raw)) }

// plain reports whether it says in so many words that the operation goes on.
func (s statement) plain() bool { return s.value.Kind == expr.KindBool && isDone(s.path) }

// Statement returns what the document of a good answer says about the operation, in
// words such as `.state is "running"`; "" if nothing.
func (o *Observation) Statement() string {
	if !o.Good() || o.Code == nil {
		return ""
	}
	if s := stated(Environment(o), *o.Code); s.said != nothing {
		return s.String()
	}
	return ""
}

// followed judges a good answer from a URL that was followed, where no rule says
// what is final. Many APIs answer there with the operation itself, whether or not
// it is done: what the document says at its top decides.
func (r Rules) followed(o *Observation) Verdict {
	env := Environment(o)
	s := stated(env, *o.Code)
	switch {
	case s.said == nothing:
		return r.unsaid(o, env)
	case s.said == failure, s.said == done && namesError(env):
		return Verdict{Status: Error, Reason: withDetail(s.String(), env)}
	case s.said == done:
		return Verdict{Status: Success, Reason: s.String()}
	case s.plain():
		return Verdict{Status: NotReady, Reason: s.String()}
	case o.Following.Monitor == MonitorAzure || !r.readsNotReady():
		return Verdict{Status: NotReady, Reason: s.String() + ", which is no known final state: a condition can say what is",
			Advice: Advice{Code: AdviceFinalStates, Path: s.path}}
	}
	return Verdict{Status: Success, Reason: s.String()}
}

// unsaid judges a document that does not say how the operation is. It is the
// result, where nothing speaks against that: a page of a server under maintenance
// has no state, either.
func (r Rules) unsaid(o *Observation, env *expr.Env) Verdict {
	words := codeText(*o.Code)
	switch onlyError := isOnlyError(o.Body); {
	case o.Following.Monitor == MonitorAzure:
		return r.good(words+", which does not say whether the operation is done: a condition can", "")
	case onlyError && o.Following.Earlier == "":
		return Verdict{Status: Error, Reason: withDetail(words+" with nothing but an error", env)}
	case o.Following.Earlier != "" && (onlyError || !isJSON(env) || !r.readsNotReady()):
		return r.good(fmt.Sprintf("%s without a state, and before it %s: a condition can say what is final", words, o.Following.Earlier), "")
	}
	return Verdict{Status: Success, Reason: words}
}

// withDetail adds what the document says that went wrong.
func withDetail(words string, env *expr.Env) string {
	if detail := firstText(errorDetail(), env); detail != "" {
		words += ": " + detail
	}
	return words
}

// stated returns what a document says of the operation. In an envelope, a
// .status of "ok" is that of the answer; what is inside speaks for the operation.
func stated(env *expr.Env, code int) statement {
	s := strongest(stateMembers(), env, code)
	if s.said > done || !isEnvelope(env, code) {
		return s
	}
	if inner := strongest(innerMembers(), env, code); inner.said != nothing {
		return inner
	}
	return s
}

func strongest(members []*expr.Expr, env *expr.Env, code int) (s statement) {
	for _, member := range members {
		path, value := member.String(), member.Eval(env).Value()
		if said := meaning(path, value, code); said > s.said {
			s = statement{said, path, value}
		}
	}
	return s
}

// isEnvelope reports whether .status is of a kind that answers have around
// whatever they carry.
func isEnvelope(env *expr.Env, code int) bool {
	return slices.ContainsFunc(answerMembers(), func(member *expr.Expr) bool {
		v := member.Eval(env).Value()
		return v.Kind == expr.KindNumber && v.Raw == strconv.Itoa(code) ||
			v.Kind == expr.KindString && (strings.EqualFold(v.Text(), "ok") || strings.EqualFold(v.Text(), "success"))
	})
}

// stateMembers are the members by which documents say how an operation is.
var stateMembers = sync.OnceValue(func() []*expr.Expr {
	return mustValues(".status", ".state", ".phase", ".done", ".provisioningState", ".properties.provisioningState",
		".Status", ".State", ".Phase", ".Done", ".ProvisioningState")
})

// innerMembers are the same inside of an envelope.
var innerMembers = sync.OnceValue(func() []*expr.Expr {
	var list []*expr.Expr
	for _, object := range []string{".data", ".job", ".result", ".operation"} {
		for _, member := range stateMembers() {
			list = append(list, mustValues(object+member.String())...)
		}
	}
	return list
})

// answerMembers are those that can speak of the answer, not of the operation.
var answerMembers = sync.OnceValue(func() []*expr.Expr { return mustValues(".status", ".Status") })

// errorDetail are the members that say what went wrong.
var errorDetail = sync.OnceValue(func() []*expr.Expr {
	return mustValues(".error.message", ".error", ".error.code", ".errors[0].message", ".errors[0]", ".message")
})

// errorMember is where a document has an error, if it was one.
var errorMember = sync.OnceValue(func() *expr.Expr { return mustValues(".error")[0] })

// mustValues compiles expressions of this package's own.
func mustValues(sources ...string) []*expr.Expr {
	var list []*expr.Expr
	for _, source := range sources {
		x, err := expr.CompileValue(source)
		if err != nil {
			panic(err)
		}
		list = append(list, x)
	}
	return list
}

// meaning returns what the value of such a member says in an answer with a code.
func meaning(path string, v expr.Value, code int) saying {
	switch v.Kind {
	case expr.KindUnknown, expr.KindMissing:
		return nothing
	case expr.KindBool:
		if v.Raw == "true" && isDone(path) {
			return done
		}
	case expr.KindNumber:
		if v.Raw == strconv.Itoa(code) {
			return nothing // the answer's own code, once more
		}
	case expr.KindString:
		return meaningOfWord(v.Text())
	}
	return open
}

// meaningOfWord knows the words that are final whatever API says them. A word
// that is final here and not there (running, created), or a success after one
// request and a failure after another (stopped, deleted), is not among them.
func meaningOfWord(s string) saying {
	switch flattened(s) {
	case "succeeded", "success", "successful", "succeed", "completed", "complete", "finished", "done",
		"passed", "ready", "active", "available", "live", "applied", "ok",
		"createcomplete", "updatecomplete", "deletecomplete", "importcomplete", "plannedandfinished":
		return done
	case "failed", "failure", "fault", "error", "errored", "cancelled", "canceled", "cancelcomplete",
		"aborted", "rejected", "timedout", "timeout", "expired", "discarded", "incomplete", "interrupted",
		"internalerror", "startupfailure", "createfailed", "updatefailed", "deletefailed", "buildfailed",
		"rollbackcomplete", "rollbackfailed", "updaterollbackcomplete", "updaterollbackfailed":
		return failure
	}
	return open
}

// isDone reports whether a path is that of a member that is true at the end.
func isDone(path string) bool { return strings.HasSuffix(strings.ToLower(path), ".done") }

// isJSONValue is whether the answer is one JSON document.
var isJSONValue = sync.OnceValue(func() *expr.Expr { return mustValues("$isjson")[0] })

func isJSON(env *expr.Env) bool { return isJSONValue().Eval(env).Value().Raw == "true" }

// namesError reports whether a document has an error to tell: APIs that say no
// more than "done" put there how it went.
func namesError(env *expr.Env) bool { return tells(errorMember().Eval(env).Value().Raw) }

// tells reports whether a value, as JSON, is more than a place left empty.
func tells(raw string) bool {
	switch strings.Join(strings.Fields(raw), "") {
	case "", "null", "false", "0", `""`, "[]", "{}":
		return false
	}
	return true
}

// isOnlyError reports whether a document tells an error and nothing else but what
// goes with one.
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
			found = found || tells(string(value))
		case "message", "code", "detail", "details", "description", "errorcode", "errordescription", "errormessage",
			"statuscode", "requestid", "traceid", "timestamp", "path":
		default:
			if tells(string(value)) {
				return false
			}
		}
	}
	return found
}

// flattened is a word without what the styles of writing several in one differ by.
func flattened(s string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(s))
}
