package status

import (
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

// followed judges a good answer from a URL that was followed, where no rule says
// what is final. Many APIs answer there with the operation itself, whether or not
// it is done: what the document says at its top decides.
func (r Rules) followed(o *Observation) Verdict {
	env := Environment(o)
	said, path, words, plain := nothing, "", codeText(*o.Code), false
	for _, member := range stateMembers() {
		value := member.Eval(env).Value()
		if found := meaning(value, *o.Code); found > said {
			said, path = found, member.String()
			words, plain = path+" is "+cut([]byte(value.Raw)), value.Kind == expr.KindBool
		}
	}
	switch {
	case said == failure, said == done && namesError(env):
		if detail := firstText(errorDetail(), env); detail != "" {
			words += ": " + detail
		}
		return Verdict{Status: Error, Reason: words}
	case said == open && plain:
		return Verdict{Status: NotReady, Reason: words}
	case said == open && (o.Monitor == AzureLRO || !r.readsNotReady()):
		return Verdict{Status: NotReady, Reason: words + ", which is no known final state: a condition can say what is", Open: path}
	case said == nothing && o.Monitor == AzureLRO:
		return r.good(words+", which does not say whether the operation is done: a condition can", "")
	}
	return Verdict{Status: Success, Reason: words}
}

// stateMembers are the members by which documents say how an operation is.
var stateMembers = sync.OnceValue(func() []*expr.Expr {
	return mustValues(".status", ".state", ".phase", ".done", ".provisioningState",
		".Status", ".State", ".Phase", ".Done", ".ProvisioningState")
})

// errorDetail are the members that say what went wrong.
var errorDetail = sync.OnceValue(func() []*expr.Expr {
	return mustValues(".error.message", ".error", ".error.code", ".message")
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
func meaning(v expr.Value, code int) saying {
	switch v.Kind {
	case expr.KindUnknown, expr.KindMissing:
		return nothing
	case expr.KindBool:
		if v.Raw == "true" {
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
	switch strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(s)) {
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

// namesError reports whether a document has an error to tell: APIs that say no
// more than "done" put there how it went.
func namesError(env *expr.Env) bool {
	v := errorMember().Eval(env).Value()
	switch strings.Join(strings.Fields(v.Raw), "") {
	case "", "null", "false", "0", `""`, "[]", "{}":
		return false
	}
	return true
}
